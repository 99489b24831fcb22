/* Functions that cost enough are looked at one by one: the cycles of their instructions are summed
 * by kind of advice and innermost loop, where the code says that the remedy applies. Those of the
 * dynamic loader are not: it runs once, and nobody changes it. */
#include "query/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/loop_body.h"
#include "core/core.h"
#include "query/advice_division.h"
#include "query/function_code.h"
#include "query/function_walk.h"
#include "tap/tap.h"
#include "util/array.h"
#include "util/order.h"

enum {
    FUNCTIONS = 32,
    VECTOR_BYTES = 16,
    AGAIN = 16, /* executions: code is fetched for the first time in one of so many at most */
};
static const double LEAST_FUNCTION = 0.01;

const struct advice_row advice_table[ADVICE_KINDS] = {
    [ADVICE_BRANCH] = {"branch", "refills behind it",
                       "it is mispredicted and chooses between few instructions: select without a "
                       "branch, or order the data by it",
                       "sim --ideal bmisp", IDEAL_BMISP},
    [ADVICE_PREFETCH] = {"prefetch", "misses of its loads",
                         "addresses that miss are known rounds ahead: prefetch them, or work in "
                         "pieces that stay in the cache",
                         "icost --loads", IDEAL_DMISS},
    [ADVICE_LOCALITY] = {"locality", "misses of its loads",
                         "addresses that miss are known only from earlier loads: denser elements, "
                         "other distances between them, smaller pieces",
                         "sim --fields", IDEAL_DMISS},
    [ADVICE_PAGES] = {"huge pages", "loads that miss the TLB",
                      "translations are missed: pages of 2 MiB, or data closer together",
                      "sim --set tlb.page_size=2M", IDEAL_DMISS},
    [ADVICE_FORWARD] = {"forwarding", "loads that wait so",
                        "it loads what was stored in other pieces: load it as it was stored",
                        "sim --ideal stfwd", IDEAL_STFWD},
    [ADVICE_CODE] = {"layout", "misses of code", "fetch waits for code: lay it out by a profile",
                     "fdo", IDEAL_IMISS},
    [ADVICE_DIVIDE] = {"divide", "waits for its divisions",
                       "the divisor is the same in all rounds: multiply by its reciprocal",
                       "icost --category int_div,fp_div", 0},
    [ADVICE_VECTOR] = {"vectors", "cycles without events",
                       "scalar arithmetic, each round for itself: have it vectorised (-O3, "
                       "restrict)",
                       "sim --by loop", 0},
    [ADVICE_SPLIT] = {"split lines", "of its loads and stores lie in two lines",
                      "it loads or stores over the ends of cache lines: align the data, or pad "
                      "elements so that each lies in one",
                      "sim --ideal split", IDEAL_SPLIT},
    [ADVICE_FIELDS] = {"fields", "misses of its fields",
                       "its hot fields lie apart from each other, between others: lay them side by "
                       "side, or in elements of their own",
                       "sim --fields", 0},
    [ADVICE_PADDING] = {"padding", "lines of false sharing",
                        "threads write beside each other's data: a cache line for each", "sharing",
                        0},
    [ADVICE_COPIES] = {"copies", "lines of true sharing",
                       "threads write the same data: a copy for each, joined at the end", "sharing",
                       0},
};

struct candidate {
    struct advice advice;
    uint64_t units;
    double saved;   /* units, of a kind without a cause */
    uint32_t image; /* index into the code's images */
};

struct search {
    const struct advice_request *request;
    struct report_rows functions;
    struct candidate *candidates;
    size_t count, capacity;
    double all;                         /* units of the run */
    double events[MULTISIM_CATEGORIES]; /* units that have a category's events */
    double splits;                      /* loads and stores that lie in two lines */
    struct candidate pages, code;       /* of the whole program */
    uint64_t pages_most, code_most;     /* of an instruction */
};

/* One function. */
struct looked {
    struct search *search;
    const struct group *group;
    const struct cfg *cfg;
    uint32_t head; /* of the loop that `body` is of */
    struct loop_body body;
    bool known;
    uint32_t division;   /* one of those that the loop waits for; CFG_NONE: it does not */
    double divided_left; /* share of the loop's cycles that is left without them */
};

/* ---- sums over the run ---- */

/* Cycles in which nothing but the operation itself is waited for. */
static bool is_plain(uint32_t psv) {
    return !(psv & (multisim_events((unsigned)__builtin_ctz(IDEAL_DMISS)) | PSV_FL_MB | PSV_FL_EX |
                    PSV_FL_MO | PSV_ST_FW | PSV_DR_L1 | PSV_DR_TLB));
}

static void sum_run(struct search *search) {
    const struct simulation *simulation = search->request->simulation;
    for (uint64_t i = 0; i < simulation->cell_count; i++) {
        const struct pics_cell *cell = &simulation->cells[i];
        search->all += (double)cell->units;
        for (uint32_t k = 0; k < MULTISIM_CATEGORIES; k++)
            if (cell->psv & multisim_events(k))
                search->events[k] += (double)cell->units;
    }
    for (uint32_t i = 0; simulation->splits && i < simulation->execution_count; i++)
        search->splits += (double)simulation->splits[i];
}

/* ---- one function ---- */

static bool add(struct looked *looked, enum advice_kind kind, uint32_t at, uint64_t units,
                double saved) {
    struct search *search = looked->search;
    const uint64_t offset = looked->group->offset + looked->cfg->insns[at].offset;
    if (!units)
        return true;
    const struct candidate candidate = {
        .advice = {.kind = kind, .offset = offset, .function_offset = looked->group->offset},
        .units = units,
        .saved = saved,
        .image = looked->group->image};
    return array_push(search->candidates, search->capacity, search->count, candidate);
}

static void add_everywhere(struct looked *looked, struct candidate *candidate, uint64_t *most,
                           enum advice_kind kind, uint32_t at, uint64_t units) {
    candidate->units += units;
    if (units <= *most)
        return;
    *most = units;
    candidate->image = looked->group->image;
    candidate->advice =
        (struct advice){.kind = kind,
                        .offset = looked->group->offset + looked->cfg->insns[at].offset,
                        .function_offset = looked->group->offset,
                        .everywhere = true};
}

static uint32_t place_of(const struct looked *looked, uint32_t number) {
    const struct static_insn *insn = &looked->search->request->code->insns[number];
    return cfg_insn_at(looked->cfg, (uint32_t)(insn->offset - looked->group->offset));
}

static double executions_of(const struct looked *looked, uint32_t number) {
    const struct simulation *simulation = looked->search->request->simulation;
    return number < simulation->execution_count ? (double)simulation->executions[number] : 0;
}

/* Adds an instruction to the loop of `body`. True: it is a division by what does not change. */
static bool add_to_loop(const struct looked *looked, uint32_t number, uint32_t at,
                        struct divided_loop *loop) {
    const struct advice_request *request = looked->search->request;
    const struct simulation *simulation = request->simulation;
    uint64_t count;
    const struct pics_cell *cells =
        insn_cells(simulation->cells, simulation->cell_count, number, &count);
    const double executions = executions_of(looked, number);
    for (uint64_t i = 0; i < count; i++)
        loop->cycles += (double)cells[i].units / CYCLE_UNITS;
    loop->instructions += executions;
    if (!loop_divides_by_invariant(&looked->body, at))
        return false;
    if (request->code->insns[number].operation == OP_INT_DIV)
        loop->integer += executions;
    else
        loop->floating += executions;
    return true;
}

/* Whether the loop of `body`, without those within it, waits for a divider. */
static void look_at_divider(struct looked *looked) {
    struct divided_loop loop = {0};
    uint32_t division = CFG_NONE;
    for (uint32_t i = 0; i < looked->group->insn_count; i++) {
        const uint32_t number = looked->search->functions.members[looked->group->first + i];
        const uint32_t at = place_of(looked, number);
        if (at != CFG_NONE &&
            looked->cfg->blocks[looked->cfg->insns[at].block].loop == looked->head &&
            add_to_loop(looked, number, at, &loop))
            division = at;
    }
    const struct machine *machine = looked->search->request->machine;
    looked->division =
        advice_divider_bound(machine, &loop, &looked->divided_left) ? division : CFG_NONE;
}

/* The loop around an instruction; NULL: none, or nothing is known of it. */
static const struct loop_body *loop_around(struct looked *looked, uint32_t at) {
    const uint32_t head = looked->cfg->blocks[looked->cfg->insns[at].block].loop;
    if (head == CFG_NONE || looked->cfg->flags & (CFG_MISSING_EDGES | CFG_OVERLAPPING))
        return NULL;
    if (looked->head != head) {
        loop_body_free(&looked->body);
        looked->known = loop_body_build(&looked->body, looked->cfg, head);
        looked->head = head;
        looked->division = CFG_NONE;
        if (looked->known)
            look_at_divider(looked);
    }
    return looked->known ? &looked->body : NULL;
}

static uint32_t first_of(const struct cfg *cfg, uint32_t block) {
    return cfg->blocks[block].first_insn;
}

/* Cycles without events of an instruction: of a division, or of any in a loop that waits for the
 * divider. */
static bool look_at_division(struct looked *looked, uint32_t number, uint32_t at, uint64_t units) {
    const struct advice_request *request = looked->search->request;
    if (looked->division != CFG_NONE)
        return add(looked, ADVICE_DIVIDE, looked->division, units,
                   (double)units * (1 - looked->divided_left));
    if (!loop_divides_by_invariant(&looked->body, at))
        return true;
    const double cycles = (double)units / CYCLE_UNITS;
    return add(looked, ADVICE_DIVIDE, at, units,
               CYCLE_UNITS * advice_division_saving(request->machine,
                                                    request->code->insns[number].operation, cycles,
                                                    executions_of(looked, number)));
}

/* Loads and stores in two lines of an instruction, of the loop around it. */
static bool look_at_splits(struct looked *looked, uint32_t number, uint32_t at) {
    const struct simulation *simulation = looked->search->request->simulation;
    if (!simulation->splits || number >= simulation->execution_count || !simulation->splits[number])
        return true;
    const uint32_t head = loop_around(looked, at) ? first_of(looked->cfg, looked->head) : at;
    return add(looked, ADVICE_SPLIT, head, simulation->splits[number],
               executions_of(looked, number));
}

static bool look_at_insn(struct looked *looked, uint32_t number, uint32_t at) {
    struct search *search = looked->search;
    const struct simulation *simulation = search->request->simulation;
    const struct cfg *cfg = looked->cfg;
    const uint32_t misses = multisim_events((unsigned)__builtin_ctz(IDEAL_DMISS)) & ~PSV_DR_SQ;
    uint64_t count, missed = 0, refill = 0, forwarded = 0, translated = 0, fetched = 0, plain = 0;
    const struct pics_cell *cells =
        insn_cells(simulation->cells, simulation->cell_count, number, &count);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t units = cells[i].units;
        missed += cells[i].psv & misses && !(cells[i].psv & PSV_ST_CO) ? units : 0;
        refill += cells[i].psv & PSV_FL_MB ? units : 0;
        forwarded += cells[i].psv & PSV_ST_FW ? units : 0;
        translated += cells[i].psv & PSV_ST_TLB ? units : 0;
        fetched += cells[i].psv & (PSV_DR_L1 | PSV_DR_TLB) ? units : 0;
        plain += is_plain(cells[i].psv) ? units : 0;
    }
    if (!look_at_splits(looked, number, at))
        return false;
    add_everywhere(looked, &search->pages, &search->pages_most, ADVICE_PAGES, at, translated);
    if (number < simulation->execution_count && simulation->executions[number] >= AGAIN)
        add_everywhere(looked, &search->code, &search->code_most, ADVICE_CODE, at, fetched);
    if (!add(looked, ADVICE_FORWARD, at, forwarded, 0))
        return false;
    const struct loop_body *body = loop_around(looked, at);
    if (!body) /* from round to round of a caller, if at all */
        return add(looked, ADVICE_LOCALITY, at, missed, 0);
    const uint32_t head = first_of(cfg, looked->head);
    bool good = true;
    if (missed) {
        const enum address_origin origin = loop_address_origin(body, at);
        const bool ahead = origin == ADDRESS_COMPUTED || origin == ADDRESS_LOADED;
        good = add(looked, ahead ? ADVICE_PREFETCH : ADVICE_LOCALITY, head, missed, 0);
    }
    if (refill && branch_selects(cfg, at))
        good = good && add(looked, ADVICE_BRANCH, at, refill, 0);
    if (plain)
        good = good && look_at_division(looked, number, at, plain);
    /* Of the arithmetic one part of as many as a vector has elements is left. */
    const unsigned size = good && plain ? loop_scalar_stream(body) : 0;
    if (size && (good = add(looked, ADVICE_VECTOR, head, plain,
                            (double)plain * (1 - size / (double)VECTOR_BYTES))))
        search->candidates[search->count - 1].advice.lanes = VECTOR_BYTES / size;
    return good;
}

static bool look_at(struct search *search, uint32_t number) {
    struct looked looked = {
        .search = search, .group = &search->functions.groups[number], .head = CFG_NONE};
    struct function_code function;
    struct cfg cfg = {0};
    struct error ignored;
    bool good = true;
    if (function_code_read(&search->functions, number, &function) &&
        cfg_build(&cfg, &function.code, &ignored)) {
        looked.cfg = &cfg;
        for (uint32_t i = 0; good && i < looked.group->insn_count; i++) {
            const uint32_t insn = search->functions.members[looked.group->first + i];
            const uint32_t at = place_of(&looked, insn);
            if (at != CFG_NONE)
                good = look_at_insn(&looked, insn, at);
        }
    }
    loop_body_free(&looked.body);
    cfg_free(&cfg);
    function_code_free(&function);
    return good;
}

/* ---- savings ---- */

static void set_saving(const struct search *search, struct candidate *candidate) {
    struct advice *advice = &candidate->advice;
    const double units = (double)candidate->units;
    const unsigned ideal = advice_table[advice->kind].ideal;
    if (advice->kind == ADVICE_SPLIT) {
        const double part = units / search->splits;
        advice->splits = candidate->units;
        advice->evidence = units / candidate->saved;
        advice->saving = part * search->request->split.share;
        advice->half_interval = part * search->request->split.half_interval;
        return;
    }
    advice->evidence = units / search->all;
    if (!ideal) {
        advice->saving = candidate->saved / search->all;
        return;
    }
    const uint32_t category = (uint32_t)__builtin_ctz(ideal);
    const struct multisim_cost *cost = &search->request->costs[category];
    const double of = search->events[category];
    const double part = of > 0 ? units / of : 0;
    advice->saving = part * cost->share;
    advice->half_interval = part * cost->half_interval;
    if (advice->kind == ADVICE_PAGES) /* misses of the data themselves stay */
        advice->saving = fmin(advice->saving, search->request->translation);
    if (advice->kind == ADVICE_PREFETCH) /* what is fetched is fetched all the same */
        advice->saving = fmin(advice->saving, fmax(0, 1 - search->request->bus));
}

ORDER(by_saving, struct candidate,
      descending(a->advice.saving, b->advice.saving) ?: ascending(a->advice.kind, b->advice.kind) ?:
          ascending(a->advice.offset, b->advice.offset))

static void name_place(const struct search *search, const struct candidate *candidate,
                       struct advice *advice) {
    struct location location;
    *advice = candidate->advice;
    program_locate(search->request->program, search->functions.images[candidate->image],
                   advice->offset, &location);
    advice->image = code_image_name(search->request->code, candidate->image);
    advice->function = location.function;
    advice->file = location.file;
    advice->line = location.line;
}

ORDER(by_place, struct candidate,
      ascending(a->advice.kind, b->advice.kind) ?: ascending(a->image, b->image) ?:
          ascending(a->advice.offset, b->advice.offset))

/* Those of one kind and place are one. */
static void settle(struct search *search) {
    size_t kept = 0;
    if (search->count)
        qsort(search->candidates, search->count, sizeof *search->candidates, by_place);
    for (size_t i = 0; i < search->count; i++)
        if (kept && !by_place(&search->candidates[kept - 1], &search->candidates[i])) {
            search->candidates[kept - 1].units += search->candidates[i].units;
            search->candidates[kept - 1].saved += search->candidates[i].saved;
        } else {
            search->candidates[kept++] = search->candidates[i];
        }
    search->count = kept;
}

static int choose(struct search *search, struct advice advices[ADVICE_MOST]) {
    int count = 0;
    settle(search);
    for (size_t i = 0; i < search->count; i++)
        set_saving(search, &search->candidates[i]);
    if (search->count)
        qsort(search->candidates, search->count, sizeof *search->candidates, by_saving);
    for (size_t i = 0; i < search->count && count < ADVICE_MOST; i++)
        if (search->candidates[i].advice.saving >= ADVICE_LEAST)
            name_place(search, &search->candidates[i], &advices[count++]);
    return count;
}

int advice_find(const struct advice_request *request, struct advice advices[ADVICE_MOST],
                struct error *error) {
    struct search search = {.request = request};
    int count = -1;
    sum_run(&search);
    bool good = rows_build(BY_FUNCTION, FUNCTIONS, request->simulation, request->code,
                           request->program, &search.functions, error);
    if (!good)
        return -1;
    for (uint32_t i = 0; good && i < search.functions.count; i++)
        if ((double)search.functions.groups[i].units >= LEAST_FUNCTION * search.all &&
            !code_image_is_loader(request->code, search.functions.groups[i].image))
            good = look_at(&search, i);
    const struct candidate *everywhere[] = {&search.pages, &search.code};
    for (unsigned i = 0; good && i < 2; i++)
        if (everywhere[i]->units)
            good = array_push(search.candidates, search.capacity, search.count, *everywhere[i]);
    if (good)
        count = choose(&search, advices);
    else
        error_set(error, "out of memory for advice");
    free(search.candidates);
    rows_free(&search.functions);
    return count;
}
