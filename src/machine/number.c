/* Figures of a machine by the names of their keys. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/key.h"
#include "machine/machine.h"

static bool is_word(const struct key *key) {
    return key->type != KEY_NUMBER && key->type != KEY_SIZE32 && key->type != KEY_SIZE64 &&
           key->type != KEY_REAL;
}

bool machine_number(const struct machine *machine, const char *name, double *value,
                    struct error *error) {
    char section[NAME_SIZE] = "";
    const char *dot = strchr(name, '.');
    const size_t length = dot ? (size_t)(dot - name) : 0;
    if (length >= sizeof section)
        return error_set(error, "%.60s: no such section of a machine", name);
    memcpy(section, name, length);
    if (!strcmp(section, "queue") || !strcmp(section, "pool") || !strcmp(section, "class"))
        return error_set(error, "%.60s: not of a queue, pool or class", name);
    const struct key *key = key_find(section, section, dot ? dot + 1 : name, error);
    if (!key)
        return error_prefix(error, "%.60s", name);
    if (is_word(key))
        return error_set(error, "%.60s is a word, no number", name);
    *value = key_number(key, machine);
    return true;
}

/* A number as keys have it, with K, M or G behind it. */
static bool read_number(const char *text, double *value) {
    static const char SUFFIXES[] = "KMG";
    char *end;
    if (!isdigit((unsigned char)*text) || strpbrk(text, "xX"))
        return false;
    *value = strtod(text, &end);
    const char *suffix = *end ? strchr(SUFFIXES, toupper((unsigned char)*end)) : NULL;
    if (suffix)
        *value = ldexp(*value, 10 * (int)(suffix - SUFFIXES + 1));
    return !*end || (suffix && !end[1]);
}

bool machine_same_value(const char *one, const char *other) {
    double first, second;
    return !strcmp(one, other) ||
           (read_number(one, &first) && read_number(other, &second) && first == second);
}
