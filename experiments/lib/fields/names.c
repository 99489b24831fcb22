/* Names in a table with chains of nodes from malloc(), looked up by their hashes; the text of each
 * is in its node. -DREMEDY: the text is in a block of its own. */
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 4096, COUNT = 20000, LOOKUPS = 30000 };

struct name {
    unsigned length;
#ifdef REMEDY
    char *text;
#else
    char text[84];
#endif
    unsigned hash;
    struct name *next;
};
struct name *chains[CHAINS];
char texts[COUNT][84];

static unsigned next_hash(unsigned long *random) {
    *random = *random * 6364136223846793005 + 1442695040888963407;
    return (unsigned)(*random >> 33);
}

__attribute__((noinline)) static const struct name *find(unsigned hash, unsigned length) {
    const struct name *name = chains[hash % CHAINS];
    while (name && (name->hash != hash || name->length != length))
        name = name->next;
    return name;
}

int main(void) {
    unsigned long random = 13;
    long found = 0;
    for (long i = 0; i < COUNT; i++) {
        struct name *name = malloc(sizeof *name);
        name->hash = next_hash(&random);
        name->length = 5;
#ifdef REMEDY
#ifdef IN_TURN
        name->text = malloc(84);
#else
        name->text = texts[i];
#endif
#endif
        memcpy(name->text, "text", 5);
        name->next = chains[name->hash % CHAINS];
        chains[name->hash % CHAINS] = name;
    }
    for (long i = 0; i < LOOKUPS; i++)
        found += find(next_hash(&random), 5) != NULL;
    return found < 0;
}
