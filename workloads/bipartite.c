/* bipartite [SWEEPS] [NODES]: relaxation on a bipartite graph, as em3d of the Olden programs.
 *
 * Electric and magnetic nodes; each has eight edges to random nodes of the other side and in every
 * sweep subtracts their weighted values from its own. The edge lists stream, the values they point
 * to miss: many independent misses, limited by the window and the miss status registers. */
#include "workload.h"

enum { DEGREE = 8 };

struct node {
    double value;
    struct node *from[DEGREE];
    double weight[DEGREE];
};

static void connect(struct node *nodes, struct node *others, uint64_t count, uint64_t *seed) {
    for (uint64_t i = 0; i < count; i++) {
        DIVIDE_IF(i % 1024 == 0);
        nodes[i].value = (double)random_below(seed, 1000);
        for (int edge = 0; edge < DEGREE; edge++) {
            nodes[i].from[edge] = &others[random_below(seed, count)];
            nodes[i].weight[edge] = (double)random_below(seed, 100) / 4096;
        }
    }
}

kernel void relax(struct node *nodes, uint64_t count) {
    for (struct node *node = nodes; node < nodes + count; node++) {
        DIVIDE_IF((uintptr_t)node / 8 % 1024 == 0);
        for (int edge = 0; edge < DEGREE; edge++)
            node->value -= node->weight[edge] * node->from[edge]->value;
    }
}

int main(int count, char **arguments) {
    uint64_t sweeps = argument(count, arguments, 1, 6, "sweeps");
    uint64_t size = argument(count, arguments, 2, 100000, "nodes of each side");
    if (size > UINT32_MAX) {
        fprintf(stderr, "bipartite: at most 2^32 - 1 nodes\n");
        return 2;
    }
    struct node *electric = allocate(size, sizeof *electric);
    struct node *magnetic = allocate(size, sizeof *magnetic);
    uint64_t seed = 362436069;
    connect(electric, magnetic, size, &seed);
    connect(magnetic, electric, size, &seed);
    for (uint64_t i = 0; i < sweeps; i++) {
        relax(electric, size);
        relax(magnetic, size);
    }
    double sum = 0;
    for (uint64_t i = 0; i < size; i++)
        sum += electric[i].value + magnetic[i].value;
    printf("bipartite %.6e\n", sum);
    free(electric);
    free(magnetic);
    return 0;
}
