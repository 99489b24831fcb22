/* A builder and a sampler on every core, all on one thread, fill one database. Signature samples
 * are drawn at random, each at most once. */
#include "shotgun/shotgun.h"

#include <stdlib.h>

#include "graph/build.h"
#include "graph/evaluate.h"
#include "region/random.h"
#include "shotgun/sampler.h"
#include "shotgun/validate.h"
#include "util/executor.h"

struct shotgun {
    const struct machine *machine;
    struct shotgun_database database;
    struct shotgun_truth truth;
    struct shotgun_code code;
    struct executor *executor;
    bool linked;
};

/* On one core. */
struct lane {
    struct shotgun *shotgun;
    struct shotgun_sampler *sampler;
    struct graph_builder *builder; /* NULL until the first records come */
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

const struct shotgun_database *shotgun_database(const struct shotgun *shotgun) {
    return &shotgun->database;
}

/* ---- while cores run ---- */

static bool take(void *context, const struct graph_uop *uops, const struct packed_life *lives,
                 uint32_t count, bool first, struct error *error) {
    const struct lane *lane = context;
    (void)lives;
    return shotgun_sampler_take(lane->sampler, uops, count, first, error);
}

/* The builder is made here since what is executed becomes known after the core is made. */
static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct lane *lane = context;
    struct shotgun *shotgun = lane->shotgun;
    if (!lane->builder) {
        struct graph_sink sink = {.take = take, .context = lane};
        lane->builder = graph_builder_new(shotgun->machine, shotgun->code.code.isa, &sink);
        if (!lane->builder)
            return error_set(error, "out of memory for the graph of a thread");
    }
    struct tap_worker worker = graph_builder_worker(lane->builder);
    return worker.consume(worker.context, buffer, error);
}

bool shotgun_attach(void *context, struct tap_source source, struct tap *tap, void **state,
                    struct error *error) {
    struct shotgun *shotgun = context;
    struct lane *lane = calloc(1, sizeof *lane);
    (void)source;
    if (!lane)
        return error_set(error, "out of memory for shotgun profiling of a thread");
    *state = lane;
    lane->shotgun = shotgun;
    const struct shotgun_options *options = &shotgun->database.options;
    lane->sampler =
        shotgun_sampler_new(&shotgun->database, options->truth ? &shotgun->truth : NULL);
    if (!lane->sampler)
        return error_set(error, "out of memory for shotgun profiling of a thread");
    struct tap_worker worker = {.name = "shotgun",
                                .kinds = 1 << TAP_LIFE,
                                .consume = consume,
                                .context = lane,
                                .executor = shotgun->executor};
    return tap_add_worker(tap, &worker, error);
}

void shotgun_detach(void *context, void *state) {
    struct lane *lane = state;
    (void)context;
    graph_builder_free(lane->builder);
    shotgun_sampler_free(lane->sampler);
    free(lane);
}

bool shotgun_learn(void *context, const struct code *code, struct error *error) {
    struct shotgun *shotgun = context;
    shotgun->linked = false;
    return shotgun_code_learn(&shotgun->code, code, error);
}

/* ---- fragments ---- */

/* Adds the times of a fragment. The pipeline is empty when it begins and is not when the run gets
 * there: what it takes to fill is taken off, the same of all sets. */
static bool add_fragment(const struct shotgun *shotgun, const struct shotgun_request *request,
                         const struct graph_uop *uops, size_t count, struct breakdown *sum,
                         struct error *error) {
    struct graph_machine machine;
    graph_machine_of(shotgun->machine, &machine);
    int64_t fill =
        (int64_t)machine.frontend_depth + machine.dispatch_to_issue + machine.complete_to_commit;
    for (uint32_t set = 0; set < breakdown_sets(sum); set++) {
        struct graph_evaluation *evaluation = graph_evaluation_new(&machine, set | request->ideal);
        if (!evaluation)
            return error_set(error, "out of memory for the breakdown of a fragment");
        int64_t last = fill;
        for (size_t i = 0; i < count; i++)
            last = graph_evaluate(evaluation, &uops[i])->commit;
        sum->cycles[set] += (double)(last - fill);
        graph_evaluation_free(evaluation);
    }
    sum->instructions += shotgun->database.options.length;
    return true;
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
                          struct breakdown *sum, struct shotgun_statistics *statistics,
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
        if (fragment->outcome == SHOTGUN_COMPLETE)
            return add_fragment(shotgun, request, fragment->uops, fragment->uop_count, sum, error);
    }
    return true;
}

static bool construct_fragments(struct shotgun *shotgun, const struct shotgun_request *request,
                                const size_t *order, struct breakdown *sum,
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
                             sum, statistics, error);
    shotgun_constructor_free(constructor);
    return good;
}

/* Design 1: as the graph has them. */
static bool copy_fragments(struct shotgun *shotgun, const struct shotgun_request *request,
                           const size_t *order, struct breakdown *sum,
                           struct shotgun_statistics *statistics, struct error *error) {
    const struct shotgun_truth *truth = &shotgun->truth;
    size_t count = shotgun->database.skeleton_count;
    bool good = true;
    for (size_t i = 0; good && i < count && i < request->fragments; i++) {
        size_t begin = order[i] ? truth->graph_ends[order[i] - 1] : 0;
        good = add_fragment(shotgun, request, truth->graphs + begin,
                            truth->graph_ends[order[i]] - begin, sum, error);
        statistics->outcomes[SHOTGUN_COMPLETE]++;
        statistics->sources[SHOTGUN_EXACT] += shotgun->database.options.length;
    }
    return good;
}

/* A breakdown of the eight categories, all times 0. */
static bool begin_breakdown(struct breakdown *breakdown, struct error *error) {
    enum { CATEGORIES = 8 };
    const char *names[CATEGORIES];
    for (unsigned i = 0; i < CATEGORIES; i++)
        names[i] = ideal_name(i);
    if (!breakdown_init(breakdown, CATEGORIES, names, error))
        return false;
    breakdown_clear(breakdown);
    return true;
}

bool shotgun_breakdown(struct shotgun *shotgun, const struct shotgun_request *request,
                       struct breakdown *breakdown, struct shotgun_statistics *statistics,
                       struct error *error) {
    const struct shotgun_database *database = &shotgun->database;
    uint64_t random = database->options.seed;
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
    size_t *order = shuffle(database->skeleton_count, &random);
    if (!order)
        return error_set(error, "out of memory for the fragments of the graph");
    bool good = request->design == SHOTGUN_PERFECT
                    ? copy_fragments(shotgun, request, order, breakdown, statistics, error)
                    : construct_fragments(shotgun, request, order, breakdown, statistics, error);
    free(order);
    if (good && statistics->outcomes[SHOTGUN_COMPLETE] == 0)
        return error_set(error, "shotgun profiling: every fragment was discarded (shorter ones may "
                                "do: --shotgun-length)");
    return good;
}
