/* slow: a list is made, walked, and numbers are summed, a phase each. With STEP nodes from one to
 * the next each is in another page than the one before, and the walk misses the TLB; with -DSTEP=1
 * they lie in order. */
#include <stdio.h>
#include <stdlib.h>

#ifndef STEP
#define STEP 7919
#endif
enum { NODES = 20000, WALKS = 3, SUMS = 6 };

struct node {
    long key;
    struct node *next;
    char rest[48];
};

__attribute__((noipa)) long walk(const struct node *node) {
    long sum = 0;
    for (; node; node = node->next)
        sum += node->key;
    return sum;
}

__attribute__((noipa)) long count(const int *table) {
    long found = 0;
    for (int i = 0; i < NODES; i++)
        if (table[i] & 1)
            found += table[i];
    return found;
}

int main(void) {
    struct node *nodes = malloc(NODES * sizeof *nodes);
    int *table = malloc(NODES * sizeof *table);
    unsigned seed = 1;
    long sum = 0;
    for (long i = 0; i < NODES; i++) {
        seed = seed * 1103515245 + 12345;
        table[i] = (int)(seed >> 16);
        nodes[i * STEP % NODES].key = i;
        nodes[i * STEP % NODES].next = i + 1 < NODES ? &nodes[(i + 1) * STEP % NODES] : NULL;
    }
    for (int i = 0; i < WALKS; i++)
        sum += walk(nodes);
    for (int i = 0; i < SUMS; i++)
        sum += count(table);
    printf("%ld\n", sum);
    free(nodes);
    free(table);
    return 0;
}
