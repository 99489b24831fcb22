/* A lane (a core's thread) that reaches a window takes a set of data traces, and gives it back at
 * the window's end, for another lane to use. What the model says in between is the lane's. The
 * first window, of the beginning in full, is kept apart from the rest, for which the other windows
 * stand. */
#include "model/forecast.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "model/data_trace.h"
#include "model/hybrid.h"
#include "model/predict.h"
#include "util/array.h"

enum {
    CONFIGS = 1 + UPGRADES_MOST, /* the machine as it is, and its upgrades */
    SETS_MOST = 64               /* each holds copies of all caches: tens of megabytes */
};

/* A prefetcher: configurations [first, first + count). */
struct pass {
    struct data_trace *data;
    struct hybrid *hybrid;
    uint32_t first, count;
};

struct pass_set {
    struct pass passes[CONFIGS];
    uint32_t pass_count;
    struct pass_set *next; /* of those that are free */
};

struct forecast {
    struct machine machine;
    struct upgrade upgrades[UPGRADES_MOST];
    uint32_t upgrade_count;
    struct forecast_windows windows;
    pthread_mutex_t lock;
    struct pass_set *free;
    uint32_t set_count; /* free and in use */
    struct forecast_result result;
};

/* A part of a lane that is weighted as one. */
struct stratum {
    uint64_t seen, looked;
    double cycles[CONFIGS]; /* of what was looked at */
};

struct lane {
    struct stratum strata[2]; /* the beginning, and the rest; since they were collected */
    uint64_t seen;            /* instructions of the lane */
    uint64_t window;          /* number of the next window or of that which is open */
    struct pass_set *set;     /* of the open window; NULL: none is open */
    uint64_t looked;          /* in the open window */
    double before[CONFIGS];   /* cycles when it was opened */
};

/* ---- the model ---- */

static void take_events(void *context, const struct data_event *events, uint32_t count) {
    hybrid_add(context, events, count);
}

static void reach_further(struct data_reach *reach, const struct hybrid_config *config) {
    const uint32_t window = hybrid_window_reach(config), arrival = hybrid_arrival_reach(config);
    reach->window = window > reach->window ? window : reach->window;
    reach->arrival = arrival > reach->arrival ? arrival : reach->arrival;
}

static const struct machine *machine_of(const struct forecast *forecast, uint32_t config) {
    return config ? &forecast->upgrades[config - 1].machine : &forecast->machine;
}

static void free_set(struct pass_set *set) {
    for (uint32_t i = 0; i < set->pass_count; i++) {
        data_trace_free(set->passes[i].data);
        hybrid_free(set->passes[i].hybrid);
    }
    free(set);
}

/* One pass for the configurations [first, end), which have the same prefetchers. */
static bool add_pass(const struct forecast *forecast, struct pass_set *set, uint32_t first,
                     uint32_t end, struct error *error) {
    struct pass *pass = &set->passes[set->pass_count++];
    struct hybrid_config configs[CONFIGS];
    struct data_reach reach = {0};
    *pass = (struct pass){.first = first, .count = end - first};
    for (uint32_t i = first; i < end; i++) {
        if (!predict_config(machine_of(forecast, i), &predict_refinements[PREDICT_REFINEMENTS - 1],
                            &configs[i - first], error))
            return false;
        reach_further(&reach, &configs[i - first]);
    }
    if (!(pass->hybrid = hybrid_new(configs, pass->count, error)))
        return false;
    const struct data_sink sink = {take_events, pass->hybrid};
    pass->data = data_trace_new(machine_of(forecast, first), reach, sink, error);
    return pass->data != NULL;
}

static bool add_passes(const struct forecast *forecast, struct pass_set *set, struct error *error) {
    const uint32_t end = 1 + forecast->upgrade_count;
    uint32_t next = 1;
    while (next < end && forecast->upgrades[next - 1].kind != UPGRADE_PREFETCHER)
        next++;
    if (!add_pass(forecast, set, 0, next, error))
        return false;
    for (; next < end; next++)
        if (!add_pass(forecast, set, next, next + 1, error))
            return false;
    return true;
}

static struct pass_set *new_set(const struct forecast *forecast, struct error *error) {
    struct pass_set *set = calloc(1, sizeof *set);
    if (!set)
        return error_null(error, "out of memory for the analytical model");
    if (add_passes(forecast, set, error))
        return set;
    free_set(set);
    return NULL;
}

bool forecast_fits(const struct machine *machine, uint32_t ideal) {
    struct hybrid_config config;
    struct error error;
    return !(ideal & (IDEAL_DMISS | IDEAL_DLONG | IDEAL_BW | IDEAL_WIN)) &&
           predict_config(machine, &predict_refinements[PREDICT_REFINEMENTS - 1], &config, &error);
}

struct forecast *forecast_new(const struct machine *machine, struct forecast_windows windows,
                              struct error *error) {
    struct forecast *forecast = calloc(1, sizeof *forecast);
    if (!forecast)
        return error_null(error, "out of memory for the analytical model");
    pthread_mutex_init(&forecast->lock, NULL);
    forecast->machine = *machine;
    forecast->windows = windows;
    forecast->upgrade_count = upgrades_of(machine, forecast->upgrades);
    forecast->set_count = 1;
    if ((forecast->free = new_set(forecast, error)))
        return forecast;
    forecast_free(forecast);
    return NULL;
}

void forecast_free(struct forecast *forecast) {
    if (!forecast)
        return;
    while (forecast->free) {
        struct pass_set *set = forecast->free;
        forecast->free = set->next;
        free_set(set);
    }
    pthread_mutex_destroy(&forecast->lock);
    free(forecast);
}

/* Cycles of each configuration, over all that the set was ever used for. */
static void cycles_so_far(const struct pass_set *set, double cycles[CONFIGS]) {
    for (uint32_t i = 0; i < set->pass_count; i++) {
        const struct pass *pass = &set->passes[i];
        data_trace_finish(pass->data);
        for (uint32_t k = 0; k < pass->count; k++)
            cycles[pass->first + k] = hybrid_result(pass->hybrid, k).cycles;
    }
}

static void resume(const struct pass_set *set, const struct core *core) {
    const struct memory *memory = core_memory(core);
    for (uint32_t i = 0; i < set->pass_count; i++) {
        data_trace_finish(set->passes[i].data);
        hybrid_break(set->passes[i].hybrid);
        data_trace_resume(set->passes[i].data, memory);
    }
}

/* ---- windows ---- */

static struct stratum *stratum_of(const struct forecast *forecast, struct lane *lane) {
    return &lane->strata[lane->seen >= forecast->windows.all];
}

/* A free set, or a new one; *set NULL: there are too many. False: out of memory. */
static bool take_set(struct forecast *forecast, struct pass_set **set, struct error *error) {
    pthread_mutex_lock(&forecast->lock);
    *set = forecast->free;
    const bool make = !*set && forecast->set_count < SETS_MOST;
    if (*set)
        forecast->free = (*set)->next;
    forecast->set_count += make;
    pthread_mutex_unlock(&forecast->lock);
    return !make || (*set = new_set(forecast, error));
}

static void give_back(struct forecast *forecast, struct pass_set *set) {
    pthread_mutex_lock(&forecast->lock);
    set->next = forecast->free;
    forecast->free = set;
    pthread_mutex_unlock(&forecast->lock);
}

/* At an instruction of its window the lane gets a set, if there is one. */
static bool try_open(struct forecast *forecast, struct lane *lane, const struct core *core,
                     struct error *error) {
    if (lane->seen < forecast_window(forecast->windows, lane->window).from)
        return true;
    if (!take_set(forecast, &lane->set, error))
        return false;
    if (!lane->set)
        return true;
    lane->looked = 0;
    cycles_so_far(lane->set, lane->before);
    resume(lane->set, core);
    return true;
}

/* What was looked at in the open window is the stratum's. */
static void settle(const struct forecast *forecast, struct lane *lane, struct stratum *stratum) {
    double now[CONFIGS] = {0};
    cycles_so_far(lane->set, now);
    for (uint32_t i = 0; i <= forecast->upgrade_count; i++) {
        stratum->cycles[i] += now[i] - lane->before[i];
        lane->before[i] = now[i];
    }
}

static void close_window(struct forecast *forecast, struct lane *lane, struct stratum *stratum) {
    if (!lane->set)
        return;
    settle(forecast, lane, stratum);
    give_back(forecast, lane->set);
    lane->set = NULL;
    while (forecast_window(forecast->windows, lane->window).end <= lane->seen)
        lane->window++;
}

/* ---- the observer ---- */

static bool attach(void *context, void **state, struct error *error) {
    (void)context;
    *state = calloc(1, sizeof(struct lane));
    return *state || error_set(error, "out of memory for the analytical model");
}

static bool look(const struct pass_set *set, const struct code *code,
                 const struct trace_batch *piece, struct error *error) {
    const struct core_input input = core_input_of(code, piece);
    return all_where(i, set->pass_count, data_trace_add(set->passes[i].data, &input, error));
}

/* Windows begin and end with pieces. */
static bool see(void *context, void *state, const struct core *core, const struct code *code,
                const struct trace_batch *piece, bool follows, struct error *error) {
    struct forecast *forecast = context;
    struct lane *lane = state;
    struct stratum *stratum = stratum_of(forecast, lane);
    if (lane->set && !follows)
        resume(lane->set, core);
    else if (!lane->set && !try_open(forecast, lane, core, error))
        return false;
    stratum->seen += piece->insn_count;
    lane->seen += piece->insn_count;
    if (!lane->set)
        return true;
    stratum->looked += piece->insn_count;
    lane->looked += piece->insn_count;
    if (!look(lane->set, code, piece, error))
        return false;
    if (stratum_of(forecast, lane) != stratum)
        settle(forecast, lane, stratum);
    const struct forecast_window window = forecast_window(forecast->windows, lane->window);
    if (lane->looked >= window.end - window.from)
        close_window(forecast, lane, stratum);
    return true;
}

static void add_stratum(struct forecast *forecast, const struct stratum *stratum, double weight) {
    struct forecast_result *result = &forecast->result;
    if (!stratum->looked)
        return;
    const double factor = weight * (double)stratum->seen / (double)stratum->looked;
    result->looked += stratum->looked;
    result->instructions += weight * (double)stratum->seen;
    result->now += factor * stratum->cycles[0];
    for (uint32_t i = 0; i < forecast->upgrade_count; i++)
        result->then[i] += factor * stratum->cycles[i + 1];
}

static bool collect(void *context, void *state, double weight, struct error *error) {
    struct forecast *forecast = context;
    struct lane *lane = state;
    (void)error;
    close_window(forecast, lane, stratum_of(forecast, lane));
    for (int i = 0; i < 2; i++) /* a part that nobody looked at is like the other */
        if (!lane->strata[i].looked) {
            lane->strata[!i].seen += lane->strata[i].seen;
            lane->strata[i].seen = 0;
        }
    pthread_mutex_lock(&forecast->lock);
    for (int i = 0; i < 2; i++)
        add_stratum(forecast, &lane->strata[i], weight);
    pthread_mutex_unlock(&forecast->lock);
    memset(lane->strata, 0, sizeof lane->strata);
    return true;
}

static void detach(void *context, void *state) {
    struct forecast *forecast = context;
    struct lane *lane = state;
    close_window(forecast, lane, stratum_of(forecast, lane));
    free(lane);
}

struct instruction_observer forecast_observer(struct forecast *forecast) {
    return (struct instruction_observer){.attach = attach,
                                         .see = see,
                                         .collect = collect,
                                         .detach = detach,
                                         .context = forecast,
                                         .weight = 1};
}

/* ---- the result ---- */

struct forecast_result forecast_result(const struct forecast *forecast) {
    return forecast->result;
}

void forecast_sum(struct forecast_result *sum, const struct forecast_result *more) {
    sum->looked += more->looked;
    sum->instructions += more->instructions;
    sum->now += more->now;
    for (uint32_t i = 0; i < UPGRADES_MOST; i++)
        sum->then[i] += more->then[i];
}
