#include "trace/qemu/fixed_environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Interpreters that would begin their hash functions with something random do not. */
static const char *const FIXED[] = {
    "HOME=/",           "LANG=C.UTF-8",     "LC_ALL=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin",
    "PERL_HASH_SEED=0", "PYTHONHASHSEED=0", "SHELL=/bin/sh",  "TERM=dumb",
    "TMPDIR=/tmp",      "TZ=UTC",           "USER=user",
};
enum { FIXED_COUNT = sizeof FIXED / sizeof *FIXED, ROUND = 4096 };
static const char FILLER[] = "CULPRIT_FILLER=";

static size_t name_length(const char *variable) {
    return strcspn(variable, "=");
}

static bool same_name(const char *a, const char *b) {
    const size_t length = name_length(a);
    return length == name_length(b) && strncmp(a, b, length) == 0;
}

/* In the place of the one of this name, or at the end. */
static bool put(char **environment, size_t *count, const char *variable) {
    size_t at = 0;
    while (at < *count && !same_name(environment[at], variable))
        at++;
    char *copy = strdup(variable);
    if (!copy)
        return false;
    if (at < *count)
        free(environment[at]);
    else
        ++*count;
    environment[at] = copy;
    return true;
}

static bool put_wanted(char **environment, size_t *count, const char *wanted) {
    if (strchr(wanted, '='))
        return put(environment, count, wanted);
    const char *value = getenv(wanted);
    if (!value)
        return true;
    char *variable = NULL;
    if (asprintf(&variable, "%s=%s", wanted, value) < 0)
        return false;
    const bool good = put(environment, count, variable);
    free(variable);
    return good;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Strings and the pointers to them. */
static size_t bytes_of(char *const *strings) {
    size_t bytes = 0;
    for (; *strings; strings++)
        bytes += strlen(*strings) + 1 + sizeof *strings;
    return bytes;
}

/* All strings and the pointers to them, to a whole number of pages. */
static char *filler(const char *program, char *const *arguments, char *const *environment) {
    size_t bytes = strlen(program) + 1 + bytes_of(arguments) + bytes_of(environment);
    bytes += sizeof FILLER + sizeof(char *);
    const size_t missing = (ROUND - bytes % ROUND) % ROUND;
    char *variable = malloc(sizeof FILLER + missing);
    if (!variable)
        return NULL;
    memcpy(variable, FILLER, sizeof FILLER - 1);
    memset(variable + sizeof FILLER - 1, '.', missing);
    variable[sizeof FILLER - 1 + missing] = 0;
    return variable;
}

char **fixed_environment(const char *program, char *const *arguments, const char *const *wanted,
                         uint32_t wanted_count) {
    size_t count = 0;
    char **environment = calloc(FIXED_COUNT + wanted_count + 2u, sizeof *environment);
    bool good = environment != NULL;
    for (size_t i = 0; good && i < FIXED_COUNT; i++)
        good = put(environment, &count, FIXED[i]);
    for (uint32_t i = 0; good && i < wanted_count; i++)
        good = put_wanted(environment, &count, wanted[i]);
    if (good)
        qsort(environment, count, sizeof *environment, by_name);
    if (good && (environment[count] = filler(program, arguments, environment)))
        return environment;
    fixed_environment_free(environment);
    return NULL;
}

void fixed_environment_free(char **environment) {
    for (char **variable = environment; variable && *variable; variable++)
        free(*variable);
    free(environment);
}
