/* NCI aware of commit parallelism (NCI+ILP, paper A §5.2): all that commit next share the sample,
 * so those behind a long stall have a share of it. */
#include <string.h>

#include "attribute/profiler.h"

static unsigned at_commit(const struct commit_view *view, uint64_t *uops) {
    memcpy(uops, view->uops, view->count * sizeof *uops);
    return view->squashes ? 0 : view->count;
}

const struct profiler nci_ilp_profiler = {
    .name = "NCI+ILP",
    .description = "all the instructions that commit next, in equal shares",
    .section = "paper A §5.2",
    .at_commit = at_commit,
    .wide = true,
};
