/* A builder and a sampler on every core, all on one thread, fill one database. Signature samples
 * are drawn at random, each at most once. */
#include "shotgun/shotgun.h"

#include <stdlib.h>
#include <string.h>

#include "graph/lanes.h"
#include "shotgun/lane.h"
#include "shotgun/stand_in.h"
#include "shotgun/validate.h"
#include "tap/places.h"
#include "util/executor.h"
#include "util/random.h"

enum { CATEGORIES = 9 };

struct shotgun {
    const struct machine *machine;
    struct shotgun_database database;
    struct shotgun_truth truth;
    struct shotgun_code code;
    struct places *places; /* where signatures have a bit of the program counter; else NULL */
    struct executor *executor;
    bool linked;
};

struct shotgun *shotgun_new(const struct machine *machine, const struct shotgun_options *options,
                            bool threads, struct error *error) {
    struct shotgun *shotgun = calloc(1, sizeof *shotgun);
    if (!shotgun)
        return error_null(error, "out of memory for shotgun profiling");
    shotgun->machine = machine;
    shotgun_database_init(&shotgun->database, options);
    bool good = !options->pc_bit || (shotgun->places = places_new()) ||
                error_set(error, "out of memory for shotgun profiling");
    if (good && (!threads || (shotgun->executor = executor_new("shotgun", error))))
        return shotgun;
    shotgun_free(shotgun);
    return NULL;
}

void shotgun_free(struct shotgun *shotgun) {
    if (!shotgun)
        return;
    if (shotgun->executor)
        executor_free(shotgun->executor);
    places_free(shotgun->places);
    shotgun_database_free(&shotgun->database);
    shotgun_truth_free(&shotgun->truth);
    shotgun_code_free(&shotgun->code);
    free(shotgun);
}

struct shotgun *shotgun_from(const struct machine *machine, struct shotgun_file *file,
                             struct error *error) {
    struct shotgun *shotgun = calloc(1, sizeof *shotgun);
    if (!shotgun)
        return error_null(error, "out of memory for shotgun profiling");
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
    *state = shotgun_lane_new(shotgun->machine, &shotgun->code.code.isa, &shotgun->database,
                              shotgun->places, truth);
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
    return shotgun_code_learn(&shotgun->code, code, error) &&
           (!shotgun->places || places_learn(shotgun->places, code, error));
}

/* ---- fragments ---- */

enum { SETS = 1 << CATEGORIES };

/* What a complete fragment took. */
struct fragment_times {
    double cycles[SETS]; /* t(S) */
    uint32_t insns;
};

/* Fragments being made, and their times. */
struct making {
    const struct shotgun *shotgun;
    const struct shotgun_request *request;
    struct shotgun_statistics *statistics;
    struct graph_lanes *lanes;
    double sum[SETS]; /* of all fragments in the lanes */
    size_t count;     /* signature samples that are tried */
    size_t *order;    /* their numbers, drawn at random */
    bool *complete;   /* of each in that order: there is a fragment, */
    struct fragment_times *times;
    struct signature_profile *profiles;
    uint32_t *weights;
};

/* When a fragment begins, the pipeline is empty, which it was not in the run. The cycles that it
 * takes to fill are subtracted, the same from all sets. */
static double fill_cycles(const struct shotgun *shotgun) {
    struct graph_machine machine;
    graph_machine_of(shotgun->machine, &machine);
    return (double)machine.frontend_depth + machine.dispatch_to_issue + machine.complete_to_commit;
}

/* Reports another fragment. False: a signal came, so it was the last. */
static bool goes_on(const struct making *making, uint64_t fragments) {
    const struct shotgun_request *request = making->request;
    watcher_tell(&request->watcher, fragments);
    return !watcher_stops(&request->watcher);
}

/* Evaluates a fragment under all sets. */
static void evaluate(struct making *making, const struct graph_uop *uops, size_t count,
                     struct fragment_times *times) {
    enum { MOST = 1 << 20 };
    double sum[SETS], fill = fill_cycles(making->shotgun);
    for (size_t begin = 0; begin < count; begin += MOST)
        graph_lanes_add(making->lanes, uops + begin,
                        (uint32_t)(count - begin < MOST ? count - begin : MOST), begin == 0);
    graph_lanes_times(making->lanes, sum);
    for (uint32_t set = 0; set < SETS; set++)
        times->cycles[set] =
            sum[set | making->request->ideal] - making->sum[set | making->request->ideal] - fill;
    memcpy(making->sum, sum, sizeof sum);
}

static void add_times(struct breakdown *breakdown, const struct fragment_times *times,
                      uint32_t weight) {
    for (uint32_t set = 0; set < SETS; set++)
        breakdown->cycles[set] += times->cycles[set] * weight;
    breakdown->instructions += (uint64_t)weight * times->insns;
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

static bool making_begin(struct making *making, struct error *error) {
    const struct shotgun_database *database = &making->shotgun->database;
    struct graph_machine machine;
    uint64_t random = database->options.seed;
    graph_machine_of(making->shotgun->machine, &machine);
    size_t count = database->skeleton_count;
    making->count = count < making->request->fragments ? count : making->request->fragments;
    making->order = shuffle(count, &random);
    making->complete = calloc(count, sizeof *making->complete);
    making->times = calloc(count, sizeof *making->times);
    making->profiles = calloc(count, sizeof *making->profiles);
    making->weights = calloc(count, sizeof *making->weights);
    if (!making->order || !making->complete || !making->times || !making->profiles ||
        !making->weights)
        return error_set(error, "out of memory for the fragments of the graph");
    return (making->lanes = graph_lanes_new(&machine, NULL, LANES_BEST, error)) != NULL;
}

static void making_end(struct making *making) {
    graph_lanes_free(making->lanes);
    free(making->order);
    free(making->complete);
    free(making->times);
    free(making->profiles);
    free(making->weights);
}

/* Constructs a fragment, trying again if it is aborted. *complete: one was completed. */
static bool construct_one(struct making *making, struct shotgun_constructor *constructor,
                          size_t skeleton, const uint32_t *path, struct fragment_times *times,
                          bool *complete, struct error *error) {
    *complete = false;
    for (int tries = 0; tries < SHOTGUN_TRIES && !*complete; tries++) {
        const struct shotgun_fragment *fragment = shotgun_construct(constructor, skeleton);
        if (!fragment)
            return error_set(error, "out of memory for a fragment of the graph");
        shotgun_count(making->statistics, fragment, path);
        *complete = fragment->outcome == SHOTGUN_COMPLETE;
        if (!*complete)
            continue;
        evaluate(making, fragment->uops, fragment->uop_count, times);
        times->insns = fragment->insns;
    }
    return true;
}

/* Designs 2 and 4: one for each signature sample. */
static bool follow_skeletons(struct making *making, struct shotgun_constructor *constructor,
                             struct error *error) {
    const struct shotgun *shotgun = making->shotgun;
    uint32_t length = shotgun->database.options.length;
    for (size_t i = 0; i < making->count; i++) {
        size_t skeleton = making->order[i];
        const uint32_t *path =
            shotgun->truth.paths ? shotgun->truth.paths + skeleton * length : NULL;
        making->profiles[i] =
            signature_profile_of(shotgun_bits(&shotgun->database, skeleton), length);
        if (!construct_one(making, constructor, skeleton, path, &making->times[i],
                           &making->complete[i], error))
            return false;
        if (!goes_on(making, i + 1))
            break;
    }
    return true;
}

/* Design 3: from detailed samples. */
static bool stitch_samples(struct making *making, struct shotgun_constructor *constructor,
                           struct breakdown *breakdown, struct error *error) {
    for (uint32_t i = 0; i < making->request->fragments; i++) {
        struct fragment_times times;
        bool complete;
        if (!construct_one(making, constructor, 0, NULL, &times, &complete, error))
            return false;
        if (complete)
            add_times(breakdown, &times, 1);
        if (!goes_on(making, i + 1))
            break;
    }
    return true;
}

/* Design 1: as the graph has them. */
static void copy_fragments(struct making *making) {
    const struct shotgun_truth *truth = &making->shotgun->truth;
    uint32_t length = making->shotgun->database.options.length;
    for (size_t i = 0; i < making->count; i++) {
        size_t number = making->order[i], begin = number ? truth->graph_ends[number - 1] : 0;
        evaluate(making, truth->graphs + begin, truth->graph_ends[number] - begin,
                 &making->times[i]);
        making->times[i].insns = length;
        making->complete[i] = true;
        making->statistics->outcomes[SHOTGUN_COMPLETE]++;
        making->statistics->sources[SHOTGUN_EXACT] += length;
        if (!goes_on(making, i + 1))
            break;
    }
}

static void count_events(struct making *making) {
    for (size_t i = 0; i < making->count; i++) {
        const uint32_t *insns = making->profiles[i].insns;
        uint64_t events = (uint64_t)insns[SIGNATURE_2] + insns[SIGNATURE_1 | SIGNATURE_2];
        making->statistics->events += events;
        making->statistics->events_discarded += making->complete[i] ? 0 : events;
    }
}

static bool make_fragments(struct making *making, struct breakdown *breakdown,
                           struct error *error) {
    const struct shotgun *shotgun = making->shotgun;
    enum shotgun_design design = making->request->design;
    bool good = true;
    if (design == SHOTGUN_PERFECT) {
        copy_fragments(making);
    } else {
        struct shotgun_constructor *constructor = shotgun_constructor_new(
            &shotgun->database, &shotgun->code, shotgun->machine, design, error);
        good = constructor && (design == SHOTGUN_SHORT_SIGNATURES
                                   ? stitch_samples(making, constructor, breakdown, error)
                                   : follow_skeletons(making, constructor, error));
        shotgun_constructor_free(constructor);
    }
    count_events(making);
    shotgun_weigh(making->profiles, making->complete, making->count, making->weights);
    for (size_t i = 0; i < making->count; i++)
        if (making->weights[i])
            add_times(breakdown, &making->times[i], making->weights[i]);
    return good;
}

/* A breakdown of the standard categories, all times 0. */
static bool begin_breakdown(struct breakdown *breakdown, struct error *error) {
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
    struct making making = {.shotgun = shotgun, .request = request, .statistics = statistics};
    bool good = making_begin(&making, error) && make_fragments(&making, breakdown, error);
    making_end(&making);
    if (good && breakdown->instructions == 0)
        return error_set(error, "shotgun profiling: every fragment was discarded (shorter ones may "
                                "do: --shotgun-length)");
    if (good) {
        double insns = (double)database->instructions;
        statistics->run_cpi = insns > 0 ? (double)database->cycles / insns : 0;
        statistics->cpi = breakdown->cycles[0] / (double)breakdown->instructions;
    }
    return good;
}
