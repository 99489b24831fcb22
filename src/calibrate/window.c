/* What the core holds in flight: reorder buffer, load queue, store queue, registers, schedulers.
 *
 * Two loads that miss all caches, of chases that know nothing of each other, with N fillers between
 * them, and N more before the next pair (Wong 2013):
 *
 *     load a = [a]; N fillers; load b = [b]; N fillers
 *
 * As long as the second load enters the core while the first one waits, both wait at once, and the
 * pair takes one latency. When the fillers have taken the last of what they need, the second load
 * enters only after the first is there: two latencies. To make up for what the fillers take by
 * themselves, and for pages that the processor does not remember, the pair is compared with one
 * whose second load waits for the first one's result: the share goes from a half to 1.
 *
 * The first N that does not overlap, the step, is found in three sweeps, each within the last one's
 * step. What the fillers take tells what it is the size of:
 *
 *     no-ops            the reorder buffer: a, N no-ops and b are in it, N + 2. Moves of registers,
 *                       which must be eliminated, where a µop holds several no-ops
 *     complements       integer registers: a, N and b write one each; the architecture's 16
 *                       besides. Those of the core's microcode are not seen. They write no flags
 *     comparisons       flags, where they have registers of their own, as on Zen 3: N write one
 *                       each; the architecture's besides
 *     vector additions  vector registers: N write one each; the architecture's 32 besides
 *     loads             load queue: a, N and b, N + 2
 *     stores            store queue: N
 *     tests of a, and b itself, wait in a scheduler: N + 1. Vector additions of a wait in that of
 *                       vectors, and so does the move of a to a vector register: N + 1
 *
 * A core of two threads gives each of them half while both run. On a virtual machine the other one
 * is somebody else's, and comes and goes, for a moment or for seconds. What one thread alone has is
 * the most that is seen: a sweep is done several times over, and of a point's shares the second
 * lowest holds, as a pair is sometimes disturbed. Where a sweep shows nothing but overlap, the step
 * that it looked at was the half's, and in the end the whole range is looked at once more. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/dispatch.h"
#include "calibrate/parts.h"
#include "calibrate/step.h"

enum {
    CHASE_BYTES = 48 << 20, /* of each chase: together more than the caches of a core hold */
    APART = 128,            /* bytes: lines that are not fetched together */
    CURSORS = 2 << 20,      /* bytes before the chases, where they are continued; fillers' data */
    FILLER_DATA = 1024,     /* offset */
    SWEEP = 26,             /* points */
    ROUNDS = 7,             /* of a sweep; in a hurry 3, of a simulated machine 1 */
    TRIES = 3,              /* of a sweep that shows no step, where the one before it did */
    PASSES = 2,             /* over the whole range, and what follows; of a simulated machine 1 */
    SWEEPS = 12,            /* of a pass, at most */
    SMALLEST = 6,
    LARGEST = 1100
};
static const double LEAST_STEP = 0.15; /* of the share */
static const double MOST_OVERLAP = 0.75;

static const struct host_fill FILLS[] = {
    {.kind = HOST_FILL_CHASE, .offset = CURSORS, .size = CHASE_BYTES, .stride = APART, .seed = 1},
    {.kind = HOST_FILL_CHASE,
     .offset = CURSORS + CHASE_BYTES,
     .size = CHASE_BYTES,
     .stride = APART,
     .seed = 2},
    {.kind = HOST_FILL_ADDRESS, .offset = 0, .target = CURSORS},
    {.kind = HOST_FILL_ADDRESS, .offset = 8, .target = CURSORS + CHASE_BYTES}};
static const struct host_data DATA = {
    .size = CURSORS + 2 * CHASE_BYTES, .huge_pages = true, .fills = FILLS, .fill_count = 4};

enum filler { NOP, MOVE, NOT, COMPARE, VECTOR_ADD, LOAD, STORE, WAITING, WAITING_VECTOR, FILLERS };
static const struct resource {
    const char *key, *what;
    int besides; /* its size is the first N that does not overlap, and so many */
    const char *note;
} RESOURCES[FILLERS] = {
    [NOP] = {"core.rob", "reorder buffer", 1, ""},
    [MOVE] = {"core.rob", "reorder buffer", 1, "by moves: no-ops share µops"},
    [NOT] = {"core.int_registers", "integer registers", 1 + 16, "16 of them the architecture's"},
    [COMPARE] = {"core.flag_registers", "registers of flags", -1 + 1,
                 "one of them the architecture's"},
    [VECTOR_ADD] = {"core.fp_registers", "vector registers", -1 + 32,
                    "32 of them the architecture's"},
    [LOAD] = {"core.load_queue", "load queue", 1, ""},
    [STORE] = {"core.store_queue", "store queue", -1, ""},
    [WAITING] = {NULL, "integer scheduler", 0, ""},
    [WAITING_VECTOR] = {NULL, "vector scheduler", 0, ""}};

/* Registers: rcx and rdx chase, rbx is 0; fillers write rsi, rdi, r8 to r13, xmm1 to xmm8. */
static void put_filler(struct assembler *code, enum filler filler, ZydisRegister chase,
                       unsigned i) {
    const ZydisEncoderOperand integer = operand_register(ZYDIS_REGISTER_RSI + i % 8);
    const ZydisEncoderOperand vector = operand_register(ZYDIS_REGISTER_XMM1 + i % 8);
    switch (filler) {
    case MOVE:
        ASSEMBLE(code, MOV, integer, REG(RBP));
        break;
    case NOT:
        ASSEMBLE(code, NOT, integer);
        break;
    case COMPARE:
        ASSEMBLE(code, CMP, REG(RBP), REG(RSI)); /* of one register it might not execute */
        break;
    case VECTOR_ADD:
        ASSEMBLE(code, PADDD, vector, REG(XMM9));
        break;
    case LOAD:
        ASSEMBLE(code, MOV, integer, MEMORY(R14, FILLER_DATA, 64));
        break;
    case STORE:
        ASSEMBLE(code, MOV, MEMORY(R14, FILLER_DATA, 64), REG(RBP));
        break;
    case WAITING:
        ASSEMBLE(code, TEST, operand_register(chase), operand_register(chase));
        break;
    case WAITING_VECTOR:
        ASSEMBLE(code, PADDD, vector, REG(XMM0));
        break;
    default:
        assembler_nops(code, 1);
    }
}

/* `overlaps`: no load waits for the one before it. */
static void add_kernel(struct kernel_list *list, enum filler filler, unsigned n, bool overlaps) {
    const struct host_kernel kernel = {.data = &DATA, .iterations = 6, .precision = 0.06};
    struct assembler *code = kernel_list_add(list, &kernel);
    ASSEMBLE(code, MOV, REG(RCX), MEMORY(R14, 0, 64));
    ASSEMBLE(code, MOV, REG(RDX), MEMORY(R14, 8, 64));
    struct label loop = host_loop_begin(code);
    for (unsigned half = 0; half < 2; half++) {
        const ZydisRegister chase = half ? ZYDIS_REGISTER_RDX : ZYDIS_REGISTER_RCX;
        const ZydisRegister other = half ? ZYDIS_REGISTER_RCX : ZYDIS_REGISTER_RDX;
        if (!overlaps) {
            ASSEMBLE(code, MOV, REG(RBX), operand_register(other));
            ASSEMBLE(code, AND, REG(RBX), IMMEDIATE(0));
        }
        ASSEMBLE(code, MOV, operand_register(chase),
                 operand_memory(chase, ZYDIS_REGISTER_RBX, 1, 0, 64));
        if (filler == WAITING_VECTOR)
            ASSEMBLE(code, MOVQ, REG(XMM0), operand_register(chase));
        for (unsigned i = 0; i < n; i++)
            put_filler(code, filler, chase, i);
    }
    host_loop_end(code, &loop);
    ASSEMBLE(code, MOV, MEMORY(R14, 0, 64), REG(RCX));
    ASSEMBLE(code, MOV, MEMORY(R14, 8, 64), REG(RDX));
}

static double share(const struct host_result *pair) {
    const bool good = pair[0].state == HOST_MEASURED && pair[1].state == HOST_MEASURED;
    return good && pair[1].cycles > 0 ? pair[0].cycles / pair[1].cycles : NAN;
}

/* Numbers from `from` to `to`, both included, by equal factors or equal steps. */
static size_t spread_out(struct step_point points[SWEEP], unsigned from, unsigned to,
                         bool factors) {
    size_t count = 0;
    for (unsigned i = 0; i < SWEEP; i++) {
        const double part = (double)i / (SWEEP - 1);
        const unsigned n = (unsigned)lround(factors ? from * pow((double)to / from, part)
                                                    : from + part * (to - from));
        if (!count || n > points[count - 1].n)
            points[count++] = (struct step_point){.n = n, .y = NAN};
    }
    return count;
}

/* The sweeps of one kind of fillers. */
struct search {
    struct step_point points[SWEEP];
    double shares[SWEEP][ROUNDS]; /* of each point, in rising order, unknown ones last */
    size_t count;
    unsigned below, above; /* found: the step lies between them */
    unsigned at_times;     /* 0, or a smaller N that does not overlap at times */
    unsigned tries;        /* of this sweep */
    bool whole;            /* the next sweep is one over the whole range */
    bool found, ends;
    bool left_out; /* of the two fillers for the reorder buffer the one that does not show it */
};

/* The next sweep: over the whole range, or around the step, with as much on either side of it,
 * which shows the levels. */
static void begin_sweep(struct search *search) {
    const unsigned width = search->above - search->below;
    const unsigned margin = width > SWEEP / 2 ? width / 2 : 8;
    const unsigned from = search->below > SMALLEST + margin ? search->below - margin : SMALLEST;
    search->count = search->whole ? spread_out(search->points, SMALLEST, LARGEST, true)
                                  : spread_out(search->points, from, search->above + margin, false);
}

/* A core whose other thread ran in some of the rounds: the step that the highest shares show. */
static unsigned seen_at_times(const struct search *search, unsigned rounds) {
    struct step_point highest[SWEEP];
    unsigned below, above;
    for (size_t i = 0; i < search->count; i++)
        highest[i] = (struct step_point){search->points[i].n, search->shares[i][rounds - 1]};
    const bool found = step_find(highest, search->count, LEAST_STEP, &below, &above);
    return found && above < search->below ? above : 0;
}

static bool mostly_overlap(const struct search *search) {
    size_t overlap = 0;
    for (size_t i = 0; i < search->count; i++)
        overlap += search->points[i].y < MOST_OVERLAP;
    return overlap > search->count / 2;
}

static void end_whole(struct search *search, bool step, unsigned below, unsigned above,
                      unsigned rounds) {
    search->whole = false;
    search->ends = !step || (search->found && below <= search->above);
    if (search->ends)
        return;
    search->found = true;
    search->below = below;
    search->above = above;
    search->at_times = seen_at_times(search, rounds);
}

static void end_narrow(struct search *search, bool step, unsigned below, unsigned above) {
    const unsigned width = search->above - search->below;
    if (step && above - below <= width) {
        search->tries = 0;
        search->ends = above - below == 1 || above - below == width;
        search->below = below;
        search->above = above;
    } else if (mostly_overlap(search)) {
        search->whole = true;
        search->found = false;
    } else {
        search->ends = ++search->tries == TRIES;
        search->found = !search->ends;
    }
}

static void end_sweep(struct search *search, unsigned rounds) {
    unsigned below = 0, above = 0;
    for (size_t i = 0; i < search->count; i++)
        search->points[i].y = search->shares[i][rounds > 2];
    const bool step = step_find(search->points, search->count, LEAST_STEP, &below, &above);
    if (search->whole)
        end_whole(search, step, below, above, rounds);
    else
        end_narrow(search, step, below, above);
}

static void keep_share(double shares[ROUNDS], unsigned round, double share) {
    while (round && !(shares[round - 1] <= share) && isfinite(share)) {
        shares[round] = shares[round - 1];
        round--;
    }
    shares[round] = share;
}

static unsigned rounds_of(const struct host_meter *meter) {
    return meter->simulated ? 1 : meter->quick ? 3 : ROUNDS;
}

/* All searches that go on, in one list: what a start costs is paid once. */
static bool sweep_all(struct calibration *calibration, struct search searches[FILLERS],
                      struct error *error) {
    struct kernel_list list = {0};
    const unsigned rounds = rounds_of(calibration->meter);
    for (unsigned filler = 0; filler < FILLERS; filler++) {
        struct search *search = &searches[filler];
        if (search->ends)
            continue;
        begin_sweep(search);
        for (size_t i = 0; i < search->count; i++)
            for (unsigned overlaps = 2; overlaps-- > 0;)
                add_kernel(&list, filler, search->points[i].n, overlaps);
    }
    bool good = true;
    for (unsigned round = 0; good && round < rounds; round++) {
        good = calibration_measure(calibration, &list, error);
        const struct host_result *pair = list.results;
        for (unsigned filler = 0; good && filler < FILLERS; filler++)
            for (size_t i = 0; !searches[filler].ends && i < searches[filler].count; i++, pair += 2)
                keep_share(searches[filler].shares[i], round, share(pair));
    }
    for (unsigned filler = 0; good && filler < FILLERS; filler++)
        if (!searches[filler].ends)
            end_sweep(&searches[filler], rounds);
    kernel_list_free(&list);
    return good;
}

static bool all_end(const struct search searches[FILLERS]) {
    for (unsigned filler = 0; filler < FILLERS; filler++)
        if (!searches[filler].ends)
            return false;
    return true;
}

/* A sweep over the whole range, and such that narrow down a step that it shows and that is beyond
 * the one known so far. */
static bool pass_over(struct calibration *calibration, struct search searches[FILLERS],
                      struct error *error) {
    for (unsigned filler = 0; filler < FILLERS; filler++) {
        searches[filler].whole = true;
        searches[filler].ends = searches[filler].left_out;
        searches[filler].tries = 0;
    }
    for (unsigned i = 0; i < SWEEPS && !all_end(searches) && !calibration_stops(calibration); i++)
        if (!sweep_all(calibration, searches, error))
            return false;
    for (unsigned filler = 0; filler < FILLERS; filler++)
        searches[filler].found &= searches[filler].ends;
    return true;
}

enum { NEAR = 3 }; /* µops: as many */

/* Moves that take registers find no more room than what writes them does. */
static bool moves_take_registers(const struct search searches[FILLERS]) {
    return searches[NOT].found && searches[MOVE].above <= searches[NOT].above + NEAR;
}

/* As many flags as integers: they have the same registers. */
static bool flags_take_registers(const struct search searches[FILLERS]) {
    return searches[NOT].found && searches[COMPARE].above <= searches[NOT].above + NEAR &&
           searches[COMPARE].above + NEAR >= searches[NOT].above;
}

static void conclude(struct calibration *calibration, enum filler filler,
                     const struct search searches[FILLERS]) {
    const struct resource *resource = &RESOURCES[filler];
    const struct search *search = &searches[filler];
    struct finding finding = {.key = resource->key,
                              .what = resource->what,
                              .unit = "µops",
                              .value = (double)search->above + resource->besides,
                              .spread = (search->above - search->below - 1) / 2.0};
    if (!search->found) {
        finding.state = FINDING_UNKNOWN;
        snprintf(finding.note, sizeof finding.note, "no clear step up to %d", LARGEST);
    } else if (filler == MOVE && moves_take_registers(searches)) {
        finding.state = FINDING_UNKNOWN;
        snprintf(finding.note, sizeof finding.note, "no-ops share µops, and moves take registers");
    } else if (filler == COMPARE && flags_take_registers(searches)) {
        finding.state = FINDING_UNKNOWN;
        snprintf(finding.note, sizeof finding.note, "they have none of their own");
    } else if (filler != NOP && filler != MOVE &&
               search->above + 2 >= calibration_value(calibration, "core.rob", INFINITY)) {
        finding.state = FINDING_UNKNOWN;
        snprintf(finding.note, sizeof finding.note, "the reorder buffer is full before");
    } else if (search->at_times) {
        snprintf(finding.note, sizeof finding.note,
                 "at times less than %d: another thread of the core has its part",
                 (int)search->at_times + resource->besides);
    } else {
        snprintf(finding.note, sizeof finding.note, "%s", resource->note);
    }
    calibration_found(calibration, &finding);
}

static bool run(struct calibration *calibration, struct error *error) {
    struct search searches[FILLERS] = {0};
    const unsigned passes = calibration->meter->simulated ? 1 : PASSES;
    struct dispatch dispatch = {0};
    if (!dispatch_measure(calibration, &dispatch, error))
        return false;
    searches[dispatch.no_ops_share ? NOP : MOVE].left_out = true;
    for (unsigned pass = 0; pass < passes && !calibration_stops(calibration); pass++)
        if (!pass_over(calibration, searches, error))
            return false;
    for (unsigned filler = 0; filler < FILLERS; filler++)
        if (!searches[filler].left_out)
            conclude(calibration, filler, searches);
    return true;
}

static const char *const KEYS[] = {"core.rob",
                                   "core.int_registers",
                                   "core.flag_registers",
                                   "core.fp_registers",
                                   "core.load_queue",
                                   "core.store_queue",
                                   NULL};
const struct calibrate_part calibrate_window = {
    .name = "window",
    .measures = "reorder buffer, load and store queue, registers, schedulers",
    .keys = KEYS,
    .run = run};
