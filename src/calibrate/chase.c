#include "calibrate/chase.h"

#include <math.h>
#include <stdlib.h>

#include "util/random.h"

enum {
    FEWEST_LOADS = 256, /* of a run */
    MOST_LOADS = 2048,
    LONG_LOADS = 1024 /* of a chain that is too long to go around */
};

/* Where chains are continued: on odd lines of the first page. */
static uint64_t cursor(size_t chain) {
    return chain / 4 * CHASE_LINE + CHASE_LINE / 2 + 32 + chain % 4 * 8;
}

/* 0 to count - 1 in a random order. */
static void shuffle(uint32_t *numbers, uint32_t count, uint64_t *state) {
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t j = (uint32_t)(random_next(state) % (i + 1));
        numbers[i] = numbers[j];
        numbers[j] = i;
    }
}

/* Neighbours have different lines, and so have pages at a power of two from each other, as caches
 * are indexed by bits of both. */
static uint64_t turned(const struct chase_shape *shape, uint32_t page) {
    const uint32_t number = page + page / 32 + page / 1024 + shape->phase;
    return shape->turn < 2 ? 0 : (shape->drawn ? random_mix(page) : number) % shape->turn;
}

static uint64_t page_at(const struct chase_shape *shape, uint32_t page) {
    const uint32_t cluster = shape->cluster > 1 ? shape->cluster : 1;
    return page / cluster * shape->stride + page % cluster * shape->step;
}

/* The nodes of the pages from `first` on, in the order of the chase. */
static void put_group(const struct chase_shape *shape, uint32_t first, uint32_t count,
                      uint32_t *pages, uint32_t *lines, uint64_t *nodes, uint64_t *state) {
    shuffle(pages, count, state);
    for (uint32_t i = 0; i < count; i++)
        shuffle(lines + (size_t)i * shape->lines, shape->lines, state);
    for (uint32_t round = 0; round < shape->lines; round++)
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t page = first + pages[i];
            const uint64_t line = lines[(size_t)pages[i] * shape->lines + round];
            *nodes++ = shape->first + page_at(shape, page) + line * shape->spacing +
                       turned(shape, page) * CHASE_LINE + shape->slot * 8;
        }
}

static uint64_t *nodes_of(const struct chase_shape *shape) {
    const uint32_t group = shape->group < shape->pages ? shape->group : shape->pages;
    uint64_t *nodes = calloc((size_t)shape->pages * shape->lines, sizeof *nodes);
    uint32_t *pages = calloc(group, sizeof *pages);
    uint32_t *lines = calloc((size_t)group * shape->lines, sizeof *lines);
    uint64_t state = 1;
    bool good = nodes && pages && lines;
    for (uint32_t first = 0; good && first < shape->pages; first += group) {
        const uint32_t left = shape->pages - first;
        put_group(shape, first, left < group ? left : group, pages, lines,
                  nodes + (size_t)first * shape->lines, &state);
    }
    free(pages);
    free(lines);
    if (!good)
        free(nodes);
    return good ? nodes : NULL;
}

/* Takes the nodes over; without any, the chain stays empty. */
static size_t add(struct chase *chase, uint64_t *nodes, size_t count) {
    const size_t chain = chase->chains++;
    chase->nodes[chain] = nodes;
    chase->counts[chain] = count;
    chase->data.fills = chase->fills;
    chase->data.fill_count = 2 * chase->chains;
    if (!nodes)
        return chain;
    chase->fills[2 * chain] =
        (struct host_fill){.kind = HOST_FILL_CHAIN, .size = count, .chain = nodes};
    chase->fills[2 * chain + 1] =
        (struct host_fill){.kind = HOST_FILL_ADDRESS, .offset = cursor(chain), .target = nodes[0]};
    for (size_t i = 0; i < count; i++)
        if (nodes[i] >= chase->data.size)
            chase->data.size = (nodes[i] / HOST_PAGE + 1) * HOST_PAGE;
    return chain;
}

size_t chase_add(struct chase *chase, const struct chase_shape *shape) {
    return add(chase, nodes_of(shape), (size_t)shape->pages * shape->lines);
}

size_t chase_add_pairs(struct chase *chase, const struct chase_shape *shape, uint64_t distance) {
    const size_t count = (size_t)shape->pages * shape->lines;
    uint64_t *nodes = nodes_of(shape), *pairs = calloc(2 * count, sizeof *pairs);
    for (size_t i = 0; nodes && pairs && i < count; i++) {
        pairs[2 * i] = nodes[i];
        pairs[2 * i + 1] = nodes[i] + distance;
    }
    if (!nodes) {
        free(pairs);
        pairs = NULL;
    }
    free(nodes);
    return add(chase, pairs, 2 * count);
}

bool chase_good(const struct chase *chase, struct error *error) {
    for (size_t i = 0; i < chase->chains; i++)
        if (!chase->nodes[i])
            return error_set(error, "out of memory for a chase of %zu loads", chase->counts[i]);
    return true;
}

void chase_free(struct chase *chase) {
    for (size_t i = 0; i < chase->chains; i++)
        free(chase->nodes[i]);
    *chase = (struct chase){0};
}

struct assembler *chase_kernel_begin(struct kernel_list *list, const struct chase *chase,
                                     size_t chain, double around) {
    const double wanted = around > 0 ? around * (double)chase->counts[chain] : LONG_LOADS;
    const double loads = fmin(fmax(wanted, FEWEST_LOADS), MOST_LOADS);
    const uint64_t once = chase->counts[chain] / CHASE_LOADS + 1;
    const struct host_kernel kernel = {.data = &chase->data,
                                       .iterations = (uint64_t)ceil(loads / CHASE_LOADS),
                                       .warm = around > 0 ? once : LONG_LOADS / CHASE_LOADS,
                                       .precision = 0.02};
    struct assembler *code = kernel_list_add(list, &kernel);
    ASSEMBLE(code, MOV, REG(RAX), MEMORY(R14, (int64_t)cursor(chain), 64));
    return code;
}

void chase_kernel_end(struct assembler *code, size_t chain) {
    ASSEMBLE(code, MOV, MEMORY(R14, (int64_t)cursor(chain), 64), REG(RAX));
}

void chase_kernel(struct kernel_list *list, const struct chase *chase, size_t chain,
                  double around) {
    struct assembler *code = chase_kernel_begin(list, chase, chain, around);
    struct label loop = host_loop_begin(code);
    for (unsigned i = 0; i < CHASE_LOADS; i++)
        ASSEMBLE(code, MOV, REG(RAX), MEMORY(RAX, 0, 64));
    host_loop_end(code, &loop);
    chase_kernel_end(code, chain);
}

double chase_cycles(const struct host_result *result) {
    return result->state == HOST_MEASURED ? result->cycles / CHASE_LOADS : NAN;
}
