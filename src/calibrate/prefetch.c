/* What prefetchers fetch ahead, how far, and whether beyond the page (Intel's Optimization
 * Reference Manual 248966 tells of such patterns, and of how they are learned).
 *
 * In page after page that no cache holds, a loop loads lines by a pattern, each when the one before
 * is there. Then it waits longer than memory takes, and loads one more line: that is there quickly
 * if it was fetched. How quickly is known from the line that was loaded last, and from one of a
 * page that was not touched. The farthest line is that up to which all that were tried come
 * quickly.
 *
 * A prefetcher may have learned from the pages before which line comes after a page's first one,
 * and that is the one that is tried. So it is tried whether a line without any pattern comes
 * quickly; if it does, the others may come for the same reason. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/parts.h"
#include "util/order.h"

enum {
    LINE = 64,
    LINES = HOST_PAGE / LINE,
    PLACES = 256 << 20,        /* bytes, a power of two */
    PLACE = 2 * HOST_PAGE,     /* from one page to another */
    NEXT_PLACE = 5003 * PLACE, /* the page after a page: an odd number of places on */
    SINGLE = LINES + 50,       /* line of a place */
    RUN = 6,                   /* loads of a pattern, */
    LONG_RUN = 12,         /* and of one that goes over a page's end: some take eight to learn */
    WAIT = 250,            /* multiplications, three cycles or more each */
    LEAST_DIFFERENCE = 60, /* cycles, from a line that is there to one that is not */
    PROBES = 14            /* at most, of a pattern */
};

/* `step` lines from one to the next, from line `start` on; what is probed is so many steps behind
 * the last. Single lines lie in the page that no other pattern loads from, and come first: what
 * they probe cannot be in the caches from others. */
static const struct pattern {
    const char *what;
    int step, start, run;
    int probes[PROBES]; /* ends with 0 */
} PATTERNS[] = {
    {"a line that always follows another", -17, SINGLE, 1, {1}},
    {"behind a single, even line", 1, SINGLE, 1, {1, 2}},
    {"before a single, even line", -1, SINGLE, 1, {1, 2}},
    {"behind a single, odd line", 1, SINGLE + 1, 1, {1, 2}},
    {"before a single, odd line", -1, SINGLE + 1, 1, {1, 2}},
    {"ascending, each line", 1, 0, RUN, {1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 32, 40}},
    {"ascending, each 2nd", 2, 0, RUN, {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20}},
    {"ascending, each 4th", 4, 0, RUN, {1, 2, 3, 4, 5, 6, 8, 10}},
    {"ascending, each 8th", 8, 0, RUN, {1, 2}},
    {"descending, each line", -1, LINES - 1, RUN, {1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 32, 40}},
    {"descending, each 2nd", -2, LINES - 1, RUN, {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20}},
    {"descending, each 4th", -4, LINES - 1, RUN, {1, 2, 3, 4, 5, 6, 8, 10}},
    {"descending, each 8th", -8, LINES - 1, RUN, {1, 2}},
    {"beyond the page's end", 1, LINES - LONG_RUN, LONG_RUN, {1, 2, 3, 4}},
    {"before the page's begin", -1, LONG_RUN - 1, LONG_RUN, {1, 2, 3, 4}},
};
enum { COUNT = sizeof PATTERNS / sizeof *PATTERNS };

/* All bytes are zero but the first eight, which tell where it goes on; so what is loaded can be
 * added to an address. Registers: r8 the place, rdx 0 when the last load is there. */
static void add_kernel(struct kernel_list *list, const struct host_data *data,
                       const struct pattern *pattern, int64_t probe) {
    const struct host_kernel kernel = {.data = data, .iterations = 8, .warm = 4, .precision = 0.03};
    struct assembler *code = kernel_list_add(list, &kernel);
    ASSEMBLE(code, MOV, REG(R8), MEMORY(R14, 0, 64));
    struct label loop = host_loop_begin(code);
    ASSEMBLE(code, ADD, REG(R8), IMMEDIATE(NEXT_PLACE));
    ASSEMBLE(code, AND, REG(R8D), IMMEDIATE(PLACES - 1));
    ASSEMBLE(code, LEA, REG(RAX), MEMORY(R14, HOST_HUGE_PAGE, 64));
    ASSEMBLE(code, ADD, REG(RAX), REG(R8));
    ASSEMBLE(code, ADD, REG(RAX), REG(RDX));
    ASSEMBLE(code, LEA, REG(RSI), MEMORY(RAX, pattern->start * LINE, 64));
    ASSEMBLE(code, MOV, REG(EDI), IMMEDIATE(pattern->run));
    struct label next = assembler_here(code);
    ASSEMBLE(code, MOV, REG(RDX), MEMORY(RSI, 0, 64));
    ASSEMBLE(code, ADD, REG(RSI), REG(RDX));
    ASSEMBLE(code, ADD, REG(RSI), IMMEDIATE(pattern->step * LINE));
    ASSEMBLE(code, DEC, REG(EDI));
    assembler_branch(code, ZYDIS_MNEMONIC_JNZ, &next);
    for (unsigned i = 0; i < WAIT; i++)
        ASSEMBLE(code, IMUL, REG(RDX), REG(RDX));
    ASSEMBLE(code, ADD, REG(RAX), REG(RDX));
    ASSEMBLE(code, MOV, REG(RDX), MEMORY(RAX, probe, 64));
    host_loop_end(code, &loop);
    ASSEMBLE(code, MOV, MEMORY(R14, 0, 64), REG(R8));
}

/* Kernels of a pattern: its last line, a page that was not touched, its probes. */
static void add_pattern(struct kernel_list *list, const struct host_data *data,
                        const struct pattern *pattern) {
    const int64_t last = (pattern->start + (pattern->run - 1) * pattern->step) * LINE;
    add_kernel(list, data, pattern, last);
    add_kernel(list, data, pattern, PLACES / 2 + HOST_PAGE + last);
    for (unsigned i = 0; i < PROBES && pattern->probes[i]; i++)
        add_kernel(list, data, pattern, last + pattern->probes[i] * pattern->step * LINE);
}

static unsigned probes_of(const struct pattern *pattern) {
    unsigned count = 0;
    while (count < PROBES && pattern->probes[count])
        count++;
    return count;
}

ORDER(compare, double, ascending(*a, *b))

/* What a line that is not there takes besides: the median of all patterns, as single ones may be
 * disturbed. In a page that was not touched it is translated first, which may take longer than the
 * line does; where the first pattern's line is not there either, that is the time of a line alone.
 */
static double missing_cycles(const struct host_result *results) {
    double differences[COUNT];
    unsigned count = 0;
    const double alone = results[2].state == HOST_MEASURED && results[0].state == HOST_MEASURED
                             ? results[2].cycles - results[0].cycles
                             : 0;
    for (unsigned i = 0; i < COUNT; results += 2 + probes_of(&PATTERNS[i++]))
        if (results[0].state == HOST_MEASURED && results[1].state == HOST_MEASURED)
            differences[count++] = results[1].cycles - results[0].cycles;
    qsort(differences, count, sizeof *differences, compare);
    const double missing = count ? differences[count / 2] : 0;
    return alone >= LEAST_DIFFERENCE ? fmin(alone, missing) : missing;
}

/* Returns the results behind those of the pattern. *learns: the first one's line was fetched. */
static const struct host_result *conclude(struct calibration *calibration,
                                          const struct pattern *pattern,
                                          const struct host_result *results, double missing,
                                          bool *learns) {
    struct finding finding = {.what = pattern->what, .unit = "lines ahead"};
    const unsigned count = probes_of(pattern);
    if (finding_rests_on(&finding, results, 2 + count)) {
        finding.spread = 0;
        for (unsigned i = 0; i < count && results[2 + i].cycles < results[0].cycles + missing / 2;
             i++)
            finding.value = pattern->probes[i] * abs(pattern->step);
        if (missing < LEAST_DIFFERENCE) {
            finding.state = FINDING_UNKNOWN;
            snprintf(finding.note, sizeof finding.note,
                     "a line that is there takes about as long as one that is not");
        }
    }
    if (pattern == PATTERNS)
        *learns = finding.state == FINDING_MEASURED && finding.value > 0;
    else if (*learns && finding.state == FINDING_MEASURED && finding.value > 0)
        snprintf(finding.note, sizeof finding.note, "or learned from other pages");
    calibration_found(calibration, &finding);
    return results + 2 + count;
}

static bool run(struct calibration *calibration, struct error *error) {
    const struct host_data data = {.size = HOST_HUGE_PAGE + PLACES + PLACES / 2 + PLACE,
                                   .huge_pages = true};
    struct kernel_list list = {0};
    bool learns = false;
    for (unsigned i = 0; i < COUNT; i++)
        add_pattern(&list, &data, &PATTERNS[i]);
    const bool good = calibration_measure(calibration, &list, error);
    const struct host_result *results = list.results;
    const double missing = good ? missing_cycles(results) : 0;
    for (unsigned i = 0; good && i < COUNT; i++)
        results = conclude(calibration, &PATTERNS[i], results, missing, &learns);
    kernel_list_free(&list);
    return good;
}

static const char *const KEYS[] = {NULL};
const struct calibrate_part calibrate_prefetch = {
    .name = "prefetch",
    .measures = "lines that are fetched ahead of patterns of loads from memory",
    .keys = KEYS,
    .run = run};
