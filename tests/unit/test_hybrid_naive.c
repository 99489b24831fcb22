/* The hybrid model's fast form against its plain one (swam.h) on random programs; configurations
 * side by side against each alone; and the sliding reorder buffer against one µop at a time.
 *
 * Latency × width is a power of two here, so that lengths in units of the latency are exact. */
#include <math.h>

#include "model/swam.h"
#include "unit/data_program.h"

enum { LINES = 6000, BLOCKS = 1500, REGISTERS = 12, BLOCK = 64 };

struct block {
    bool there, prefetched, used;
    uint32_t fetched_by;
};

static uint32_t draw(uint32_t *random, uint32_t below) {
    *random = *random * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)*random * below >> 32);
}

/* Loads read the first half of a block and stores write the second, so that nothing is forwarded.
 */
static void make_lines(struct line *lines, uint32_t seed) {
    uint32_t random = seed;
    for (uint32_t i = 0; i < LINES; i++) {
        const uint8_t to = (uint8_t)(1 + draw(&random, REGISTERS));
        const uint8_t from = (uint8_t)(1 + draw(&random, REGISTERS));
        const uint8_t also = (uint8_t)(1 + draw(&random, REGISTERS));
        const uint32_t place = draw(&random, 3) ? i / 4 : draw(&random, BLOCKS);
        const uint64_t address = 0x100000 + BLOCK * (uint64_t)place + 8 * draw(&random, 3);
        const uint32_t kind = draw(&random, 20);
        if (kind < 3)
            lines[i] = LOAD(to, draw(&random, 2) ? from : NO, address);
        else if (kind == 3)
            lines[i] = STORE(also, from, address + 32);
        else if (kind < 8)
            lines[i] = OPERATION(to, NO, NO);
        else
            lines[i] = OPERATION(to, from, also);
    }
}

static bool bring(struct block *blocks, uint64_t block, uint32_t i) {
    if (blocks[block].there)
        return false;
    blocks[block] = (struct block){.there = true, .prefetched = true, .fetched_by = i};
    return true;
}

/* By caches without evictions. */
static void label_lines(struct swam_insn *labels, const struct line *lines,
                        enum prefetcher_kind prefetcher) {
    struct block *blocks = calloc(2 * LINES, sizeof *blocks);
    uint32_t writers[REGISTERS + 1];
    memset(writers, 0xff, sizeof writers);
    for (uint32_t i = 0; i < LINES; i++) {
        struct swam_insn *label = &labels[i];
        *label = (struct swam_insn){.load = lines[i].operation == OP_LOAD,
                                    .store = lines[i].operation == OP_STORE};
        const uint8_t sources[] = {lines[i].from, lines[i].also};
        for (int k = 0; k < 2; k++)
            if (sources[k] != NO && writers[sources[k]] != UINT32_MAX)
                label->producers[label->producer_count++] = writers[sources[k]];
        if (lines[i].to != NO)
            writers[lines[i].to] = i;
        if (!label->load && !label->store)
            continue;
        const uint64_t number = (lines[i].address - 0x100000) / BLOCK;
        struct block *block = &blocks[number];
        label->missed = !block->there;
        label->prefetched = block->prefetched;
        label->first_use = block->prefetched && !block->used;
        if (!block->there)
            *block = (struct block){.there = true, .fetched_by = i};
        label->fetched_by = block->fetched_by;
        block->used = true;
        if ((prefetcher != PREFETCH_NONE && label->missed) ||
            (prefetcher == PREFETCH_TAGGED && label->first_use))
            label->triggers = bring(blocks, number + 1, i);
    }
    free(blocks);
}

/* A reorder buffer that slides (sliding.h), µop by µop, with unlimited MSHRs: cycles in all. Times
 * are in µops. Hits are looked at as far back as the data trace tells of them. */
static double slide(const struct hybrid_config *config, const struct swam_insn *labels,
                    struct data_reach reach, double latency) {
    double *done = calloc(LINES, sizeof *done), *commit = calloc(LINES, sizeof *commit);
    double *asked = calloc(LINES, sizeof *asked), *prefetched = calloc(LINES, sizeof *prefetched);
    double dispatched = -1, committed = -1;
    for (uint32_t i = 0; i < LINES; i++) {
        const struct swam_insn *label = &labels[i];
        dispatched++;
        if (i >= config->rob && commit[i - config->rob] > dispatched)
            dispatched = commit[i - config->rob];
        double begin = dispatched;
        for (uint32_t k = 0; k < label->producer_count; k++)
            begin = fmax(begin, done[label->producers[k]]);
        done[i] = begin;
        asked[i] = prefetched[i] = INFINITY;
        const uint32_t back = i - label->fetched_by;
        if (label->load && label->missed) {
            asked[i] = begin;
            done[i] = begin + latency;
        } else if (label->load && back < (label->prefetched ? reach.arrival : reach.window)) {
            double *block =
                label->prefetched ? &prefetched[label->fetched_by] : &asked[label->fetched_by];
            *block = fmin(*block, begin);
            done[i] = fmax(begin, *block + latency);
        }
        committed = fmax(committed + 1, done[i]);
        commit[i] = committed;
        if (label->store && label->missed)
            asked[i] = committed;
        if (label->triggers)
            prefetched[i] = label->store && label->missed ? committed : begin;
    }
    free(done);
    free(commit);
    free(asked);
    free(prefetched);
    return committed / config->width;
}

static struct hybrid_config draw_config(uint32_t *random, enum prefetcher_kind prefetcher) {
    struct hybrid_config config = {.rob = 1 + draw(random, 200),
                                   .width = 1u << draw(random, 3),
                                   .latency = 64u << draw(random, 3),
                                   .prefetching = prefetcher != PREFETCH_NONE,
                                   .pending_hits = draw(random, 4) != 0,
                                   .hit_latency = 1 + draw(random, 20),
                                   .windows = (enum hybrid_windows)draw(random, 4),
                                   .compensation = COMPENSATE_WINDOW,
                                   .parts = draw(random, 2) ? PARTS_ALL : draw(random, 8)};
    if (draw(random, 2) && config.windows != WINDOWS_SLIDING)
        config.mshrs = 1 + draw(random, config.rob < 16 ? config.rob : 16);
    return config;
}

static void assert_same(const struct hybrid_result *one, const struct hybrid_result *other) {
    assert_true(one->serialized == other->serialized);
    assert_true(one->misses == other->misses);
    assert_true(one->tardy == other->tardy);
    assert_true(one->distance == other->distance);
    assert_true(one->compensation == other->compensation);
}

static void check_sliding(const struct hybrid_config *config, const struct program_trace *program,
                          const struct machine *machine, const struct swam_insn *labels) {
    const struct data_reach reach = {config->rob, hybrid_arrival_reach(config)};
    struct event_list *list = events_of(program, machine, reach);
    const uint32_t hit = config->hit_latency * config->width;
    const double real = slide(config, labels, reach, hit + config->latency * config->width);
    assert_true(evaluate(config, list->events, list->count).cycles ==
                real - slide(config, labels, reach, hit));
    free(list);
}

enum { CONFIGS = 40 };

static void check_program(uint32_t seed, enum prefetcher_kind prefetcher, double *tardy) {
    struct line *lines = calloc(LINES, sizeof *lines);
    struct swam_insn *labels = calloc(LINES, sizeof *labels);
    struct hybrid_config configs[CONFIGS];
    uint32_t random = seed + 1;
    struct data_reach reach = {0};
    for (int i = 0; i < CONFIGS; i++) {
        configs[i] = draw_config(&random, prefetcher);
        const uint32_t arrival = hybrid_arrival_reach(&configs[i]);
        reach.window = configs[i].rob > reach.window ? configs[i].rob : reach.window;
        reach.arrival = arrival > reach.arrival ? arrival : reach.arrival;
    }
    make_lines(lines, seed);
    label_lines(labels, lines, prefetcher);
    struct program_trace *program = new_program(lines, LINES);
    const struct machine machine = roomy_machine(prefetcher);
    struct event_list *list = events_of(program, &machine, reach);
    struct error error;
    struct hybrid *together = hybrid_new(configs, CONFIGS, &error);
    assert_non_null(together);
    hybrid_add(together, list->events, list->count / 3);
    hybrid_add(together, list->events + list->count / 3, list->count - list->count / 3);
    for (int i = 0; i < CONFIGS; i++) {
        const struct hybrid_result result = hybrid_result(together, i);
        const struct hybrid_result alone = evaluate(&configs[i], list->events, list->count);
        assert_same(&result, &alone);
        assert_true(result.misses > 100);
        if (configs[i].windows == WINDOWS_SLIDING) {
            check_sliding(&configs[i], program, &machine, labels);
            continue;
        }
        struct hybrid_result expected;
        assert_true(swam(&configs[i], labels, LINES, &expected, &error));
        assert_same(&result, &expected);
        *tardy += result.tardy;
    }
    hybrid_free(together);
    free(list);
    free(program);
    free(labels);
    free(lines);
}

static void as_the_paper_says(void **state) {
    (void)state;
    const enum prefetcher_kind kinds[] = {PREFETCH_NONE, PREFETCH_ON_MISS, PREFETCH_TAGGED};
    for (int kind = 0; kind < 3; kind++) {
        double tardy = 0;
        for (uint32_t seed = 1; seed <= 20; seed++)
            check_program(seed, kinds[kind], &tardy);
        assert_true(kinds[kind] == PREFETCH_NONE ? tardy == 0 : tardy > 100);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_paper_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
