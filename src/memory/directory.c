#include "memory/directory.h"

#include <stdlib.h>

#include "util/power_of_two.h"
#include "util/random.h"

bool directory_new(struct directory *directory, uint64_t entries, uint32_t line_shift) {
    directory->sets = power_of_two_from((entries + DIRECTORY_WAYS - 1) / DIRECTORY_WAYS);
    directory->line_shift = line_shift;
    directory->entries = calloc(directory->sets * DIRECTORY_WAYS, sizeof *directory->entries);
    return directory->entries != NULL;
}

void directory_free(struct directory *directory) {
    free(directory->entries);
}

/* Lines are spread over the sets by a hash, as last levels of several cores do. */
struct directory_entry *directory_set(const struct directory *directory, uint64_t line) {
    const uint64_t set = random_mix(line >> directory->line_shift) & (directory->sets - 1);
    return directory->entries + set * DIRECTORY_WAYS;
}

struct directory_entry *directory_find(struct directory *directory, uint64_t line) {
    struct directory_entry *set = directory_set(directory, line);
    for (unsigned way = 0; way < DIRECTORY_WAYS; way++)
        if ((set[way].line & ~(uint64_t)ENTRY_OWNED) == (line | ENTRY_VALID)) {
            directory_use(directory, &set[way]);
            return &set[way];
        }
    return NULL;
}
