/* Walks of loads that do not wait for each other: of one line in each of more pages than the TLBs
 * translate, which the near caches hold, in a random order that a table has, so that no address
 * waits for a load.
 *
 * In a stream of them one load follows the other by the interval, or by a walk's share of those
 * that go on at once, whichever is more. Bursts tell which: n loads at a time, which wait for the n
 * before. One more takes an interval longer, or nothing where walks begin at once; the first that
 * has to wait for a walker takes much longer. */
#include "calibrate/walks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/chase.h"

enum {
    MOST = 8,   /* loads of a burst: more than walkers are known to be */
    LOADS = 16, /* of an iteration, about */
    TURNS = HOST_PAGE / CHASE_LINE,
    TABLE_AT = HOST_PAGE, /* of the data; what the chase has of its own lies before it */
    PLACE_AT = 8,         /* where the table is read on */
    ZERO = 16             /* of a node's line: bytes that are zero */
};
/* Times the pages from which on nearly all miss: many more the L2 may not hold. */
static const double MORE = 1.25;

static const struct finding INTERVAL = {
    .key = "tlb.walk_interval", .what = "from walk to walk", .unit = "cycles"};
static const struct finding WALKERS = {.key = "tlb.walkers", .what = "walks at once", .unit = ""};

struct walks {
    struct chase chase;
    uint32_t *table; /* offsets of the lines */
    size_t count;
    /* Bursts of one load and more, and behind them a stream. */
    struct kernel_list list;
};

/* ---- the kernels ---- */

static bool make_data(struct walks *walks, uint32_t pages, struct error *error) {
    const uint64_t table_bytes = pages * sizeof *walks->table;
    const uint64_t first = ((TABLE_AT + table_bytes) / HOST_PAGE + 1) * HOST_PAGE;
    const struct chase_shape shape = {.first = first,
                                      .stride = HOST_PAGE,
                                      .pages = pages,
                                      .lines = 1,
                                      .spacing = CHASE_LINE,
                                      .group = CHASE_GROUP,
                                      .turn = TURNS};
    struct chase *chase = &walks->chase;
    const size_t chain = chase_add(chase, &shape);
    walks->count = pages;
    walks->table = malloc(table_bytes);
    if (!walks->table)
        return error_set(error, "out of memory for walks");
    if (!chase_good(chase, error))
        return false;
    for (size_t i = 0; i < pages; i++)
        walks->table[i] = (uint32_t)chase->nodes[chain][i];
    chase->fills[chase->data.fill_count++] = (struct host_fill){
        .kind = HOST_FILL_BYTES, .offset = TABLE_AT, .size = table_bytes, .bytes = walks->table};
    chase->fills[chase->data.fill_count++] =
        (struct host_fill){.kind = HOST_FILL_ADDRESS, .offset = PLACE_AT, .target = TABLE_AT};
    return true;
}

/* Those of a burst are loaded into these; others are zero. */
static const ZydisRegister LOADED[MOST] = {
    ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RBP,
    ZYDIS_REGISTER_R10, ZYDIS_REGISTER_R11, ZYDIS_REGISTER_R12, ZYDIS_REGISTER_R13};

/* RDX: their sum, zero, as many additions behind each of them. */
static void put_sum(struct assembler *code) {
    for (unsigned apart = 1; apart < MOST; apart *= 2)
        for (unsigned i = 0; i < MOST; i += 2 * apart)
            ASSEMBLE(code, ADD, operand_register(LOADED[i]), operand_register(LOADED[i + apart]));
    ASSEMBLE(code, MOV, REG(RDX), operand_register(LOADED[0]));
}

/* RSI: the table's next entry. */
static void put_loads(struct assembler *code, unsigned loads, unsigned burst) {
    for (unsigned i = 0; i < loads; i++) {
        ASSEMBLE(code, MOV, REG(EAX), MEMORY(RSI, i * sizeof(uint32_t), 32));
        ASSEMBLE(code, ADD, REG(RAX), REG(RDX));
        ASSEMBLE(code, MOV, operand_register(LOADED[burst ? i % burst : 0]),
                 operand_memory(ZYDIS_REGISTER_R14, ZYDIS_REGISTER_RAX, 1, ZERO, 64));
        if (burst && (i + 1) % burst == 0)
            put_sum(code);
    }
}

/* Of an iteration. */
static unsigned bursts_of(unsigned loads) {
    return LOADS / loads;
}

/* `burst`: loads at a time; 0: none waits for another. */
static void add_kernel(struct walks *walks, unsigned burst) {
    const unsigned loads = burst ? bursts_of(burst) * burst : LOADS;
    const uint64_t once = walks->count / loads;
    const struct host_kernel kernel = {
        .data = &walks->chase.data, .iterations = once / 4, .warm = once, .precision = 0.02};
    const size_t last = TABLE_AT + (walks->count - loads) * sizeof *walks->table;
    struct assembler *code = kernel_list_add(&walks->list, &kernel);
    ASSEMBLE(code, MOV, REG(RSI), MEMORY(R14, PLACE_AT, 64));
    ASSEMBLE(code, LEA, REG(R8), MEMORY(R14, TABLE_AT, 64));
    ASSEMBLE(code, LEA, REG(R9), MEMORY(R14, (int64_t)last, 64));
    struct label loop = host_loop_begin(code);
    put_loads(code, loads, burst);
    ASSEMBLE(code, ADD, REG(RSI), IMMEDIATE(loads * sizeof(uint32_t)));
    ASSEMBLE(code, CMP, REG(RSI), REG(R9));
    ASSEMBLE(code, CMOVNBE, REG(RSI), REG(R8));
    host_loop_end(code, &loop);
    ASSEMBLE(code, MOV, MEMORY(R14, PLACE_AT, 64), REG(RSI));
}

/* ---- what was found ---- */

/* A load more takes that much of a walk more, and so many times what each one before did: it waits
 * for a walker. */
static const double WAITS = 0.25, TIMES = 2;
/* What differs by no more is the same. */
static const double SAME = 0.25;
/* A stream in which each load takes that much of a walk has one walker. */
static const double ONE_WALKER = 0.9;
static const double LEAST = 1.5; /* cycles: loads themselves may come at one a cycle */

struct times {
    double bursts[MOST]; /* of one load and more */
    double stream;       /* of one load of it */
    double walk;
};

/* Walks that go on at once; 0: more than can be seen. */
static unsigned walkers_of(const struct times *times) {
    double most = times->bursts[1] - times->bursts[0];
    if (times->stream > ONE_WALKER * times->walk)
        return 1;
    for (unsigned n = 2; n < MOST; n++) {
        const double more = times->bursts[n] - times->bursts[n - 1];
        if (more > WAITS * times->walk && more > TIMES * most)
            return n;
        most = fmax(more, most);
    }
    return 0;
}

static bool same(double one, double other) {
    return fabs(one - other) <= SAME * fmax(one, other);
}

static void be_unknown(struct finding *finding, const char *why) {
    finding->state = FINDING_UNKNOWN;
    snprintf(finding->note, sizeof finding->note, "%s", why);
}

/* A stream that is slower than walkers let it be has an interval. Else bursts tell, as far as each
 * of their loads has a walker. */
static void judge_interval(struct finding *interval, const struct times *times, unsigned walkers) {
    const unsigned free = walkers ? walkers : MOST;
    const double later = (times->bursts[free - 1] - times->bursts[0]) / fmax(free - 1, 1);
    const bool slow =
        walkers ? times->stream > times->walk / walkers * (1 + SAME) : same(times->stream, later);
    interval->value = slow ? times->stream : later < LEAST ? 0 : later;
    if (walkers == 1)
        be_unknown(interval, "one walk goes on at a time: it is over before the next begins");
    else if (!walkers && !slow && times->stream > WAITS * times->walk)
        be_unknown(interval, "loads of a stream wait longer than those of bursts");
}

static void conclude(struct calibration *calibration, const struct host_result *results,
                     double walk) {
    struct finding interval = INTERVAL, walkers = WALKERS;
    const bool good = finding_rests_on(&walkers, results, MOST + 1);
    if (finding_rests_on(&interval, results, MOST + 1) && good) {
        struct times times = {.stream = results[MOST].cycles / LOADS, .walk = walk};
        for (unsigned i = 0; i < MOST; i++)
            times.bursts[i] = results[i].cycles / bursts_of(i + 1);
        walkers.value = walkers_of(&times);
        walkers.spread = 0;
        interval.spread = results[MOST].spread / LOADS;
        if (walkers.value == 0)
            be_unknown(&walkers, "no burst of loads waits for a walker");
        judge_interval(&interval, &times, (unsigned)walkers.value);
    }
    calibration_found(calibration, &walkers);
    calibration_found(calibration, &interval);
}

bool walks_measure(struct calibration *calibration, unsigned pages, double walk,
                   struct error *error) {
    struct walks walks = {0};
    bool good = make_data(&walks, (uint32_t)(MORE * pages), error);
    for (unsigned burst = 1; good && burst <= MOST; burst++)
        add_kernel(&walks, burst);
    if (good)
        add_kernel(&walks, 0);
    good = good && calibration_measure_fastest(calibration, &walks.list, error);
    if (good)
        conclude(calibration, walks.list.results, walk);
    kernel_list_free(&walks.list);
    chase_free(&walks.chase);
    free(walks.table);
    return good;
}

void walks_unknown(struct calibration *calibration, const char *why) {
    struct finding findings[] = {WALKERS, INTERVAL};
    for (unsigned i = 0; i < 2; i++) {
        be_unknown(&findings[i], why);
        calibration_found(calibration, &findings[i]);
    }
}
