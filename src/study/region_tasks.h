/* Regions that were captured, simulated by the nodes of a cluster: each is a task, and its result a
 * file (simulate/region_result.h) of the folder LIST.results beside the list, whose name says what
 * it depends on. What is there is not simulated again. */
#pragma once

#include "cluster/cluster_options.h"
#include "machine/choice.h"
#include "region/regions.h"
#include "simulate/regions.h"
#include "study/study.h"

struct region_tasks {
    struct watch *watch;
    const struct cluster_options *cluster;
    const char *version;                   /* of culprit */
    const struct machine_options *options; /* by which nodes find the machine */
    const struct machine *machine;
    uint32_t ideal, jobs; /* jobs at once; 0: as many as the cluster gives */
    enum isa isa;
    bool graph, top_down;
};

/* The regions are simulated, and added to the run, which has the same options. `list`: the file
 * that results lie beside. An interrupt is an error, and so is a region that could not be
 * simulated; results that came are kept. */
bool region_tasks_add(const struct region_tasks *tasks, const char *list,
                      const struct region_trace *regions, size_t count, struct region_run *run,
                      struct error *error);
/* The same of the captured regions of lists, with what each stands for, each warmed with at most
 * `warm_up`. */
bool region_tasks_add_lists(const struct region_tasks *tasks, const struct region_list *lists,
                            const char *const *paths, uint32_t count, uint64_t warm_up,
                            struct region_run *run, struct error *error);
