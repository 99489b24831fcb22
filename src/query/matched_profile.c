/* A table of two columns, whose rows are procedures by name and image; then rows of one family are
 * put together. */
#include "query/matched_profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/profile_table.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/order.h"
#include "util/rank.h"

enum { LIVE, LIVE_OTHERS, SIMULATED, SIDES, NAME_BYTES = 4096 };

/* ---- variants ---- */

/* Where a name says for which processors its variant is. */
static const char *const FEATURES[] = {"_sse2", "_sse3", "_ssse3", "_sse4",     "_avx",
                                       "_evex", "_fma",  "_erms",  "_unaligned"};

static bool has_variants(const char *image) {
    const char *base = file_base_name(image);
    return !strncmp(base, "libc.so", 7) || !strncmp(base, "libm.so", 7) ||
           !strncmp(base, "libc-", 5) || !strncmp(base, "libm-", 5);
}

bool procedure_family(const char *image, const char *procedure, char *family, size_t size) {
    const char *end = NULL;
    if (!procedure || !has_variants(image))
        return false;
    for (size_t i = 0; i < sizeof FEATURES / sizeof *FEATURES; i++) {
        const char *feature = strstr(procedure, FEATURES[i]);
        if (feature && (!end || feature < end))
            end = feature;
    }
    while (*procedure == '_' && procedure < end)
        procedure++;
    if (!end || end == procedure)
        return false;
    snprintf(family, size, "%.*s", (int)(end - procedure), procedure);
    return true;
}

/* The row of this name and image; NULL: there is none. */
static struct matched_procedure *find(struct matched_profile *profile, const char *name,
                                      const char *image) {
    const size_t i =
        index_where(k, profile->count,
                    !strcmp(profile->rows[k].name, name) && !strcmp(profile->rows[k].image, image));
    return i < profile->count ? &profile->rows[i] : NULL;
}

static bool add_row(struct matched_profile *profile, const struct profile_row *row) {
    char name[NAME_BYTES], family[NAME_BYTES - sizeof " (any variant)"];
    const bool variant = procedure_family(row->image, row->procedure, family, sizeof family);
    struct matched_procedure *to = NULL;
    if (variant) {
        snprintf(name, sizeof name, "%s (any variant)", family);
        to = find(profile, name, row->image);
        profile->variants += !to;
    } else {
        profile_row_name(row, name, sizeof name);
    }
    if (!to) {
        to = &profile->rows[profile->count++];
        *to = (struct matched_procedure){
            .name = arena_copy(&profile->arena, name, strlen(name)),
            .image = arena_copy(&profile->arena, row->image, strlen(row->image))};
        if (!to->name || !to->image)
            return false;
    }
    to->halves[0] += row->values[LIVE];
    to->halves[1] += row->values[LIVE_OTHERS];
    to->samples = to->halves[0] + to->halves[1];
    to->predicted += row->values[SIMULATED];
    return true;
}

/* ---- order ---- */

static int by_samples(const void *a, const void *b) {
    const struct matched_procedure *one = a, *other = b;
    return descending(one->samples, other->samples) ?: strcmp(one->name, other->name);
}

static int by_difference(const void *a, const void *b) {
    const struct matched_procedure *one = a, *other = b;
    const double first = fabs(one->predicted - one->measured);
    const double second = fabs(other->predicted - other->measured);
    return descending(first, second) ?: strcmp(one->name, other->name);
}

static bool all_equal(const double *values, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (values[i] != values[0])
            return false;
    return true;
}

static void rank(struct matched_profile *profile) {
    double measured[MATCHED_HOTTEST], predicted[MATCHED_HOTTEST];
    double half[MATCHED_HOTTEST], others[MATCHED_HOTTEST];
    qsort(profile->rows, profile->count, sizeof *profile->rows, by_samples);
    profile->ranked = 0;
    for (size_t i = 0; i < profile->count && i < MATCHED_HOTTEST && profile->rows[i].samples; i++) {
        measured[i] = profile->rows[i].measured;
        predicted[i] = profile->rows[i].predicted;
        half[i] = profile->rows[i].halves[0];
        others[i] = profile->rows[i].halves[1];
        profile->ranked = i + 1;
    }
    profile->equally_measured = all_equal(measured, profile->ranked);
    profile->equally_predicted = all_equal(predicted, profile->ranked);
    profile->rank_correlation = rank_correlation(measured, predicted, profile->ranked);
    profile->rank_repeats = rank_correlation(half, others, profile->ranked);
}

/* ---- all of it ---- */

static bool fill(struct matched_profile *profile, const struct profile_table *table, double cycles,
                 struct error *error) {
    const size_t count = profile_table_count(table);
    profile->rows = calloc(count, sizeof *profile->rows);
    profile->count = 0;
    for (size_t i = 0; i < count; i++)
        if (!profile->rows || !add_row(profile, profile_table_row(table, i)))
            return error_set(error, "out of memory for the profiles");
    profile->samples = profile_table_sum(table, LIVE) + profile_table_sum(table, LIVE_OTHERS);
    profile->predicted = profile_table_sum(table, SIMULATED);
    profile->measured = cycles;
    for (size_t i = 0; i < profile->count; i++)
        profile->rows[i].measured = cycles * profile->rows[i].samples / profile->samples;
    rank(profile);
    qsort(profile->rows, profile->count, sizeof *profile->rows, by_difference);
    return true;
}

/* No sessions: the side is empty. */
static bool add_side(struct profile_table *table, struct profile_set *set, struct store *store,
                     const int64_t *sessions, size_t count, size_t side, struct error *error) {
    const struct profile_event *event;
    return !count || (profile_set_read(set, store, sessions, count, false, error) &&
                      (event = profile_set_event(set, NULL, error)) &&
                      profile_table_add_set(table, set, event, side, error));
}

bool matched_profile_read(struct matched_profile *profile, struct store *store, const int64_t *live,
                          size_t live_count, double cycles, int64_t simulated,
                          struct program *program, struct error *error) {
    const struct profile_table_options options = {.by = PROFILE_BY_PROCEDURE, .columns = SIDES};
    struct profile_table *table = profile_table_new(&options, program);
    struct profile_set sets[SIDES] = {{0}};
    const size_t half = (live_count + 1) / 2;
    *profile = (struct matched_profile){.rank_correlation = NAN, .rank_repeats = NAN};
    bool good = table || error_set(error, "out of memory for the profiles");
    good = good && add_side(table, &sets[LIVE], store, live, half, LIVE, error) &&
           add_side(table, &sets[LIVE_OTHERS], store, live + half, live_count - half, LIVE_OTHERS,
                    error) &&
           add_side(table, &sets[SIMULATED], store, &simulated, 1, SIMULATED, error) &&
           profile_table_finish(table, 0, error);
    if (good && !(profile_table_sum(table, LIVE) + profile_table_sum(table, LIVE_OTHERS) > 0))
        good = error_set(error, "no live samples: the command is too short");
    good = good && fill(profile, table, cycles, error);
    profile_table_free(table);
    for (size_t side = 0; side < SIDES; side++)
        profile_set_free(&sets[side]);
    return good;
}

void matched_profile_free(struct matched_profile *profile) {
    free(profile->rows);
    arena_free(&profile->arena);
    *profile = (struct matched_profile){0};
}
