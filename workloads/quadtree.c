/* quadtree [TRAVERSALS] [LEVELS]: recursion over a pointer tree, as perimeter and health of the
 * Olden programs.
 *
 * A quadtree of an image (a disc), its nodes allocated in random order of memory; each traversal
 * visits every node by recursion and counts the leaves' edges. Calls and returns, data-dependent
 * branches, and loads whose four addresses are known together. */
#include "workload.h"

struct quad {
    struct quad *child[4];
    uint32_t colour; /* 0 white, 1 black, 2 mixed: has children */
    uint32_t size;   /* edge of the square */
};

struct pool {
    struct quad *quads;
    uint32_t *order; /* shuffled: the n-th allocation takes quads[order[n]] */
    uint64_t used, count;
};

static struct pool pool_new(uint64_t count) {
    struct pool pool = {allocate(count, sizeof(struct quad)), allocate(count, sizeof(uint32_t)), 0,
                        count};
    uint64_t seed = 521288629;
    for (uint64_t i = 0; i < count; i++)
        pool.order[i] = (uint32_t)i;
    for (uint64_t i = count - 1; i > 0; i--) {
        uint64_t other = random_below(&seed, i + 1);
        uint32_t swapped = pool.order[i];
        pool.order[i] = pool.order[other];
        pool.order[other] = swapped;
    }
    return pool;
}

/* Colour of the square at (x, y) of edge `size` against the disc of radius `radius` around 0. */
static uint32_t colour_of(int64_t x, int64_t y, int64_t size, int64_t radius) {
    int64_t near_x = x > 0 ? x : x + size < 0 ? x + size : 0;
    int64_t near_y = y > 0 ? y : y + size < 0 ? y + size : 0;
    int64_t far_x = llabs(x) > llabs(x + size) ? x : x + size;
    int64_t far_y = llabs(y) > llabs(y + size) ? y : y + size;
    if (near_x * near_x + near_y * near_y >= radius * radius)
        return 0;
    return far_x * far_x + far_y * far_y <= radius * radius ? 1 : 2;
}

static struct quad *build(struct pool *pool, int64_t x, int64_t y, int64_t size, int64_t radius) {
    if (pool->used == pool->count) {
        fprintf(stderr, "quadtree: the pool is too small\n");
        exit(1);
    }
    struct quad *quad = &pool->quads[pool->order[pool->used++]];
    quad->size = (uint32_t)size;
    quad->colour = colour_of(x, y, size, radius);
    if (quad->colour == 2 && size == 1)
        quad->colour = 1;
    if (quad->colour == 2)
        for (int i = 0; i < 4; i++)
            quad->child[i] =
                build(pool, x + (i & 1) * size / 2, y + (i >> 1) * size / 2, size / 2, radius);
    return quad;
}

kernel uint64_t perimeter(const struct quad *quad) {
    if (quad->colour == 0)
        return 0;
    if (quad->colour == 1)
        return 4 * (uint64_t)quad->size;
    uint64_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum += perimeter(quad->child[i]);
    return sum;
}

int main(int count, char **arguments) {
    uint64_t traversals = argument(count, arguments, 1, 30, "traversals");
    uint64_t levels = argument(count, arguments, 2, 14, "levels");
    if (levels > 20) {
        fprintf(stderr, "quadtree: at most 20 levels\n");
        return 2;
    }
    int64_t size = 1ll << levels;
    struct pool pool = pool_new((uint64_t)size * 16 + 64); /* the rim grows with the edge */
    struct quad *root = build(&pool, -size / 2, -size / 2, size, size * 2 / 5);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < traversals; i++)
        sum = sum * 3 + perimeter(root);
    printf("quadtree %" PRIu64 " of %" PRIu64 " quads\n", sum, pool.used);
    free(pool.quads);
    free(pool.order);
    return 0;
}
