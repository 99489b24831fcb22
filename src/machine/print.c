/* Prints a machine as a file that loads back to the same bits: every key of the table in its order,
 * the named sections in the order of their indices. */
#include <stdio.h>
#include <string.h>

#include "machine/key.h"
#include "machine/machine.h"

enum { LONG_TEXT = 40 }; /* with its meaning it might be longer than a line may be */

static void print_key(FILE *file, const struct key *key, const char *value) {
    const char *unit = key->type == KEY_TEXT ? "" : key->unit;
    if (!strcmp(key->name, "description") || (key->type == KEY_TEXT && strlen(value) > LONG_TEXT)) {
        fprintf(file, "%s = %s\n", key->name, value);
        return;
    }
    fprintf(file, "%-20s = %-10s ; %s%s%s\n", key->name, value, unit, *unit ? ", " : "",
            key->meaning);
}

/* The keys of `section`, whose fields are in `object`. Fields that are references print as
 * `reference`; only `size` prints of a cache that is absent. */
static void print_section(FILE *file, const struct machine *machine, const char *section,
                          const void *object, const char *reference) {
    char value[VALUE_SIZE];
    bool absent = (!strcmp(section, "l1i") && !machine->l1i.present) ||
                  (!strcmp(section, "l2") && !machine->l2.present) ||
                  (!strcmp(section, "llc") && !machine->llc.present);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const struct key *key = &KEYS[i];
        if (strcmp(key->section, section) || (absent && strcmp(key->name, "size")))
            continue;
        if (key->type == KEY_QUEUE || key->type == KEY_POOL)
            snprintf(value, sizeof value, "%s", reference);
        else
            key_format(key, object, value);
        print_key(file, key, value);
    }
}

static void print_named_sections(FILE *file, const struct machine *machine, const char *section) {
    if (!strcmp(section, "queue"))
        for (uint32_t i = 0; i < machine->queue_count; i++) {
            fprintf(file, "\n[queue.%s]\n", machine->queues[i].name);
            print_section(file, machine, section, &machine->queues[i], "");
        }
    if (!strcmp(section, "pool"))
        for (uint32_t i = 0; i < machine->pool_count; i++) {
            fprintf(file, "\n[pool.%s]\n", machine->pools[i].name);
            print_section(file, machine, section, &machine->pools[i],
                          machine->queues[machine->pools[i].queue].name);
        }
    if (!strcmp(section, "class"))
        for (int operation = OP_NOP + 1; operation < OP_COUNT; operation++) {
            const struct machine_class *class = &machine->classes[operation];
            fprintf(file, "\n[class.%s]\n", operation_name((enum operation)operation));
            print_section(file, machine, section, class, machine->pools[class->pool].name);
        }
}

void machine_print(const struct machine *machine, void *file) {
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const char *section = KEYS[i].section;
        if (i && !strcmp(section, KEYS[i - 1].section))
            continue;
        if (!strcmp(section, "queue") || !strcmp(section, "pool") || !strcmp(section, "class")) {
            print_named_sections(file, machine, section);
            continue;
        }
        if (*section)
            fprintf(file, "\n[%s]\n", section);
        print_section(file, machine, section, machine, "");
    }
}
