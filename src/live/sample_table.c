/* Open addressing with linear probing in the entries themselves, at most three quarters full. */
#include "live/sample_table.h"

#include <sys/mman.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t hash_of(const struct sample_entry *entry) {
    uint64_t key[3] = {entry->offset, (uint64_t)entry->slice << 32 | entry->place, entry->event};
    return XXH3_64bits(key, sizeof key);
}

static bool same_key(const struct sample_entry *one, const struct sample_entry *other) {
    return one->offset == other->offset && one->slice == other->slice &&
           one->place == other->place && one->event == other->event;
}

bool sample_table_init(struct sample_table *table, size_t most) {
    size_t capacity = 64;
    while (capacity / 4 * 3 < most)
        capacity *= 2;
    void *slots = mmap(NULL, capacity * sizeof *table->slots, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slots == MAP_FAILED)
        return false;
    *table = (struct sample_table){.slots = slots, .capacity = capacity, .most = most};
    return true;
}

void sample_table_free(struct sample_table *table) {
    if (table->slots)
        munmap(table->slots, table->capacity * sizeof *table->slots);
    *table = (struct sample_table){0};
}

void sample_table_clear(struct sample_table *table) {
    /* Gives the pages back, which then read as zero. */
    madvise(table->slots, table->capacity * sizeof *table->slots, MADV_DONTNEED);
    table->count = 0;
}

bool sample_table_add(struct sample_table *table, const struct sample_entry *entry) {
    size_t at = hash_of(entry) & (table->capacity - 1);
    for (; table->slots[at].count; at = (at + 1) & (table->capacity - 1))
        if (same_key(&table->slots[at], entry)) {
            table->slots[at].count += entry->count;
            return true;
        }
    if (table->count == table->most)
        return false;
    table->slots[at] = *entry;
    table->count++;
    return true;
}
