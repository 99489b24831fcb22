#include "cluster/cluster_options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/count.h"
#include "util/duration.h"

static const double GRACE = 30; /* seconds: what caches of NFS take to see a new file, mostly */
enum { CPUS = 2, MOST_CPUS = 1024, MOST_EACH = 10000 };

/* Keys that are handed on, as the options of sbatch that have their names. */
static const struct passed_key {
    const char *key;
    bool list;
} PASSED[] = {
    {"account", false}, {"partition", true},   {"qos", false},        {"time", false},
    {"mem", false},     {"reservation", true}, {"constraint", false}, {"nodelist", true},
    {"exclude", true},  {"licenses", true},    {"gres", true},        {"nice", false},
    {"wckey", false},
};
enum { PASSED_KEYS = sizeof PASSED / sizeof *PASSED };
#define KEYS                                                                                       \
    "account, partition, qos, time, mem, cpus, each, grace, program, reservation, constraint, "    \
    "nodelist, exclude, licenses, gres, nice, wckey"

/* "--partition=short", or ",long" behind it. */
static bool pass(struct cluster_options *options, const struct passed_key *key, const char *value,
                 struct error *error) {
    char *text = NULL;
    const size_t length = strlen(key->key);
    char **there = NULL;
    for (size_t i = 0; i < options->passed_count; i++)
        if (!strncmp(options->passed[i] + 2, key->key, length) &&
            options->passed[i][2 + length] == '=')
            there = &options->passed[i];
    if (there && !key->list)
        return error_set(error, "%s is there twice", key->key);
    if (!there && options->passed_count == CLUSTER_MOST_PASSED)
        return error_set(error, "more than %d keys", CLUSTER_MOST_PASSED);
    if ((there ? asprintf(&text, "%s,%s", *there, value)
               : asprintf(&text, "--%s=%s", key->key, value)) < 0)
        return error_set(error, "out of memory for options");
    if (there) {
        free(*there);
        *there = text;
    } else {
        options->passed[options->passed_count++] = text;
    }
    if (!strcmp(key->key, "time"))
        options->time = value;
    if (!strcmp(key->key, "mem"))
        options->memory = value;
    return true;
}

static bool take_number(const char *key, const char *value, uint32_t most, uint32_t *number,
                        struct error *error) {
    uint64_t count = 0;
    const char *end = value;
    if (count_read(value, &count, &end) != COUNT_READ || *end || !count || count > most)
        return error_set(error, "%s=%.100s: must be 1 to %u", key, value, most);
    *number = (uint32_t)count;
    return true;
}

static bool take(struct cluster_options *options, char *pair, struct error *error) {
    char *equals = strchr(pair, '=');
    if (!equals || equals == pair || !equals[1])
        return error_set(error, "'%.200s' is not KEY=VALUE", pair);
    *equals = 0;
    const char *key = pair;
    char *value = equals + 1;
    for (const char *at = value; *at; at++)
        if (iscntrl((unsigned char)*at))
            return error_set(error, "%.100s: there are control characters in its value", key);
    for (size_t i = 0; i < PASSED_KEYS; i++)
        if (!strcmp(PASSED[i].key, key))
            return pass(options, &PASSED[i], value, error);
    if (!strcmp(key, "cpus"))
        return take_number(key, value, MOST_CPUS, &options->cpus, error);
    if (!strcmp(key, "each"))
        return take_number(key, value, MOST_EACH, &options->each, error);
    if (!strcmp(key, "grace"))
        return duration_read(value, &options->grace) ||
               error_set(error, "grace=%.100s: must be a time, as 30s", value);
    if (!strcmp(key, "program")) {
        options->program = value;
        return *value == '/' ||
               error_set(error, "program=%.200s: must be a whole path, beginning with /", value);
    }
    return error_set(error, "'%.100s' is no key of it: there are " KEYS, key);
}

/* Where the value ends: a comma that is not within brackets. */
static char *end_of(char *pair) {
    int depth = 0;
    char *at = pair;
    for (; *at && (*at != ',' || depth > 0); at++)
        depth += *at == '[' ? 1 : *at == ']' && depth > 0 ? -1 : 0;
    return at;
}

bool cluster_options_parse(struct cluster_options *options, const char *text, struct error *error) {
    static const char NAME[] = "slurm";
    const size_t length = sizeof NAME - 1;
    *options = (struct cluster_options){.wanted = true, .cpus = CPUS, .grace = GRACE};
    if (strncmp(text, NAME, length) != 0 || (text[length] && text[length] != ':'))
        return error_set(error, "%.200s: must be slurm, or slurm:KEY=VALUE,... with " KEYS, text);
    if (!text[length])
        return true;
    if (!(options->text = strdup(text + length + 1)))
        return error_set(error, "out of memory for options");
    for (char *pair = options->text;;) {
        char *end = end_of(pair);
        const bool last = !*end;
        *end = 0;
        if (!take(options, pair, error))
            return false;
        if (last)
            return true;
        pair = end + 1;
    }
}

void cluster_options_free(struct cluster_options *options) {
    for (size_t i = 0; i < options->passed_count; i++)
        free(options->passed[i]);
    free(options->text);
    *options = (struct cluster_options){0};
}
