/* The keys are taken from a machine's printed description, so that whatever is printed with the
 * same text measures the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/locality.h"

static bool one_of(const char *key, const char *const *keys) {
    for (; *keys; keys++)
        if (!strcmp(key, *keys))
            return true;
    return false;
}

/* A profile's misses, predictions and latencies rest on this key. */
static bool matters(const char *section, const char *key, bool private_l2) {
    static const char *const CORE[] = {"frontend_depth", "flush_penalty", "syscall_cycles", NULL};
    static const char *const NOT_BRANCH[] = {"btb_miss_penalty", "taken_bubble", NULL};
    static const char *const SHAPE[] = {"size", "ways", "line", NULL};
    static const char *const TLB[] = {"entries", "ways", NULL};
    if (!strcmp(section, "core"))
        return one_of(key, CORE);
    if (!strcmp(section, "branch"))
        return !one_of(key, NOT_BRANCH);
    if (!strncmp(section, "class.", 6))
        return !strcmp(key, "latency");
    if (!strcmp(section, "l1i") || !strcmp(section, "l1d") ||
        (private_l2 && !strcmp(section, "l2")))
        return one_of(key, SHAPE);
    if (!strcmp(section, "itlb") || !strcmp(section, "dtlb"))
        return one_of(key, TLB);
    return !strcmp(section, "tlb") && !strcmp(key, "page_size");
}

/* A copy of the lines of a description that matter, as "section.key = value". */
static void keep(char *description, bool private_l2, FILE *to) {
    char section[64] = "", key[64], value[64], *rest = description;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (sscanf(line, "[%63[^]]", section) != 1 &&
            sscanf(line, "%63s = %63s", key, value) == 2 && matters(section, key, private_l2))
            fprintf(to, "%s.%s = %s\n", section, key, value);
}

char *locality_machine(const struct machine *machine, struct error *error) {
    char *description = NULL, *kept = NULL;
    size_t size;
    FILE *print = open_memstream(&description, &size), *to = open_memstream(&kept, &size);
    if (print)
        machine_print(machine, print);
    bool good = print && fclose(print) == 0 && to;
    if (good)
        keep(description, machine->l2.present && machine->llc.present, to);
    good = to && fclose(to) == 0 && good;
    free(description);
    if (good)
        return kept;
    free(kept);
    return error_null(error, "out of memory for the description of a machine");
}

static size_t line_length(const char *text) {
    return strcspn(text, "\n");
}

bool locality_fits(const struct locality *locality, const struct machine *machine,
                   struct error *error) {
    char *wanted = locality_machine(machine, error);
    if (!wanted)
        return false;
    const char *a = locality->machine, *b = wanted;
    size_t length = line_length(a);
    while (*a && line_length(b) == length && !memcmp(a, b, length)) {
        a += length + (a[length] != 0);
        b += length + (b[length] != 0);
        length = line_length(a);
    }
    const bool same = !*a && !*b;
    if (!same)
        error_set(error, "it was measured with %.*s, machine %s has %.*s (measure it again)",
                  (int)(length < 100 ? length : 100), a, machine->name, (int)line_length(b), b);
    free(wanted);
    return same;
}
