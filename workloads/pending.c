/* pending [STEPS] [NODES]: linked nodes whose fields share a cache line (pending hits).
 *
 * Each step loads a node's value, which misses, and then its next pointer, which lies in the same
 * line and hits a miss that is already under way. The next node's address comes from that pending
 * hit: misses which share no address are in series all the same. A model that takes a pending hit
 * for a hit believes them parallel (hybrid analytical model, §3.1). */
#include "workload.h"

struct node {
    uint64_t value;
    struct node *next;
    uint64_t unused[6];
};

static void link_nodes(struct node *nodes, uint64_t count) {
    uint64_t seed = 1181783497276652981;
    for (uint64_t i = 0; i < count; i++) {
        nodes[i].value = i;
        nodes[i].next = &nodes[i];
    }
    for (uint64_t i = count - 1; i > 0; i--) { /* Sattolo: stays one cycle */
        uint64_t other = random_below(&seed, i);
        struct node *swapped = nodes[i].next;
        nodes[i].next = nodes[other].next;
        nodes[other].next = swapped;
    }
}

kernel uint64_t sum_values(const struct node *node, uint64_t steps) {
    uint64_t sum = 0;
    while (steps--) {
        sum += node->value ^ steps;
        node = node->next;
    }
    return sum;
}

int main(int count, char **arguments) {
    uint64_t steps = argument(count, arguments, 1, 4000000, "steps");
    uint64_t size = argument(count, arguments, 2, 1 << 20, "nodes");
    if (size > UINT32_MAX) {
        fprintf(stderr, "pending: at most 2^32 - 1 nodes\n");
        return 2;
    }
    struct node *nodes = allocate(size, sizeof *nodes);
    link_nodes(nodes, size);
    printf("pending %" PRIu64 "\n", sum_values(nodes, steps));
    free(nodes);
    return 0;
}
