/* The regions of a list that were captured, or of one list of each merged run, simulated side by
 * side as an estimate of the whole. */
#pragma once

#include "region/captured.h"
#include "simulate/regions.h"
#include "simulate/saving.h"
#include "study/region_tasks.h"
#include "study/study.h"
#include "study/whole_trace.h"

/* What simulates regions in place of a run. */
enum { REGIONS_MOST_LISTS = 64 };
struct regions_request {
    const char *lists[REGIONS_MOST_LISTS]; /* files: one, or one of each merged run */
    uint32_t list_count;                   /* 0: none */
    uint32_t jobs;                         /* 0: as many as processors */
    uint64_t warm_up;                      /* instructions before each, at most */
    const char *trace; /* of the whole run, which the regions of the one list are
                          cut out of; NULL: they were captured */
    const struct cluster_options
        *cluster;        /* whose nodes simulate captured ones; NULL: this machine */
    const char *version; /* of culprit; with `cluster`, as the next */
    const struct machine_options *options;
    struct simulation_details details; /* without `trace`: of slots alone */
};

struct listed_regions {
    const struct regions_request *request;
    struct region_list lists[REGIONS_MOST_LISTS];
    struct regions_lost lost[REGIONS_MOST_LISTS]; /* that the others of a list stand for */
    char *command;                                /* of all of them */
    uint64_t instructions, slices;                /* of the whole; that regions were chosen from */
    struct whole_trace whole;                     /* of request->trace */
    struct region_run *run;                       /* whose code the simulation speaks of */
    struct simulation simulation;
};

/* Reads the lists, and tells their processes and threads apart. listed_regions_free() either way;
 * the request outlives it. */
bool listed_regions_read(struct listed_regions *regions, const struct regions_request *request,
                         struct error *error);
/* `saving` keeps the regions; NULL: nothing does. */
bool listed_regions_simulate(struct listed_regions *regions, struct watch *watch,
                             const struct machine *machine, uint32_t ideal, struct saving *saving,
                             struct error *error);
void listed_regions_free(struct listed_regions *regions);
