/* Kernels whose misses belong to one object each; the argument says which: structs (an array of
 * them, allocated), hash (a table of buckets), list and tree (nodes from two places of allocation),
 * table (a variable), stack (an array in a frame), remade (a block that is freed and allocated
 * elsewhere), grown (realloc, and reallocarray, which goes on to it). What is accessed is more than
 * an L1 holds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 12, LOADS = 12 * COUNT };

struct record {
    uint64_t key, value, rest[6];
};
struct node {
    struct node *left, *right;
    uint64_t value, rest[5];
};

uint64_t table[COUNT * 8];
static volatile uint64_t sink;

static uint32_t mixed(uint32_t number) {
    return number * 2654435761u >> 8;
}

__attribute__((noinline)) static struct record *make_records(void) {
    return calloc(COUNT, sizeof(struct record));
}
__attribute__((noinline)) static uint64_t *make_buckets(void) {
    return calloc(COUNT * 8, sizeof(uint64_t));
}
__attribute__((noinline)) static struct node *make_list_node(void) {
    return calloc(1, sizeof(struct node));
}
__attribute__((noinline)) static struct node *make_tree_node(void) {
    return calloc(1, sizeof(struct node));
}

/* Each load's place depends on what the one before it found, which is 0. */
static void structs(void) {
    struct record *records = make_records();
    uint64_t found = 0;
    for (uint32_t i = 0; i < LOADS; i++)
        found = records[mixed(i + (uint32_t)found) % COUNT].value;
    sink = found;
}

static void look_up(uint64_t *buckets) {
    uint64_t found = 0;
    for (uint32_t i = 0; i < LOADS; i++)
        found = buckets[mixed(i + (uint32_t)found) % (COUNT * 8)];
    sink = found;
}

__attribute__((noinline)) static void stack(void) {
    uint64_t array[COUNT * 8];
    memset(array, 0, sizeof array);
    look_up(array);
}

/* Nodes of both are made in turn, so that they are neighbours; those of a list that leads from each
 * to a far one, and of a tree. */
static void nodes(int walk_tree) {
    static struct node *list[COUNT], *tree[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        list[i] = make_list_node();
        tree[i] = make_tree_node();
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        list[i]->right = list[(i + COUNT / 2 + 1235) % COUNT];
        tree[i]->left = 2 * i + 1 < COUNT ? tree[2 * i + 1] : NULL;
        tree[i]->right = 2 * i + 2 < COUNT ? tree[2 * i + 2] : NULL;
    }
    struct node *node = list[0];
    for (uint32_t i = 0; i < LOADS && !walk_tree; i++)
        node = node->right;
    for (uint32_t i = 0, bit = 0; i < LOADS && walk_tree; i++, bit++) {
        node = !node || bit == 0 ? tree[0] : mixed(i) >> bit & 1 ? node->left : node->right;
        bit = node ? bit : UINT32_MAX;
    }
    sink = node ? node->value : 0;
}

__attribute__((noinline)) static char *make_first(void) {
    return malloc(1 << 16);
}
__attribute__((noinline)) static char *make_second(void) {
    return malloc(1 << 16);
}

/* The same memory, first of one and then of the other, who alone reads it often. */
static void remade(void) {
    char *first = make_first();
    memset(first, 1, 1 << 16);
    free(first);
    char *second = make_second();
    memset(second, 1, 1 << 16);
    uint64_t found = 1;
    for (uint32_t i = 0; i < LOADS; i++)
        found = (uint8_t)second[mixed(i + (uint32_t)found) % (1 << 16)];
    sink = found;
    printf("%s\n", first == second ? "same" : "other");
}

__attribute__((noinline)) static char *grow(char *block, size_t size) {
    return size >> 14 & 1 ? realloc(block, size) : reallocarray(block, size, 1);
}

static void grown(void) {
    char *block = NULL;
    for (int i = 1; i <= 16; i++)
        block = grow(block, (size_t)i << 14);
    memset(block, 1, 1 << 18);
    uint64_t found = 1;
    for (uint32_t i = 0; i < LOADS; i++)
        found = (uint8_t)block[mixed(i + (uint32_t)found) % (1 << 18)];
    sink = found;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    if (!strcmp(what, "structs"))
        structs();
    else if (!strcmp(what, "hash"))
        look_up(make_buckets());
    else if (!strcmp(what, "list") || !strcmp(what, "tree"))
        nodes(*what == 't');
    else if (!strcmp(what, "table"))
        look_up(table);
    else if (!strcmp(what, "stack"))
        stack();
    else if (!strcmp(what, "remade"))
        remade();
    else if (!strcmp(what, "grown"))
        grown();
    else
        return 1;
    return 0;
}
