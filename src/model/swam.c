/* Profiling with windows (Chen 2009 chapter 2): a window is a reorder buffer's worth of
 * instructions, and costs as many memory latencies as the longest chain of misses in it that wait
 * for each other. SWAM windows start with a miss, plain ones where the last ended. See swam.h.
 *
 * length(i) is the chain up to the end of instruction i, lat(i) what of it is its own access, both
 * in units of the memory latency; its access begins at length(i) − lat(i). */
#include "model/swam.h"

#include <math.h>
#include <stdlib.h>

struct chain {
    double length, lat;
};

struct window {
    const struct hybrid_config *config;
    const struct swam_insn *insns;
    struct chain *chains; /* of each instruction */
    uint32_t start, end;  /* [start, end), the end of the instructions apart */
    double longest;       /* of its loads */
    uint32_t taken;       /* MSHRs */
};

/* What the instruction at hand is to its window. */
struct access {
    double operands; /* the longest chain among its producers */
    struct chain chain;
    bool waits;     /* a load, for memory: a miss */
    bool tardy;     /* it overtook the prefetch of its block */
    uint32_t mshrs; /* that it takes */
};

/* Fig. 2.5, part A: what is left of the latency of a block that was asked for so many instructions
 * ago. */
static double latency_left(const struct hybrid_config *config, uint32_t back) {
    const double left = fmax(config->latency - (double)back / config->width, 0);
    return left > 0 && !(config->parts & PART_A) ? 1 : left / config->latency;
}

/* §2.2.5: a load that misses, or hits a block that a prefetch is bringing. With MSHRs a store that
 * misses, too. */
static bool starts_window(const struct hybrid_config *config, const struct swam_insn *insn,
                          uint32_t number) {
    if (insn->missed)
        return insn->load || config->mshrs;
    return insn->load && insn->prefetched && config->pending_hits &&
           latency_left(config, number - insn->fetched_by) > 0;
}

/* A hit on a block that is on its way: without prefetching it waits for the access that fetches it
 * (§2.2.1), with prefetching it goes by Fig. 2.5. An access before the window has a chain of 0. */
static void pending_hit(const struct window *window, uint32_t number, struct access *access) {
    const struct hybrid_config *config = window->config;
    const struct swam_insn *insn = &window->insns[number];
    const bool inside = insn->fetched_by >= window->start;
    const struct chain prev = inside ? window->chains[insn->fetched_by] : (struct chain){0};
    const double issued = prev.length - prev.lat, operands = access->operands;
    const double lat = latency_left(config, number - insn->fetched_by);
    if (!config->prefetching) {
        const double length = fmax(operands, prev.length);
        access->chain = (struct chain){length, length - issued};
    } else if (config->parts & PART_B && operands < issued) { /* tardy: a miss */
        access->chain = (struct chain){operands + 1, 1};
        access->tardy = insn->first_use;
    } else { /* partly hidden, or fully */
        const double from = config->parts & PART_C ? issued : fmax(issued, operands);
        const double length = fmax(operands, from + lat);
        access->chain = (struct chain){length, length - operands};
    }
    /* A prefetch of this window holds its MSHR already. */
    access->waits = insn->first_use && access->chain.length > operands;
    access->mshrs = access->waits && (access->tardy || !inside);
}

static struct access access_of(const struct window *window, uint32_t number) {
    const struct swam_insn *insn = &window->insns[number];
    struct access access = {0};
    for (uint32_t i = 0; i < insn->producer_count; i++)
        if (insn->producers[i] >= window->start)
            access.operands = fmax(access.operands, window->chains[insn->producers[i]].length);
    access.chain.length = access.operands;
    if (insn->missed) {
        access.chain = (struct chain){access.operands + 1, 1};
        access.waits = insn->load;
        access.mshrs = 1;
    } else if (insn->load && window->config->pending_hits &&
               (insn->prefetched || insn->fetched_by >= window->start)) {
        pending_hit(window, number, &access);
    }
    access.mshrs += insn->triggers;
    return access;
}

/* §2.2.4: the window ends with the access that takes the last MSHR, and costs a latency at least.
 * SWAM-MLP: one that waits for another of its window takes none yet; a store that misses takes its
 * own when it has committed, whatever it waited for. */
static void take_mshrs(struct window *window, const struct access *access, uint32_t number) {
    const struct hybrid_config *config = window->config;
    const struct swam_insn *insn = &window->insns[number];
    const bool independent = access->operands == 0 || (insn->store && insn->missed);
    if (config->windows == WINDOWS_SWAM_MLP && !independent)
        return;
    window->taken += access->mshrs;
    if (config->mshrs && access->mshrs && window->taken >= config->mshrs) {
        window->longest = fmax(window->longest, 1);
        window->end = number + 1;
    }
}

/* Misses so far, and the instructions between them. */
struct misses {
    uint32_t last;
    double distance;
};

static void count_access(struct hybrid_result *result, struct misses *misses,
                         const struct access *access, uint32_t number, uint32_t rob) {
    result->tardy += access->tardy;
    if (!access->waits)
        return;
    if (result->misses++ > 0)
        misses->distance += fmin(number - misses->last, rob);
    misses->last = number;
}

static double hidden(const struct window *window, uint32_t next) {
    const struct hybrid_config *config = window->config;
    const double uops = window->longest * config->latency * config->width;
    return fmin(fmin(next - window->start, config->rob), uops);
}

static void profile(struct window *window, uint32_t count, struct hybrid_result *result) {
    const struct hybrid_config *config = window->config;
    const bool plain = config->windows == WINDOWS_PLAIN;
    struct misses misses = {0};
    double hides = 0;
    for (uint32_t number = 0;;) {
        while (!plain && number < count && !starts_window(config, &window->insns[number], number))
            number++;
        if (number >= count)
            break;
        hides += hidden(window, number);
        window->start = number;
        window->end = number + config->rob;
        window->longest = window->taken = 0;
        for (; number < count && number < window->end; number++) {
            const struct access access = access_of(window, number);
            window->chains[number] = access.chain;
            if (window->insns[number].load)
                window->longest = fmax(window->longest, access.chain.length);
            count_access(result, &misses, &access, number, config->rob);
            take_mshrs(window, &access, number);
        }
        result->serialized += window->longest;
    }
    hides += hidden(window, plain ? window->end : window->start + config->rob);
    result->compensation = hides / config->width;
    if (result->misses > 1)
        result->distance = misses.distance / (result->misses - 1);
}

bool swam(const struct hybrid_config *config, const struct swam_insn *insns, uint32_t count,
          struct hybrid_result *result, struct error *error) {
    struct window window = {.config = config, .insns = insns};
    *result = (struct hybrid_result){0};
    window.chains = calloc((size_t)count + 1, sizeof *window.chains);
    if (!window.chains)
        return error_set(error, "out of memory for the windows of %u instructions", count);
    profile(&window, count, result);
    free(window.chains);
    return true;
}
