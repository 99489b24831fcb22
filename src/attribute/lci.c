/* LCI, the last committed instruction (Arm CoreSight; paper A §2.2): the oldest of those that
 * commit in the sampled cycle; if none does, the youngest that committed before. Before the first
 * commit of a run there is none, and the sample goes to that commit. */
#include "attribute/profiler.h"

static unsigned at_commit(const struct commit_view *view, uint64_t *uops) {
    bool computing = view->state == STATE_COMPUTING;
    uops[0] = computing ? view->uops[0] : view->last_uop;
    return computing || view->sequence > 0;
}

const struct profiler lci_profiler = {
    .name = "LCI",
    .description = "the last instruction that committed (Arm CoreSight)",
    .section = "paper A §2.2",
    .at_commit = at_commit,
};
