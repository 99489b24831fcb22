/* A builder and a sampler on every core, all on one thread, fill one database. Signature samples
 * are drawn at random, each at most once. */
#include "shotgun/shotgun.h"

#include <stdlib.h>

#include "graph/lanes.h"
#include "region/random.h"
#include "shotgun/lane.h"
#include "shotgun/validate.h"
#include "util/executor.h"

enum { CATEGORIES = 8 };

struct shotgun {
    const struct machine *machine;
    struct shotgun_database database;
    struct shotgun_truth truth;
    struct shotgun_code code;
    struct executor *executor;
    bool linked;
};

struct shotgun *shotgun_new(const struct machine *machine, const struct shotgun_options *options,
                            bool threads, struct error *error) {
    struct shotgun *shotgun = calloc(1, sizeof *shotgun);
    if (!shotgun) {
        error_set(error, "out of memory for shotgun profiling");
        return NULL;
    }
    shotgun->machine = machine;
    shotgun_database_init(&shotgun->database, options);
    if (!threads || (shotgun->executor = executor_new("shotgun", error)))
        return shotgun;
    shotgun_free(shotgun);
    return NULL;
}

void shotgun_free(struct shotgun *shotgun) {
    if (!shotgun)
        return;
    if (shotgun->executor)
        executor_free(shotgun->executor);
    shotgun_database_free(&shotgun->database);
    shotgun_truth_free(&shotgun->truth);
    shotgun_code_free(&shotgun->code);
    free(shotgun);
}

struct shotgun *shotgun_from(const struct machine *machine, struct shotgun_file *file,
                             struct error *error) {
    struct shotgun *shotgun = calloc(1, sizeof *shotgun);
    if (!shotgun) {
        error_set(error, "out of memory for shotgun profiling");
        return NULL;
    }
    *shotgun = (struct shotgun){.machine = machine, .database = file->database, .code = file->code};
    file->database = (struct shotgun_database){0};
    file->code = (struct shotgun_code){0};
    return shotgun;
}

const struct shotgun_database *shotgun_database(const struct shotgun *shotgun) {
    return &shotgun->database;
}

/* ---- while cores run ---- */

bool shotgun_attach(void *context, struct tap_source source, struct tap *tap, void **state,
                    struct error *error) {
    struct shotgun *shotgun = context;
    struct shotgun_truth *truth = shotgun->database.options.truth ? &shotgun->truth : NULL;
    (void)source;
    *state = shotgun_lane_new(shotgun->machine, &shotgun->code.code.isa, &shotgun->database, truth);
    if (!*state)
        return error_set(error, "out of memory for shotgun profiling of a thread");
    struct tap_worker worker = {.name = "shotgun",
                                .kinds = 1 << TAP_LIFE,
                                .consume = shotgun_lane_consume,
                                .context = *state,
                                .executor = shotgun->executor};
    return tap_add_worker(tap, &worker, error);
}

void shotgun_detach(void *context, void *state) {
    (void)context;
    shotgun_lane_free(state);
}

bool shotgun_learn(void *context, const struct code *code, struct error *error) {
    struct shotgun *shotgun = context;
    shotgun->linked = false;
    return shotgun_code_learn(&shotgun->code, code, error);
}

/* ---- fragments ---- */

static void add_fragment(struct graph_lanes *lanes, const struct graph_uop *uops, size_t count) {
    enum { MOST = 1 << 20 };
    for (size_t begin = 0; begin < count; begin += MOST)
        graph_lanes_add(lanes, uops + begin,
                        (uint32_t)(count - begin < MOST ? count - begin : MOST), begin == 0);
}

/* The pipeline is empty when a fragment begins and is not when the run gets there: what it takes to
 * fill is taken off, the same of all sets. */
static void take_times(const struct shotgun *shotgun, const struct shotgun_request *request,
                       const struct graph_lanes *lanes, uint64_t fragments,
                       struct breakdown *breakdown) {
    struct graph_machine machine;
    double times[1 << CATEGORIES];
    graph_machine_of(shotgun->machine, &machine);
    double fill =
        (double)machine.frontend_depth + machine.dispatch_to_issue + machine.complete_to_commit;
    graph_lanes_times(lanes, times);
    for (uint32_t set = 0; set < breakdown_sets(breakdown); set++)
        breakdown->cycles[set] = times[set | request->ideal] - fill * (double)fragments;
    breakdown->instructions = fragments * shotgun->database.options.length;
}

/* Numbers 0 to count − 1 in an order drawn at random (Fisher and Yates). */
static size_t *shuffle(size_t count, uint64_t *random) {
    size_t *order = malloc((count + 1) * sizeof *order);
    for (size_t i = 0; order && i < count; i++) {
        size_t other = (size_t)(random_fraction(random) * (double)(i + 1));
        order[i] = order[other];
        order[other] = i;
    }
    return order;
}

/* Constructs a fragment, as often as it takes. */
static bool construct_one(struct shotgun *shotgun, const struct shotgun_request *request,
                          struct shotgun_constructor *constructor, size_t skeleton,
                          struct graph_lanes *lanes, struct shotgun_statistics *statistics,
                          struct error *error) {
    bool follows = request->design != SHOTGUN_SHORT_SIGNATURES;
    const uint32_t *path = NULL;
    if (follows && shotgun->truth.paths)
        path = shotgun->truth.paths + skeleton * shotgun->database.options.length;
    for (int tries = 0; tries < SHOTGUN_TRIES; tries++) {
        const struct shotgun_fragment *fragment = shotgun_construct(constructor, skeleton);
        if (!fragment)
            return error_set(error, "out of memory for a fragment of the graph");
        shotgun_count(statistics, fragment, path);
        if (fragment->outcome == SHOTGUN_COMPLETE) {
            add_fragment(lanes, fragment->uops, fragment->uop_count);
            break;
        }
    }
    return true;
}

static bool construct_fragments(struct shotgun *shotgun, const struct shotgun_request *request,
                                const size_t *order, struct graph_lanes *lanes,
                                struct shotgun_statistics *statistics, struct error *error) {
    const struct shotgun_database *database = &shotgun->database;
    size_t count = request->fragments;
    if (request->design != SHOTGUN_SHORT_SIGNATURES && count > database->skeleton_count)
        count = database->skeleton_count;
    struct shotgun_constructor *constructor =
        shotgun_constructor_new(database, &shotgun->code, shotgun->machine, request->design, error);
    bool good = constructor;
    for (size_t i = 0; good && i < count; i++)
        good = construct_one(shotgun, request, constructor, order[i % database->skeleton_count],
                             lanes, statistics, error);
    shotgun_constructor_free(constructor);
    return good;
}

/* Design 1: as the graph has them. */
static void copy_fragments(const struct shotgun *shotgun, const struct shotgun_request *request,
                           const size_t *order, struct graph_lanes *lanes,
                           struct shotgun_statistics *statistics) {
    const struct shotgun_truth *truth = &shotgun->truth;
    size_t count = shotgun->database.skeleton_count;
    for (size_t i = 0; i < count && i < request->fragments; i++) {
        size_t begin = order[i] ? truth->graph_ends[order[i] - 1] : 0;
        add_fragment(lanes, truth->graphs + begin, truth->graph_ends[order[i]] - begin);
        statistics->outcomes[SHOTGUN_COMPLETE]++;
        statistics->sources[SHOTGUN_EXACT] += shotgun->database.options.length;
    }
}

/* A breakdown of the eight categories, nothing measured. */
static bool begin_breakdown(struct breakdown *breakdown, struct error *error) {
    const char *names[CATEGORIES];
    for (unsigned i = 0; i < CATEGORIES; i++)
        names[i] = ideal_name(i);
    return breakdown_init(breakdown, CATEGORIES, names, error);
}

/* Fragments on their way into the lanes. */
static bool make_fragments(struct shotgun *shotgun, const struct shotgun_request *request,
                           struct graph_lanes *lanes, struct shotgun_statistics *statistics,
                           struct error *error) {
    uint64_t random = shotgun->database.options.seed;
    size_t *order = shuffle(shotgun->database.skeleton_count, &random);
    bool good = true;
    if (!order)
        return error_set(error, "out of memory for the fragments of the graph");
    if (request->design == SHOTGUN_PERFECT)
        copy_fragments(shotgun, request, order, lanes, statistics);
    else
        good = construct_fragments(shotgun, request, order, lanes, statistics, error);
    free(order);
    return good;
}

bool shotgun_breakdown(struct shotgun *shotgun, const struct shotgun_request *request,
                       struct breakdown *breakdown, struct shotgun_statistics *statistics,
                       struct error *error) {
    const struct shotgun_database *database = &shotgun->database;
    struct graph_machine machine;
    *statistics = (struct shotgun_statistics){.samples = database->sample_count,
                                              .skeletons = database->skeleton_count};
    if (!begin_breakdown(breakdown, error))
        return false;
    if (!shotgun->linked && !(shotgun->linked = shotgun_code_link(&shotgun->code, error)))
        return false;
    if (database->skeleton_count == 0 || database->sample_count == 0)
        return error_set(error,
                         "shotgun profiling: too few instructions for a signature sample of %u "
                         "(run more of them, or make fragments shorter with --shotgun-length)",
                         database->options.length);
    graph_machine_of(shotgun->machine, &machine);
    struct graph_lanes *lanes = graph_lanes_new(&machine, NULL, LANES_BEST, error);
    bool good = lanes && make_fragments(shotgun, request, lanes, statistics, error);
    uint64_t complete = statistics->outcomes[SHOTGUN_COMPLETE];
    if (good && complete == 0)
        good = error_set(error, "shotgun profiling: every fragment was discarded (shorter ones may "
                                "do: --shotgun-length)");
    if (good)
        take_times(shotgun, request, lanes, complete, breakdown);
    graph_lanes_free(lanes);
    return good;
}
