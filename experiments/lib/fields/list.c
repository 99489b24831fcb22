/* A list of nodes from malloc(), in an order unlike that of their addresses, is searched for keys
 * that are not in it. -DREMEDY: what the search does not look at is in a block of its own. */
#include <stdlib.h>

enum { COUNT = 6000, ROUNDS = 40 };

struct order {
    long date, customer;
    char address[88];
};
struct node {
    long key;
#ifdef REMEDY
    struct node *next;
    struct order *order;
#else
    struct order order;
    struct node *next;
#endif
};

__attribute__((noinline)) static const struct node *find(const struct node *node, long key) {
    while (node && node->key != key)
        node = node->next;
    __asm__ volatile("" ::: "memory");
    return node;
}

int main(void) {
    struct node **nodes = malloc(COUNT * sizeof *nodes);
    long found = 0;
    for (long i = 0; i < COUNT; i++) {
        struct node *node = malloc(sizeof *node);
        node->key = i;
#ifdef REMEDY
        node->order = NULL;
#else
        node->order.date = i;
#endif
        nodes[i] = node;
    }
#ifdef REMEDY
    for (long i = 0; i < COUNT; i++) {
        nodes[i]->order = malloc(sizeof *nodes[i]->order);
        nodes[i]->order->date = i;
    }
#endif
    for (long i = 0; i < COUNT; i++)
        nodes[i * 1237 % COUNT]->next = i + 1 < COUNT ? nodes[(i + 1) * 1237 % COUNT] : NULL;
    for (long round = 0; round < ROUNDS; round++)
        found += find(nodes[0], -round - 1) != NULL;
    return (int)found;
}
