/* NCI-TEA (paper B §5): the next committing instruction with the events of TEA. */
#include "attribute/profiler.h"

static unsigned at_commit(const struct commit_view *view, uint64_t *uops) {
    uops[0] = view->uops[0];
    return !view->squashes;
}

const struct profiler nci_tea_profiler = {
    .name = "NCI-TEA",
    .description = "the next instruction to commit, with TEA's events",
    .section = "paper B §5",
    .events = PSV_SAMPLED,
    .at_commit = at_commit,
};
