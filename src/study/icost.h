/* What each cause costs and how causes interact, measured (interaction-cost paper): every trace is
 * read once, for its graph, and for samples and pieces where they are wanted; then simulated again
 * with every set of causes wanted.
 *
 *     icost_begin()      what can be wrong with the request
 *     icost_read()       programs, regions or samples
 *     icost_simulate()   sets of causes
 *     icost_free()       either way
 *
 * What was done when a signal comes is there: a breakdown that lacks sets is whole in those it has.
 */
#pragma once

#include "graph/breakdown.h"
#include "graph/category.h"
#include "machine/choice.h"
#include "region/captured.h"
#include "shotgun/shotgun.h"
#include "simulate/category_places.h"
#include "simulate/simulate.h"
#include "study/icost_sets.h"
#include "study/pieces.h"
#include "study/thread_path.h"
#include "study/trace_input.h"

/* Shotgun profiling. */
struct shotgun_choice {
    bool wanted;
    const char *path; /* samples taken before, in place of a command or trace; NULL: none */
    struct shotgun_options options;
    uint32_t fragments;
    enum shotgun_design design;
};

/* Categories of a user's own. */
struct category_choice {
    struct categories categories;                               /* none: the standard ones */
    const char *texts[CATEGORIES_MAX], *places[CATEGORIES_MAX]; /* see category_places_new() */
    bool placed;                                                /* any has places */
};

struct icost_study_request {
    struct watch *watch;
    const struct input_options *input;
    const struct machine_options *machine;
    const char *regions;                   /* a list of them in place of the input; NULL: none */
    uint64_t warm_up;                      /* instructions before each, at most */
    const struct cluster_options *cluster; /* whose nodes simulate them; NULL: this machine */
    const char *version;                   /* of culprit; with `cluster` */
    const struct shotgun_choice *shotgun;
    const struct pieces_choice *pieces;
    struct category_choice *category; /* sets of instructions grow while code becomes known */
    const char *focus;                /* a category; NULL: the costliest */
    double threshold;                 /* share of the time from which sets are told */
    uint32_t largest;                 /* members of a set that is told */
    enum icost_sets multisim;
    const struct path_extents *extents; /* tell of call paths (simulate/simulate.h); NULL: not */
    uint32_t jobs;                      /* simulations at once; 0: as many as processors */
    /* Told at once of a place of a category where nothing is. */
    bool (*tell)(void *context, const char *text);
};

/* The breakdown of a run from its regions. */
struct icost_regions {
    struct region_list list;
    struct regions_lost lost;
    struct breakdown breakdown;
    uint64_t cycles, simulated; /* estimated of the run; instructions of the regions */
    uint32_t count, done;       /* regions */
    double seconds;
};

/* One command or trace; of regions or samples the only one. */
struct icost_program {
    struct trace_input input;
    const char *name;                 /* the command; lives as long as the study */
    char *label;                      /* short, for the head of a column */
    uint64_t instructions, cycles;    /* simulated */
    struct simulation simulation;     /* but for its breakdown; zero of regions and samples */
    struct breakdown ways[WAY_COUNT]; /* cycles NULL: not measured */
    double seconds[WAY_COUNT];        /* that they took */
    uint32_t simulations;             /* of WAY_MULTISIM */
    struct shotgun_statistics shotgun;
    struct pieces pieces;           /* parts 0: not asked for */
    struct thread_path *path;       /* with --critical, of several threads; NULL: none */
    struct category_places *places; /* NULL: no category has any */
};

struct icost_study {
    const struct icost_study_request *request;
    struct icost_regions regions;
    struct shotgun_file samples;
    struct machine_choice *machines;
    const struct machine *machine;
    char *folder; /* for traces; NULL: none */
    struct icost_program *programs;
    uint32_t count; /* programs that were begun */
    const char *names[CATEGORIES_MAX], *descriptions[CATEGORIES_MAX];
    uint32_t focus; /* BREAKDOWN_NO_FOCUS: none was needed so far */
    bool checked;   /* some sets were simulated to check the graph */
};

/* The request outlives the study, which is filled in. */
bool icost_begin(struct icost_study *icost, const struct icost_study_request *request,
                 struct error *error);
/* *exec_status is set when a command cannot be run. */
bool icost_read(struct icost_study *icost, int *exec_status, struct error *error);
bool icost_simulate(struct icost_study *icost, struct error *error);
/* How many programs were measured: an interrupt leaves out the last ones. */
uint32_t icost_measured(const struct icost_study *icost);
void icost_free(struct icost_study *icost);

/* Inside of the study. icost_regions_free() either way. */
bool icost_regions(const struct icost_study_request *request, const struct machine_choice *machines,
                   struct icost_regions *regions, const struct machine **machine,
                   struct error *error);
void icost_regions_free(struct icost_regions *regions);
