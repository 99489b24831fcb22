/* NCI, the next committing instruction (Intel PEBS; paper A §2.2): the oldest of those that commit
 * in the sampled cycle, or in the next in which any does. */
#include "attribute/profiler.h"

static unsigned at_commit(const struct commit_view *view, uint64_t *uops) {
    uops[0] = view->uops[0];
    return !view->squashes;
}

const struct profiler nci_profiler = {
    .name = "NCI",
    .description = "the next instruction to commit (Intel PEBS)",
    .section = "paper A §2.2",
    .at_commit = at_commit,
};
