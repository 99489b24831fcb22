/* A binary search tree of nodes from malloc() is searched for random keys. -DREMEDY: the value of a
 * node is in a block of its own. */
#include <stdlib.h>

enum { COUNT = 20000, LOOKUPS = 60000 };

struct value {
    long number;
    char text[112];
};
struct node {
    unsigned long key;
#ifdef REMEDY
    struct value *value;
#else
    struct value value;
#endif
    struct node *left, *right;
};

static unsigned long next_random(unsigned long *random) {
    *random = *random * 6364136223846793005 + 1442695040888963407;
    return *random >> 33;
}

__attribute__((noinline)) static void insert(struct node **root, struct node *added) {
    while (*root)
        root = added->key < (*root)->key ? &(*root)->left : &(*root)->right;
    *root = added;
}

__attribute__((noinline)) static const struct node *find(const struct node *node,
                                                         unsigned long key) {
    while (node && node->key != key)
        node = key < node->key ? node->left : node->right;
    return node;
}

int main(void) {
    struct node *root = NULL;
    unsigned long random = 1;
    long found = 0;
    for (long i = 0; i < COUNT; i++) {
        struct node *node = calloc(1, sizeof *node);
        node->key = next_random(&random);
        insert(&root, node);
    }
    random = 7;
    for (long i = 0; i < LOOKUPS; i++)
        found += find(root, next_random(&random)) != NULL;
    return found < 0;
}
