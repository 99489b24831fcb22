/* TIP without regard to commit parallelism (TIP minus ILP, paper A §5): of the µops that commit in
 * the sampled cycle the oldest has the whole sample. */
#include "attribute/profiler.h"
#include "attribute/tip.h"

static unsigned at_commit(const struct commit_view *view, uint64_t *uops) {
    struct tip_registers registers;
    tip_select(view, view->count, &registers);
    uops[0] = registers.address[registers.oldest];
    return 1;
}

const struct profiler tip_ilp_profiler = {
    .name = "TIP-ILP",
    .description = "TIP, but the oldest of the instructions that commit together has it all",
    .section = "paper A §5",
    .at_commit = at_commit,
};
