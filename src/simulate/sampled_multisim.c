/* A cell is recorded until it is complete, then simulated while the caller waits. It begins with
 * what the core's caches hold; the core's pipeline may be some instructions behind what the core
 * was given, so those given last are shown to the caches again, which changes nothing in what they
 * have seen; and the last branch may not have met the predictor yet.
 *
 * Which cells: each adds the share of cells that are to be drawn there to a credit, and is drawn
 * when that is 1, which is then paid. */
#include "simulate/sampled_multisim.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/attribute.h"
#include "graph/icost.h"
#include "tap/tap.h"
#include "util/array.h"
#include "util/jobs.h"
#include "util/thread_pool.h"

enum { PAIRS_IN_TURN = 2, PARTS = 2, ROOMS = 8 };
enum {
    NEEDLESS = IDEAL_IMISS | IDEAL_BMISP | IDEAL_STFWD | IDEAL_SPLIT
}; /* at times, as core_needless() tells */
static_assert(MULTISIM_PAIRS % PAIRS_IN_TURN == 0, "all pairs have as many turns");

/* Instructions as they came. */
struct record {
    struct dynamic_insn *insns;
    struct memory_access *accesses;
    struct piece {
        uint32_t insn_count, access_count, first_access;
    } * pieces;
    size_t insn_count, access_count, piece_count;
    size_t insn_capacity, access_capacity, piece_capacity;
};

/* What a cell that was simulated again took, and what its costs saved: NAN of a pair whose turn it
 * was not. */
struct simulated_cell {
    uint32_t part;
    double share;                      /* of cells that were drawn there */
    double pair_share;                 /* of them, those with the pair */
    struct multisim_run_cycles cycles; /* as it is */
    double saved[MULTISIM_COSTS];
};

struct lane {
    struct record last, cell; /* the batch before this one; the cell that is recorded */
    uint64_t seen;            /* instructions */
    bool open, drawn;         /* a cell has begun; it is recorded */
    uint64_t length;          /* of the open cell, in instructions */
    uint32_t part;            /* that it is in */
    double share;             /* of cells drawn where it began */
    uint32_t pairs;           /* to be simulated of it */
    uint32_t first_pair;
    struct core_learned start; /* what the core knew there */
    struct core *predecoded;   /* what cells of this code are before timing; NULL: none so far */
    const struct code *code;
    struct simulated_cell *cells; /* since they were collected */
    size_t cell_count, cell_capacity;
};

struct sampled_multisim {
    struct machine machine;
    uint32_t ideal;
    struct multisim_draw draw;
    uint32_t threads;                 /* that simulate a cell */
    uint32_t sets[MULTISIM_COSTS];    /* categories of each cost */
    pthread_mutex_t lock;             /* of what follows */
    struct core_learned rooms[ROOMS]; /* of simulations that have ended */
    uint32_t room_count;
    uint64_t seen[PARTS]; /* instructions, of all lanes */
    double credit[PARTS];
    uint32_t next_pair;
    struct multisim_weighted
        before[PARTS][MULTISIM_COSTS]
              [MULTISIM_RATIOS]; /* of the cell before, weighted; 0: there was none */
    struct sampled_multisim_result result;
};

/* ---- records ---- */

static void record_clear(struct record *record) {
    record->insn_count = record->access_count = record->piece_count = 0;
}

static void record_free(struct record *record) {
    free(record->insns);
    free(record->accesses);
    free(record->pieces);
    *record = (struct record){0};
}

static bool record_add(struct record *record, const struct trace_batch *piece,
                       struct error *error) {
    size_t insns = record->insn_count + piece->insn_count;
    size_t accesses = record->access_count + piece->access_count;
    if (!array_room(record->insns, record->insn_capacity, insns + 1) ||
        !array_room(record->accesses, record->access_capacity, accesses + 1) ||
        !array_room(record->pieces, record->piece_capacity, record->piece_count + 1))
        return error_set(error, "out of memory for what is simulated again");
    memcpy(record->insns + record->insn_count, piece->insns,
           piece->insn_count * sizeof *record->insns);
    if (piece->access_count)
        memcpy(record->accesses + record->access_count, piece->accesses,
               piece->access_count * sizeof *record->accesses);
    record->pieces[record->piece_count++] =
        (struct piece){piece->insn_count, piece->access_count, (uint32_t)piece->first_access};
    record->insn_count = insns;
    record->access_count = accesses;
    return true;
}

/* From one piece of a record to the next, which lies behind it. */
static void next_piece(struct core_input *input, const struct piece *piece) {
    input->insns += input->insn_count;
    input->accesses += input->access_count;
    input->insn_count = piece->insn_count;
    input->access_count = piece->access_count;
    input->first_access = piece->first_access;
}

/* Shows the record, which a core has taken, to caches and TLBs. */
static void warm(const struct record *record, const struct code *code,
                 const struct machine_cache *l1i, struct memory *memory) {
    struct core_input input = {code, record->insns, record->accesses, 0, 0, 0};
    const uint32_t line_shift = (uint32_t)__builtin_ctz(l1i->present ? l1i->line : 64);
    uint64_t line = UINT64_MAX;
    for (size_t p = 0; p < record->piece_count; p++) {
        next_piece(&input, &record->pieces[p]);
        for (uint32_t i = 0; i < input.insn_count; i++)
            core_warm_memory(memory, line_shift, &input, i, &line);
    }
}

/* ---- simulations of a cell ---- */

/* Caches in which another simulation can begin: theirs take many pages, which are used again. */
static struct core_learned take_room(struct sampled_multisim *multisim) {
    struct core_learned room = {NULL, NULL};
    pthread_mutex_lock(&multisim->lock);
    if (multisim->room_count)
        room = multisim->rooms[--multisim->room_count];
    pthread_mutex_unlock(&multisim->lock);
    return room;
}

static void give_room(struct sampled_multisim *multisim, struct core_learned *room) {
    pthread_mutex_lock(&multisim->lock);
    if (room->memory && multisim->room_count < ROOMS) {
        multisim->rooms[multisim->room_count++] = *room;
        *room = (struct core_learned){NULL, NULL};
    }
    pthread_mutex_unlock(&multisim->lock);
    core_learned_free(room);
}

/* Once for all simulations of the cell. */
static bool predecode(const struct sampled_multisim *multisim, struct lane *lane,
                      struct error *error) {
    const struct core_options options = {.ideal = multisim->ideal, .predecodes = true};
    const struct record *record = &lane->cell;
    struct core_input input = {lane->code, record->insns, record->accesses, 0, 0, 0};
    if (!lane->predecoded && !(lane->predecoded = core_new(&multisim->machine, &options, error)))
        return false;
    if (!core_predecode_again(lane->predecoded, lane->start.predictor, error))
        return false;
    for (size_t p = 0; p < record->piece_count; p++) {
        next_piece(&input, &record->pieces[p]);
        if (!core_push(lane->predecoded, &input, error))
            return false;
    }
    return core_finish(lane->predecoded, error);
}

/* What a simulation of the cell took, and the categories that could have been idealised as well
 * without a change. */
struct timed {
    double cycles;
    uint32_t needless;
};

/* With a set of categories idealised. */
static bool time_with(const struct sampled_multisim *multisim, const struct lane *lane,
                      uint32_t set, struct tap *tap, struct core_learned *room, struct timed *timed,
                      struct error *error) {
    struct core_statistics statistics;
    const struct core_options options = {
        .ideal = multisim->ideal | set, .tap = tap, .learned = room};
    if (!core_learned_copy(room, &multisim->machine, options.ideal, lane->start.memory, NULL,
                           error))
        return false;
    struct core *core = core_new(&multisim->machine, &options, error);
    bool good =
        core && core_push_predecoded(core, lane->predecoded, error) && core_finish(core, error);
    *timed = (struct timed){0};
    if (good) {
        core_statistics(core, &statistics);
        *timed = (struct timed){(double)statistics.cycles, core_needless(core)};
        core_give(core, room);
    }
    core_free(core);
    return good;
}

/* As it is, with the events that its cycles have. */
static bool time_as_it_is(const struct sampled_multisim *multisim, const struct lane *lane,
                          struct core_learned *room, struct multisim_run_cycles *cycles,
                          struct timed *timed, struct error *error) {
    struct tap_bus *bus = tap_bus_new();
    struct golden *golden = golden_new();
    struct tap *tap = bus ? tap_new(bus) : NULL;
    struct pics_cell *cells = NULL;
    uint64_t count;
    bool good = golden && tap;
    if (good) {
        struct tap_worker worker = golden_worker(golden);
        good = tap_add_worker(tap, &worker, error) &&
               time_with(multisim, lane, 0, tap, room, timed, error) &&
               ((cells = pics_cells(golden_profile(golden), &count)) ||
                error_set(error, "out of memory for what is simulated again"));
    } else {
        error_set(error, "out of memory for what is simulated again");
    }
    if (good)
        *cycles = multisim_run_cycles(cells, count);
    free(cells);
    if (tap)
        tap_free(tap);
    tap_bus_free(bus);
    golden_free(golden);
    return good;
}

/* The simulations of a cell, which threads take one after the other: as it is, with each category,
 * and with the pairs whose turn it is. Those that others may make needless come last. */
enum {
    AS_IT_IS,
    FIRST_CATEGORY,
    SPLIT = FIRST_CATEGORY + MULTISIM_CATEGORIES,
    FIRST_PAIR,
    RUNS = FIRST_PAIR + MULTISIM_PAIRS,
    THREADS = 4
};
struct cell_runs {
    struct sampled_multisim *multisim;
    const struct lane *lane;
    struct core_learned rooms[THREADS]; /* what a thread's simulations begin with */
    struct multisim_run_cycles as_it_is;
    struct timed with[RUNS];
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool done[RUNS];
    bool failed;
};

static uint32_t pair_of(const struct lane *lane, uint32_t number) {
    return MULTISIM_CATEGORIES + (lane->first_pair + number) % MULTISIM_PAIRS;
}

/* The run that is simulated at this place of the order. */
static uint32_t run_at(uint32_t place) {
    static const uint8_t ORDER[FIRST_PAIR] = {
        AS_IT_IS,           FIRST_CATEGORY + 1, /* dmiss */
        FIRST_CATEGORY + 2, FIRST_CATEGORY + 3, FIRST_CATEGORY + 4,
        FIRST_CATEGORY + 5, FIRST_CATEGORY + 7, /* win */
        FIRST_CATEGORY + 0, /* imiss, bmisp, stfwd, split: core_needless() tells of them */
        FIRST_CATEGORY + 6, FIRST_CATEGORY + 8, SPLIT};
    return place < FIRST_PAIR ? ORDER[place] : place;
}

static uint32_t set_of(const struct cell_runs *runs, uint32_t run) {
    const uint32_t *sets = runs->multisim->sets;
    return run == AS_IT_IS    ? 0
           : run == SPLIT     ? IDEAL_SPLIT
           : run < FIRST_PAIR ? sets[run - FIRST_CATEGORY]
                              : sets[pair_of(runs->lane, run - FIRST_PAIR)];
}

/* Another run, which was taken before. False: it, or another one, has failed. */
static bool await(struct cell_runs *runs, uint32_t run) {
    pthread_mutex_lock(&runs->lock);
    while (!runs->done[run] && !runs->failed)
        pthread_cond_wait(&runs->changed, &runs->lock);
    const bool good = runs->done[run];
    pthread_mutex_unlock(&runs->lock);
    return good;
}

/* The run with one category less, to which the category that is left out makes no difference, is
 * this run. False: there is none. */
static bool take_from_another(struct cell_runs *runs, uint32_t run) {
    const uint32_t set = set_of(runs, run);
    for (uint32_t left = set; left; left &= left - 1) {
        const uint32_t one = left & -left, rest = set & ~one;
        const uint32_t other =
            rest ? FIRST_CATEGORY + (uint32_t)__builtin_ctz(rest) : (uint32_t)AS_IT_IS;
        if (one & NEEDLESS && await(runs, other) && runs->with[other].needless & one) {
            runs->with[run] = runs->with[other];
            return true;
        }
    }
    return false;
}

static bool simulate(struct cell_runs *runs, uint32_t run, struct core_learned *room,
                     struct error *error) {
    if (run == AS_IT_IS)
        return time_as_it_is(runs->multisim, runs->lane, room, &runs->as_it_is, &runs->with[run],
                             error);
    return take_from_another(runs, run) || time_with(runs->multisim, runs->lane, set_of(runs, run),
                                                     NULL, room, &runs->with[run], error);
}

static bool do_run(void *context, uint32_t thread, size_t place, struct error *error) {
    struct cell_runs *runs = context;
    const uint32_t run = run_at((uint32_t)place);
    const bool good = simulate(runs, run, &runs->rooms[thread], error);
    pthread_mutex_lock(&runs->lock);
    runs->done[run] = good;
    runs->failed |= !good;
    pthread_cond_broadcast(&runs->changed);
    pthread_mutex_unlock(&runs->lock);
    return good;
}

static bool run_all(struct cell_runs *runs, struct error *error) {
    const struct thread_pool_work work = {.count = FIRST_PAIR + runs->lane->pairs,
                                          .jobs = runs->multisim->threads,
                                          .item = do_run,
                                          .context = runs};
    pthread_mutex_init(&runs->lock, NULL);
    pthread_cond_init(&runs->changed, NULL);
    for (uint32_t i = 0; i < runs->multisim->threads; i++)
        runs->rooms[i] = take_room(runs->multisim);
    const bool good = thread_pool_run(&work, error);
    for (uint32_t i = 0; i < runs->multisim->threads; i++)
        give_room(runs->multisim, &runs->rooms[i]);
    pthread_mutex_destroy(&runs->lock);
    pthread_cond_destroy(&runs->changed);
    return good;
}

static bool simulate_cell(struct sampled_multisim *multisim, struct lane *lane,
                          struct simulated_cell *cell, struct error *error) {
    struct cell_runs runs = {.multisim = multisim, .lane = lane};
    if (!predecode(multisim, lane, error) || !run_all(&runs, error))
        return false;
    const double all = runs.as_it_is.all;
    const struct timed *with = runs.with + FIRST_CATEGORY;
    *cell = (struct simulated_cell){.part = lane->part,
                                    .share = lane->share,
                                    .pair_share = (double)lane->pairs / MULTISIM_PAIRS,
                                    .cycles = runs.as_it_is};
    for (uint32_t i = 0; i < MULTISIM_COSTS; i++)
        cell->saved[i] = i < MULTISIM_CATEGORIES ? all - with[i].cycles : NAN;
    cell->saved[MULTISIM_SPLIT] = all - runs.with[SPLIT].cycles;
    for (uint32_t k = 0; k < lane->pairs; k++) {
        const uint32_t cost = pair_of(lane, k), set = multisim->sets[cost];
        const double times[] = {all, with[__builtin_ctz(set)].cycles,
                                with[31 - __builtin_clz(set)].cycles,
                                runs.with[FIRST_PAIR + k].cycles};
        cell->saved[cost] = icost(times, ICOST_PAIR);
    }
    return true;
}

/* ---- cells ---- */

static bool keep_cell(struct sampled_multisim *multisim, struct lane *lane, struct error *error) {
    if (!array_room(lane->cells, lane->cell_capacity, lane->cell_count + 1))
        return error_set(error, "out of memory for what is simulated again");
    if (!simulate_cell(multisim, lane, &lane->cells[lane->cell_count], error))
        return false;
    lane->cell_count++;
    pthread_mutex_lock(&multisim->lock);
    multisim->result.cells++;
    multisim->result.instructions += lane->cell.insn_count;
    pthread_mutex_unlock(&multisim->lock);
    return true;
}

static bool end_cell(struct sampled_multisim *multisim, struct lane *lane, struct error *error) {
    bool good = !lane->drawn || !lane->cell.insn_count || keep_cell(multisim, lane, error);
    give_room(multisim, &lane->start);
    record_clear(&lane->cell);
    lane->open = lane->drawn = false;
    return good;
}

/* Whether the cell that begins is drawn. */
static void draw(struct sampled_multisim *multisim, struct lane *lane) {
    pthread_mutex_lock(&multisim->lock);
    lane->part = lane->seen >= multisim->draw.beginning;
    double *credit = &multisim->credit[lane->part];
    lane->share =
        fmin(1, (double)multisim->draw.in_full[lane->part] / (double)multisim->seen[lane->part]);
    *credit += lane->share;
    lane->drawn = *credit >= 1;
    if (lane->drawn) {
        *credit -= 1;
        lane->pairs = multisim->seen[0] + multisim->seen[1] < multisim->draw.all_pairs
                          ? (uint32_t)MULTISIM_PAIRS
                          : PAIRS_IN_TURN;
        lane->first_pair = multisim->next_pair;
        multisim->next_pair = (multisim->next_pair + lane->pairs) % MULTISIM_PAIRS;
    }
    pthread_mutex_unlock(&multisim->lock);
}

static bool begin_cell(struct sampled_multisim *multisim, struct lane *lane,
                       const struct core *core, const struct code *code, bool follows,
                       struct error *error) {
    lane->open = true;
    lane->length = 0;
    draw(multisim, lane);
    if (!lane->drawn)
        return true;
    lane->start = take_room(multisim);
    if (!core_learned_copy(&lane->start, &multisim->machine, multisim->ideal, core_memory(core),
                           core_predictor(core), error))
        return false;
    warm(&lane->last, code, &multisim->machine.l1i, lane->start.memory);
    if (follows && lane->last.insn_count)
        core_await_branch(lane->start.predictor, code,
                          lane->last.insns + lane->last.insn_count - 1);
    return true;
}

/* ---- the observer ---- */

static bool attach(void *context, void **state, struct error *error) {
    (void)context;
    *state = calloc(1, sizeof(struct lane));
    return *state || error_set(error, "out of memory for what is simulated again");
}

static bool see(void *context, void *state, const struct core *core, const struct code *code,
                const struct trace_batch *piece, bool follows, struct error *error) {
    struct sampled_multisim *multisim = context;
    struct lane *lane = state;
    assert(!lane->code || lane->code == code);
    lane->code = code;
    if (!follows && !end_cell(multisim, lane, error))
        return false;
    if (!lane->open && !begin_cell(multisim, lane, core, code, follows, error))
        return false;
    record_clear(&lane->last);
    if (!record_add(&lane->last, piece, error) ||
        (lane->drawn && !record_add(&lane->cell, piece, error)))
        return false;
    lane->length += piece->insn_count;
    lane->seen += piece->insn_count;
    pthread_mutex_lock(&multisim->lock);
    multisim->seen[lane->part] += piece->insn_count;
    pthread_mutex_unlock(&multisim->lock);
    return lane->length < multisim->draw.cell || end_cell(multisim, lane, error);
}

/* Adds it to all costs that it has. */
static void add_costs(struct sampled_multisim *multisim, double weight,
                      const struct simulated_cell *cell) {
    const double single = weight / cell->share, pair = single / cell->pair_share;
    for (uint32_t i = 0; i < MULTISIM_COSTS; i++) {
        struct multisim_sums *sums = multisim->result.costs[i];
        struct multisim_weighted *before = multisim->before[cell->part][i];
        if (isnan(cell->saved[i]))
            continue;
        const bool is_pair = i >= MULTISIM_CATEGORIES && i != MULTISIM_SPLIT;
        multisim_sums_add(&sums[MULTISIM_TO_ALL], &before[MULTISIM_TO_ALL], is_pair ? pair : single,
                          cell->cycles.all, cell->saved[i]);
        if (i < MULTISIM_CATEGORIES)
            multisim_sums_add(&sums[MULTISIM_TO_EVENTS], &before[MULTISIM_TO_EVENTS], single,
                              cell->cycles.events[i], cell->saved[i]);
    }
}

static bool collect(void *context, void *state, double weight, struct error *error) {
    struct sampled_multisim *multisim = context;
    struct lane *lane = state;
    bool good = end_cell(multisim, lane, error);
    pthread_mutex_lock(&multisim->lock);
    for (size_t c = 0; c < lane->cell_count; c++)
        add_costs(multisim, weight, &lane->cells[c]);
    pthread_mutex_unlock(&multisim->lock);
    lane->cell_count = 0;
    return good;
}

static void detach(void *context, void *state) {
    struct lane *lane = state;
    (void)context;
    core_free(lane->predecoded);
    core_learned_free(&lane->start);
    record_free(&lane->last);
    record_free(&lane->cell);
    free(lane->cells);
    free(lane);
}

struct instruction_observer sampled_multisim_observer(struct sampled_multisim *multisim) {
    return (struct instruction_observer){.attach = attach,
                                         .see = see,
                                         .collect = collect,
                                         .detach = detach,
                                         .context = multisim,
                                         .weight = 1};
}

/* ---- the door ---- */

struct sampled_multisim *sampled_multisim_new(const struct machine *machine, uint32_t ideal,
                                              struct multisim_draw draw, struct error *error) {
    struct sampled_multisim *multisim = calloc(1, sizeof *multisim);
    uint32_t pair = MULTISIM_CATEGORIES;
    const uint32_t processors = jobs_processors();
    if (!multisim)
        return error_null(error, "out of memory for what is simulated again");
    multisim->machine = *machine;
    multisim->ideal = ideal;
    multisim->draw = draw;
    multisim->threads = processors < THREADS ? processors : THREADS;
    for (uint32_t a = 0; a < MULTISIM_CATEGORIES; a++) {
        multisim->sets[a] = 1u << a;
        for (uint32_t b = a + 1; b < MULTISIM_CATEGORIES; b++)
            multisim->sets[pair++] = 1u << a | 1u << b;
    }
    pthread_mutex_init(&multisim->lock, NULL);
    return multisim;
}

void sampled_multisim_free(struct sampled_multisim *multisim) {
    if (!multisim)
        return;
    while (multisim->room_count > 0)
        core_learned_free(&multisim->rooms[--multisim->room_count]);
    pthread_mutex_destroy(&multisim->lock);
    free(multisim);
}

struct sampled_multisim_result sampled_multisim_result(const struct sampled_multisim *multisim) {
    return multisim->result;
}
