/* Memory: latency, how many misses wait at once, bytes per cycle (lmbench, STREAM).
 *
 * Latency: a chase from page to page, far apart, in rounds of the same order, so that it finds
 * another row open in the bank each time. What translation takes is measured by a chase through the
 * same pages in the same order, of one line each, which the last cache holds, against lines of few
 * pages that it holds.
 *
 * Misses: a chase, and with each of its loads others that lie a constant behind it, in regions of
 * their own. As long as all of them wait at once, n take the time of one; when only m can wait, n
 * take n / m times as long (Little 1961). Regions are visited by few pages at a time, so that rows
 * stay open and translations known, but too many for streams to be followed: lines that are fetched
 * ahead make one miss look short, and so the misses at once few.
 *
 * Bandwidth: loads, and stores, of one line after the other. A store fetches its line and sends
 * another one back, so when the misses that wait are what limits them, both move as many lines in a
 * cycle to the core, and stores twice as many over the bus; when the bus does, they move equally
 * many over it. So it is between the L2 and the L1: stores that take longer than loads by what goes
 * back tell that lines in both directions share a bus, and how fast that is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/chase.h"
#include "calibrate/parts.h"
#include "util/order.h"

enum {
    LEAST_REGION = 128 << 20,
    MOST_REGION = 256 << 20,
    PAGE_STRIDE = 4 * HOST_PAGE, /* one page of a row */
    CACHED_LINES = 16,           /* of the 32 even ones of a page */
    /* There a chase that is never around need not be as long as a processor's caches are large. */
    SIMULATED_LINES = 1, /* of a page */
    SIMULATED_PAGES = 1024,
    LIVE_PAGES = 88,     /* more than streams are followed; Redwood Cove follows some among 80 */
    PARALLEL_LINES = 16, /* of a page */
    MANY = 4,            /* loads at once, of which fewer rounds are as good */
    MOST_AT_ONCE = 64,
    STREAM_LINES = 16, /* of an iteration */
    L1_STREAM = 4 * HOST_PAGE,
    L2_ASSUMED = 1 << 20,
    INSIDE = 2,  /* the part of the L2 that a stream goes through */
    OUTSIDE = 4, /* or how many times as much */
    LINE = 64
};

static uint64_t region_bytes(const struct calibration *calibration) {
    const double wanted = 4 * calibration_value(calibration, "llc.size", 56 << 20);
    const double bytes = fmin(fmax(wanted, LEAST_REGION), MOST_REGION);
    return (uint64_t)bytes / HOST_HUGE_PAGE * HOST_HUGE_PAGE;
}

/* ---- latency ---- */

enum { FAR, CACHED, NEAR, LATENCIES };

static void add_latency(struct kernel_list *list, struct chase chases[LATENCIES], uint64_t bytes,
                        bool simulated) {
    const uint32_t pages = (uint32_t)(bytes / PAGE_STRIDE);
    const struct chase_shape far = {.stride = PAGE_STRIDE,
                                    .pages = pages,
                                    .lines = simulated ? SIMULATED_LINES : HOST_PAGE / CHASE_LINE,
                                    .spacing = CHASE_LINE,
                                    .group = pages};
    const struct chase_shape cached = {.stride = PAGE_STRIDE,
                                       .pages = pages,
                                       .lines = 1,
                                       .spacing = CHASE_LINE,
                                       .group = pages,
                                       .turn = CACHED_LINES,
                                       .drawn = true};
    const struct chase_shape near = {.stride = HOST_PAGE,
                                     .pages = 2 * pages / (HOST_PAGE / CHASE_LINE),
                                     .lines = HOST_PAGE / CHASE_LINE,
                                     .spacing = CHASE_LINE,
                                     .group = CHASE_GROUP};
    const struct chase_shape *const shapes[LATENCIES] = {&far, &cached, &near};
    for (unsigned i = 0; i < LATENCIES; i++) {
        chases[i].data.huge_pages = true;
        chase_kernel(list, &chases[i], chase_add(&chases[i], shapes[i]), i == FAR ? 0 : 1);
    }
}

/* Share of a load: where translation takes more, what is left of it says nothing. */
static const double MOST_TRANSLATION = 0.5;

static void conclude_latency(struct calibration *calibration,
                             const struct host_result results[LATENCIES]) {
    struct finding finding = {
        .key = "memory.load_to_use", .what = "memory load to use", .unit = "cycles"};
    if (finding_rests_on(&finding, results, LATENCIES)) {
        const double translation = chase_cycles(&results[CACHED]) - chase_cycles(&results[NEAR]);
        finding.value = chase_cycles(&results[FAR]) - fmax(translation, 0);
        finding.spread /= CHASE_LOADS;
        if (translation > MOST_TRANSLATION * chase_cycles(&results[FAR])) {
            finding.state = FINDING_UNKNOWN;
            snprintf(finding.note, sizeof finding.note, "translation takes most of it: %.4g cycles",
                     translation);
        }
    }
    calibration_found(calibration, &finding);
}

/* ---- misses at once ---- */

static const unsigned PARALLEL[] = {1,  2,  4,  6,  8,  10, 12, 14, 16, 18,
                                    20, 22, 24, 28, 32, 36, 40, 48, 56, 64};
enum { PARALLELS = sizeof PARALLEL / sizeof *PARALLEL };
/* From so many times the time of one on, misses wait for each other. */
static const double SATURATED = 1.2;
static const double NEAR_BANDWIDTH = 0.8;
enum { FEWEST_SATURATED = 2 };

/* Loads n places at once: those of the chain, and others behind it. */
static void add_parallel(struct kernel_list *list, struct chase *chase, unsigned n,
                         bool simulated) {
    const uint32_t live = (LIVE_PAGES + n - 1) / n, most = MOST_REGION / HOST_PAGE / n;
    const uint32_t pages = simulated && most > SIMULATED_PAGES ? SIMULATED_PAGES : most;
    const int64_t apart = ((int64_t)most + live) * HOST_PAGE;
    const struct chase_shape shape = {.stride = HOST_PAGE,
                                      .pages = pages,
                                      .lines = PARALLEL_LINES,
                                      .spacing = CHASE_LINE,
                                      .group = live};
    const size_t chain = chase_add(chase, &shape);
    const uint64_t end = n * (uint64_t)apart + HOST_PAGE;
    chase->data.size = end > chase->data.size ? end / HOST_PAGE * HOST_PAGE : chase->data.size;
    struct assembler *code = chase_kernel_begin(list, chase, chain, 0);
    if (n > MANY) {
        struct host_kernel *kernel = &list->kernels[list->count - 1];
        kernel->iterations = n < MOST_AT_ONCE ? MOST_AT_ONCE / n + 1 : 2;
        kernel->warm = kernel->iterations;
    }
    chase->data.huge_pages = true;
    struct label loop = host_loop_begin(code);
    for (unsigned load = 0; load < CHASE_LOADS; load++) {
        ASSEMBLE(code, MOV, REG(RBX), REG(RAX));
        ASSEMBLE(code, MOV, REG(RAX), MEMORY(RAX, 0, 64));
        for (unsigned i = 1; i < n; i++)
            ASSEMBLE(code, MOV, REG(RCX),
                     MEMORY(RBX, i * apart + i % PARALLEL_LINES * CHASE_LINE, 64));
    }
    host_loop_end(code, &loop);
    chase_kernel_end(code, chain);
}

ORDER(compare, double, ascending(*a, *b))

/* Numbers of misses at once, of those n that take longer than one; sorted. What takes longer than
 * more at once do was held up by something else: banks that many of them share, other load. */
static size_t parallel_misses(const struct host_result *results, double misses[PARALLELS]) {
    const double alone = chase_cycles(&results[0]);
    double least = INFINITY;
    size_t count = 0;
    for (unsigned i = PARALLELS; i-- > 0;) {
        least = fmin(least, chase_cycles(&results[i]));
        if (least > SATURATED * alone && isfinite(least))
            misses[count++] = PARALLEL[i] * alone / least;
    }
    qsort(misses, count, sizeof *misses, compare);
    return count;
}

/* `bandwidth`: of memory, in bytes per cycle; a prefetcher may add a line to each miss. */
static void conclude_parallel(struct calibration *calibration, const struct host_result *results,
                              double bandwidth) {
    struct finding finding = {.key = "l1d.mshrs", .what = "misses at once", .unit = "lines"};
    struct finding near = {.what = "memory, pages visited before", .unit = "cycles"};
    double misses[PARALLELS];
    const size_t count = parallel_misses(results, misses);
    if (finding_rests_on(&near, results, 1)) {
        near.value = chase_cycles(&results[0]);
        near.spread /= CHASE_LOADS;
    }
    calibration_found(calibration, &near);
    if (finding_rests_on(&finding, results, 1) && count >= FEWEST_SATURATED) {
        finding.value = misses[count / 2];
        finding.spread = (misses[count - 1 - count / 4] - misses[count / 4]) / 2;
    } else if (finding.state == FINDING_MEASURED) {
        finding.state = FINDING_UNKNOWN;
        snprintf(finding.note, sizeof finding.note, "up to %u take about as long as one",
                 PARALLEL[PARALLELS - 1 - count]);
    }
    if (finding.value * 2 * LINE / chase_cycles(&results[0]) > NEAR_BANDWIDTH * bandwidth) {
        finding.state = FINDING_UNKNOWN;
        snprintf(finding.note, sizeof finding.note, "memory's bandwidth limits them before");
    }
    calibration_found(calibration, &finding);
}

/* ---- bandwidth ---- */

/* Stores move each line twice. Those that move more than so many times what loads do over the bus
 * are not limited by it: of buses that a core fills they move up to 1.13 times as much, and others,
 * where walks of page tables slow both down, 1.29 times. */
static const double BUS_SHARE = 1.2;
/* Stores that take less than so many times what loads do are not slowed down by what is written
 * back. */
static const double BACK_SHARE = 1.5;

/* The place is kept between runs in the data's first bytes. */
static void add_stream(struct kernel_list *list, const struct host_data *data, uint64_t warm,
                       bool stores) {
    const struct host_kernel kernel = {
        .data = data, .iterations = 256, .warm = warm, .precision = 0.02};
    struct assembler *code = kernel_list_add(list, &kernel);
    ASSEMBLE(code, MOV, REG(RAX), MEMORY(R14, 0, 64));
    ASSEMBLE(code, MOV, REG(RCX), REG(R14));
    ASSEMBLE(code, ADD, REG(RCX), IMMEDIATE((int64_t)data->size));
    struct label loop = host_loop_begin(code);
    for (unsigned i = 0; i < STREAM_LINES; i++)
        if (stores)
            ASSEMBLE(code, MOV, MEMORY(RAX, i * LINE, 64), REG(RBX));
        else
            ASSEMBLE(code, MOV, REG(RBX), MEMORY(RAX, i * LINE, 64));
    ASSEMBLE(code, ADD, REG(RAX), IMMEDIATE(STREAM_LINES * LINE));
    ASSEMBLE(code, LEA, REG(RDX), MEMORY(R14, HOST_PAGE, 64));
    ASSEMBLE(code, CMP, REG(RAX), REG(RCX));
    ASSEMBLE(code, CMOVNB, REG(RAX), REG(RDX));
    host_loop_end(code, &loop);
    ASSEMBLE(code, MOV, MEMORY(R14, 0, 64), REG(RAX));
}

static void conclude_stream(struct calibration *calibration, const char *what,
                            const struct host_result *result) {
    struct finding finding = {.what = what, .unit = "B/cycle"};
    if (finding_rests_on(&finding, result, 1)) {
        finding.value = STREAM_LINES * LINE / result->cycles;
        finding.spread *= finding.value / result->cycles;
    }
    calibration_found(calibration, &finding);
}

/* Of memory; infinite: it is not known. */
static double conclude_bandwidth(struct calibration *calibration,
                                 const struct host_result results[2]) {
    static const char *const WHAT[2] = {"loads of a stream", "stores of a stream"};
    struct finding bus = {.key = "memory.bandwidth", .what = "memory bandwidth", .unit = "B/cycle"};
    for (unsigned stores = 0; stores < 2; stores++)
        conclude_stream(calibration, WHAT[stores], &results[stores]);
    if (finding_rests_on(&bus, results, 2)) {
        bus.value = 2 * STREAM_LINES * LINE / results[1].cycles;
        bus.spread *= bus.value / results[1].cycles;
        if (bus.value > BUS_SHARE * (STREAM_LINES * LINE / results[0].cycles)) {
            bus.state = FINDING_UNKNOWN;
            snprintf(bus.note, sizeof bus.note,
                     "the misses of a core do not fill it: at least %.3g B/cycle", bus.value);
        }
    }
    calibration_found(calibration, &bus);
    return bus.state == FINDING_MEASURED ? bus.value : INFINITY;
}

/* ---- bandwidth of caches ---- */

/* Streams by the level that has them, loads before stores. */
enum { OF_L1, OF_L2, OF_LLC, STREAMED, STREAMS = 2 * STREAMED };

static void add_cache_streams(struct kernel_list *list, struct host_data data[STREAMED],
                              const struct calibration *calibration, const struct host_fill *fill) {
    const double l2 = calibration_value(calibration, "l2.size", L2_ASSUMED);
    const double bytes[STREAMED] = {L1_STREAM, l2 / INSIDE, l2 * OUTSIDE};
    for (unsigned i = 0; i < STREAMS; i++) {
        struct host_data *place = &data[i / 2];
        const uint64_t pages = (uint64_t)(bytes[i / 2] / HOST_PAGE);
        *place = (struct host_data){
            .size = pages * HOST_PAGE, .huge_pages = true, .fills = fill, .fill_count = 1};
        add_stream(list, place, place->size / (STREAM_LINES * LINE), i % 2);
    }
}

/* A stream of stores brings a line and sends one back: what it takes beyond one of loads, and
 * beyond stores to lines that the L1 has, goes back, if the two share a bus. */
static void conclude_caches(struct calibration *calibration,
                            const struct host_result results[STREAMS]) {
    static const char *const WHAT[STREAMS] = {NULL,
                                              NULL,
                                              "loads of a stream in the L2",
                                              "stores of a stream in the L2",
                                              "loads of a stream beyond it",
                                              "stores of a stream beyond it"};
    const struct host_result *l2 = &results[2];
    struct finding bus = {.key = "l2.bandwidth", .what = "L2 bandwidth", .unit = "B/cycle"};
    struct finding back = {
        .key = "l2.write_bandwidth", .what = "of what is written back", .unit = "B/cycle"};
    for (unsigned i = 2; i < STREAMS; i++)
        conclude_stream(calibration, WHAT[i], &results[i]);
    if (finding_rests_on(&bus, results, 4) && finding_rests_on(&back, results, 4)) {
        const double more = l2[1].cycles - l2[0].cycles;
        bus.value = STREAM_LINES * LINE / l2[0].cycles;
        bus.spread *= bus.value / l2[0].cycles;
        back.value = STREAM_LINES * LINE / more;
        back.spread *= back.value / more;
        if (l2[1].cycles < BACK_SHARE * fmax(l2[0].cycles, results[1].cycles)) {
            bus.state = back.state = FINDING_UNKNOWN;
            snprintf(bus.note, sizeof bus.note,
                     "stores take no longer than loads: misses may limit both");
        }
    }
    calibration_found(calibration, &bus);
    calibration_found(calibration, &back);
}

/* ---- all ---- */

enum { CHASES = LATENCIES + PARALLELS };

static bool run(struct calibration *calibration, struct error *error) {
    const uint64_t bytes = region_bytes(calibration);
    const bool simulated = calibration->meter->simulated;
    const struct host_fill fill = {.kind = HOST_FILL_ADDRESS, .target = HOST_PAGE};
    const struct host_data data = {
        .size = bytes, .huge_pages = true, .fills = &fill, .fill_count = 1};
    struct chase *chases = calloc(CHASES, sizeof *chases);
    struct host_data cached[STREAMED];
    struct kernel_list list = {0};
    bool good = chases || error_set(error, "out of memory for chases");
    if (good)
        add_latency(&list, chases, bytes, simulated);
    for (unsigned i = 0; good && i < PARALLELS; i++)
        add_parallel(&list, &chases[LATENCIES + i], PARALLEL[i], simulated);
    for (unsigned stores = 0; good && stores < 2; stores++)
        add_stream(&list, &data, stores ? bytes / 3 / (STREAM_LINES * LINE) : 1, stores);
    if (good)
        add_cache_streams(&list, cached, calibration, &fill);
    for (unsigned i = 0; good && i < CHASES; i++)
        good = chase_good(&chases[i], error);
    good = good && calibration_measure_fastest(calibration, &list, error);
    if (good) {
        conclude_latency(calibration, list.results);
        const double bandwidth = conclude_bandwidth(calibration, list.results + CHASES);
        conclude_parallel(calibration, list.results + LATENCIES, bandwidth);
        conclude_caches(calibration, list.results + CHASES + 2);
    }
    kernel_list_free(&list);
    for (unsigned i = 0; chases && i < CHASES; i++)
        chase_free(&chases[i]);
    free(chases);
    return good;
}

static const char *const KEYS[] = {"dram.base_latency",
                                   "dram.latency",
                                   "dram.bandwidth",
                                   "l1d.mshrs",
                                   "l2.bandwidth",
                                   "l2.write_bandwidth",
                                   NULL};
const struct calibrate_part calibrate_memory = {.name = "memory",
                                                .measures =
                                                    "latency of memory, misses at once, bandwidth",
                                                .keys = KEYS,
                                                .run = run};
