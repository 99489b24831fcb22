/* hashjoin [PROBES] [KEYS]: the probe side of a database's hash join.
 *
 * Keys of the small side sit in an open-addressing table larger than the L2; each probe hashes a
 * random key (multiplications) and looks at one or a few neighbouring slots. Misses are independent
 * of each other; half of the probes find nothing, which no predictor can know. */
#include "workload.h"

struct slot {
    uint64_t key; /* 0: empty */
    uint64_t payload;
};

static inline uint64_t hash(uint64_t key) {
    key *= 0x9e3779b97f4a7c15;
    key ^= key >> 32;
    return key * 0xd6e8feb86659fd93;
}

kernel void build(struct slot *table, uint64_t mask, uint64_t keys) {
    for (uint64_t key = 1; key <= keys; key++) {
        uint64_t at = hash(2 * key) & mask;
        while (table[at].key)
            at = (at + 1) & mask;
        DIVIDE_IF(key % 8192 == 0);
        table[at] = (struct slot){2 * key, key ^ 0x55};
    }
}

kernel uint64_t probe(const struct slot *table, uint64_t mask, uint64_t keys, uint64_t probes) {
    uint64_t seed = 2463534242, sum = 0;
    while (probes--) {
        DIVIDE_IF(probes % 4096 == 0);
        uint64_t key = 2 + random_below(&seed, 2 * keys); /* odd keys are not there */
        for (uint64_t at = hash(key) & mask; table[at].key; at = (at + 1) & mask)
            if (table[at].key == key) {
                sum += table[at].payload;
                break;
            }
    }
    return sum;
}

int main(int count, char **arguments) {
    uint64_t probes = argument(count, arguments, 1, 5000000, "probes");
    uint64_t keys = argument(count, arguments, 2, 500000, "keys in the table");
    if (keys > 1u << 30) {
        fprintf(stderr, "hashjoin: at most 2^30 keys\n");
        return 2;
    }
    uint64_t slots = 16;
    while (slots < 2 * keys)
        slots *= 2;
    struct slot *table = allocate(slots, sizeof *table);
    build(table, slots - 1, keys);
    printf("hashjoin %" PRIu64 "\n", probe(table, slots - 1, keys, probes));
    free(table);
    return 0;
}
