/* Nothing of a file is believed: what is read keeps every promise that a measured profile does, or
 * there is an error. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/locality.h"
#include "util/array.h"
#include "util/power_of_two.h"
#include "util/text.h"

enum {
    MAX_BYTES = 1 << 28,
    MAX_SETS = 1 << 22,
    MAX_LINE = 1 << 30,
    MAX_WAIT = 1 << 20, /* cycles of one event: no machine has more */
    MAX_CROWDED = 16,
    MAX_FOREIGN = 1 << 20
};

const struct locality_event_name locality_event_names[] = {
#define EVENT(name)                                                                                \
    { #name, offsetof(struct locality_events, name) }
    EVENT(instructions),
    EVENT(accesses),
    EVENT(turns),
    EVENT(l1d_misses),
    EVENT(l1i_misses),
    EVENT(code_lines),
    EVENT(long_operations),
    EVENT(long_cycles),
    EVENT(mispredictions),
    EVENT(late_branches),
    EVENT(system_events),
    EVENT(system_cycles),
    EVENT(dtlb_misses),
    EVENT(itlb_misses),
    {NULL, 0}
#undef EVENT
};

static bool wrong(struct error *error, const char *what) {
    return error_set(error, "damaged profile: %s (measure it again)", what);
}

/* ---- numbers ---- */

static bool get_count(const json_t *value, uint64_t least, uint64_t most, uint64_t *number) {
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *number = (uint64_t)json_integer_value(value);
    return *number >= least && *number <= most;
}

static bool member_count(const json_t *object, const char *name, uint64_t least, uint64_t most,
                         uint64_t *number) {
    return get_count(json_object_get(object, name), least, most, number);
}

static bool get_reals(const json_t *list, uint32_t many, double most, double *values) {
    if (!json_is_array(list) || json_array_size(list) != many)
        return false;
    for (uint32_t i = 0; i < many; i++) {
        const json_t *value = json_array_get(list, i);
        values[i] = json_number_value(value);
        if (!json_is_number(value) || !(values[i] >= 0 && values[i] <= most))
            return false;
    }
    return true;
}

/* ---- levels ---- */

static bool read_shape(const json_t *object, struct cache_shape *shape) {
    uint64_t sets, ways, line;
    if (!member_count(object, "sets", 1, MAX_SETS, &sets) ||
        !member_count(object, "ways", 1, LOCALITY_MAX_WAYS, &ways) ||
        !member_count(object, "line", 16, MAX_LINE, &line) || !is_power_of_two(sets) ||
        !is_power_of_two(line))
        return false;
    *shape = (struct cache_shape){(uint32_t)sets, (uint32_t)ways, (uint32_t)line};
    return true;
}

/* r lies in its octave, n counts the first and the last access, and nothing lasts longer than the
 * run. */
static bool read_octave(const json_t *item, struct circular_count *octaves,
                        const struct locality_level *level) {
    const uint64_t most = level->accesses;
    struct circular_count sum;
    uint64_t octave;
    if (!json_is_array(item) || json_array_size(item) != 5 ||
        !get_count(json_array_get(item, 0), 1, LOCALITY_OCTAVES - 1, &octave) ||
        !get_count(json_array_get(item, 1), 1, most, &sum.count) ||
        !get_count(json_array_get(item, 2), 1, INT64_MAX, &sum.r) ||
        !get_count(json_array_get(item, 3), 1, INT64_MAX, &sum.n) ||
        !json_is_number(json_array_get(item, 4)))
        return false;
    sum.time = json_number_value(json_array_get(item, 4));
    const double longest = (double)sum.count * (double)level->run;
    if (!(sum.time > 0 && sum.time <= longest * (1 + 1e-9)))
        return false;
    const double r = (double)sum.r / (double)sum.count, n = (double)sum.n / (double)sum.count;
    const bool last = octave == LOCALITY_OCTAVES - 1;
    if (r < ldexp(1, (int)octave) || (!last && r >= ldexp(1, (int)octave + 1)) || n < 2 || n > r ||
        octaves[octave].count)
        return false;
    octaves[octave] = sum;
    return true;
}

static bool read_circular(const json_t *list, struct locality_level *level, uint64_t *sequences) {
    if (!json_is_array(list) || json_array_size(list) != level->shape.ways)
        return false;
    for (uint32_t d = 0; d < level->shape.ways; d++) {
        const json_t *octaves = json_array_get(list, d);
        if (!json_is_array(octaves) || json_array_size(octaves) > LOCALITY_OCTAVES)
            return false;
        for (size_t i = 0; i < json_array_size(octaves); i++)
            if (!read_octave(json_array_get(octaves, i), level->circular[d], level))
                return false;
        for (uint32_t i = 0; i < LOCALITY_OCTAVES; i++)
            *sequences += level->circular[d][i].count;
        if (*sequences > level->accesses)
            return false;
    }
    return true;
}

static bool read_touched(const json_t *list, struct locality_level *level) {
    if (!json_is_array(list) || json_array_size(list) != level->shape.ways)
        return false;
    for (uint32_t i = 0; i < level->shape.ways; i++)
        if (!get_reals(json_array_get(list, i), level->points, 1, level->touched[i]))
            return false;
    for (uint32_t k = 0; k < level->points; k++) {
        double sum = sum_over(double, i, level->shape.ways, level->touched[i][k]);
        if (fabs(sum - (level->sets[k] > 0)) > 1e-10)
            return false;
    }
    return true;
}

static bool read_sets(const json_t *object, struct locality_level *level, uint64_t sequences) {
    const json_t *list = json_object_get(object, "set_sequences");
    const char *bits = json_string_value(json_object_get(object, "set_touched"));
    const uint32_t sets = level->shape.sets;
    uint64_t sum = 0;
    if (!json_is_array(list) || json_array_size(list) != sets || !bits ||
        strlen(bits) != (sets + 3) / 4)
        return false;
    for (uint32_t set = 0; set < sets; set++) {
        if (!get_count(json_array_get(list, set), 0, sequences, &level->set_sequences[set]))
            return false;
        sum += level->set_sequences[set];
    }
    for (uint32_t i = 0; bits[i]; i++) {
        const char *digit = strchr("0123456789abcdef", bits[i]);
        const uint64_t four = digit ? (uint64_t)(digit - "0123456789abcdef") : 16;
        if (four >= (sets < 4 ? 1u << sets : 16))
            return false;
        level->set_touched[i / 16] |= four << i % 16 * 4;
    }
    return sum == sequences;
}

static bool read_level(const json_t *object, struct locality_level *level, struct error *error) {
    struct cache_shape shape;
    uint64_t sequences = 0;
    if (!json_is_object(object) || !read_shape(object, &shape))
        return wrong(error, "a level has no sensible sets, ways and line");
    if (!locality_level_new(level, shape))
        return error_set(error, "out of memory for a profile");
    if (!member_count(object, "run", 1, INT64_MAX, &level->run) ||
        !member_count(object, "accesses", 0, level->run, &level->accesses) ||
        !member_count(object, "misses", 0, level->accesses, &level->misses))
        return wrong(error, "a level has no sensible counts of accesses");
    level->points = locality_points(level->run);
    if (!read_circular(json_object_get(object, "circular"), level, &sequences) ||
        level->misses != level->accesses - sequences)
        return wrong(error, "its circular sequences are not what they can be");
    if (!get_reals(json_object_get(object, "mean_sets"), level->points, shape.sets, level->sets) ||
        !get_reals(json_object_get(object, "mean_blocks"), level->points, 0x1p62, level->blocks) ||
        !read_touched(json_object_get(object, "touched"), level))
        return wrong(error, "its sets and blocks are not what they can be");
    return read_sets(object, level, sequences) ||
           wrong(error, "what it says of each set does not go with the rest");
}

static bool same_shape(struct cache_shape a, struct cache_shape b) {
    return a.sets == b.sets && a.ways == b.ways && a.line == b.line;
}

/* Of the same cache and run, by rising rate. */
static bool read_crowded(const json_t *list, struct locality_level *level, struct error *error) {
    const size_t count = json_array_size(list);
    if (!list)
        return true;
    if (!json_is_array(list) || count > MAX_CROWDED)
        return wrong(error, "it has too many rates of foreign blocks");
    level->crowded = calloc(count + 1, sizeof *level->crowded);
    if (!level->crowded)
        return error_set(error, "out of memory for a profile");
    for (double last = 0; level->crowded_count < count;) {
        const json_t *object = json_array_get(list, level->crowded_count);
        struct locality_level *crowded = &level->crowded[level->crowded_count++];
        if (!read_level(object, crowded, error))
            return false;
        crowded->foreign = json_number_value(json_object_get(object, "foreign"));
        if (!same_shape(crowded->shape, level->shape) || crowded->run != level->run ||
            !(crowded->foreign > last) || crowded->foreign > MAX_FOREIGN)
            return wrong(error, "its rates of foreign blocks do not go together");
        last = crowded->foreign;
    }
    return true;
}

/* ---- the file ---- */

static bool read_events(const json_t *object, struct locality_events *events, struct error *error) {
    for (const struct locality_event_name *name = locality_event_names; name->name; name++)
        if (!member_count(object, name->name, 0, INT64_MAX, locality_event(events, name)))
            return wrong(error, "its counts of events are not complete");
    return (events->instructions > 0 && events->accesses > 0) || wrong(error, "it is of nothing");
}

static char *joined_lines(const json_t *lines) {
    struct text_printer printer;
    FILE *to = text_printer_begin(&printer);
    for (size_t i = 0; to && i < json_array_size(lines); i++)
        if (json_is_string(json_array_get(lines, i)))
            fprintf(to, "%s\n", json_string_value(json_array_get(lines, i)));
    return to ? text_printer_end(&printer) : NULL;
}

static bool read_head(const json_t *object, struct locality *locality, struct error *error) {
    const char *program = json_string_value(json_object_get(object, "program"));
    const char *isa = json_string_value(json_object_get(object, "isa"));
    char clean[4096];
    uint64_t version;
    if (!member_count(object, "culprit_locality", 1, INT64_MAX, &version))
        return error_set(error, "not a profile of culprit contend --profile, nor a trace");
    if (version != LOCALITY_VERSION)
        return error_set(
            error, "version %" PRIu64 " of the format of profiles, %d is known: profile it again",
            version, LOCALITY_VERSION);
    if (!program || !isa || (strcmp(isa, "x86-64") != 0 && strcmp(isa, "riscv64") != 0) ||
        !json_is_boolean(json_object_get(object, "frames")) ||
        !json_is_boolean(json_object_get(object, "partial")))
        return wrong(error, "it does not say what it is of");
    snprintf(locality->isa, sizeof locality->isa, "%s", isa);
    locality->frames = json_is_true(json_object_get(object, "frames"));
    locality->partial = json_is_true(json_object_get(object, "partial"));
    locality->program = strdup(text_clean(clean, sizeof clean, program));
    locality->machine = joined_lines(json_object_get(object, "machine"));
    return (locality->program && locality->machine) ||
           error_set(error, "out of memory for a profile");
}

static bool read_levels(const json_t *list, struct locality *locality, struct error *error) {
    const size_t count = json_array_size(list);
    if (count < 2 || count > 1 + LOCALITY_MAX_LEVELS)
        return wrong(error, "it has no shared cache, or too many");
    locality->levels = calloc(count, sizeof *locality->levels);
    if (!locality->levels)
        return error_set(error, "out of memory for a profile");
    locality->level_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        const json_t *object = json_array_get(list, i);
        if (!read_level(object, &locality->levels[i], error) ||
            !read_crowded(json_object_get(object, "crowded"), &locality->levels[i], error))
            return false;
        if (locality->levels[i].run != locality->events.accesses)
            return wrong(error, "its levels are not of the same run");
    }
    return true;
}

static bool read_core(const json_t *object, struct locality *locality, struct error *error) {
    const struct locality_level *l1i = &locality->core[LOCALITY_L1I],
                                *itlb = &locality->core[LOCALITY_ITLB],
                                *dtlb = &locality->core[LOCALITY_DTLB];
    for (uint32_t i = 0; i < LOCALITY_CORE; i++) {
        const json_t *level = json_object_get(object, locality_core_names[i]);
        if (level && !read_level(level, &locality->core[i], error))
            return false;
    }
    if ((locality_has(dtlb) && dtlb->run != locality->events.accesses) ||
        (locality_has(l1i) && locality_has(itlb) && l1i->run != itlb->run))
        return wrong(error, "its levels are not of the same run");
    return true;
}

static bool misses_of(const struct locality_level *level, uint64_t misses) {
    return !locality_has(level) || level->misses == misses;
}

static bool can_take(uint64_t events, uint64_t cycles) {
    return events ? cycles >= events && cycles / MAX_WAIT <= events : cycles == 0;
}

/* An instruction takes a turn, or one for each of its accesses; it lies in at most two lines of
 * code, which are all new once, and is at most one branch, one long operation and one system event.
 */
static bool events_agree(const struct locality *locality) {
    const struct locality_events *is = &locality->events;
    const uint64_t all = is->instructions;
    return is->turns >= all && is->turns >= is->accesses && is->turns - all <= is->accesses &&
           misses_of(&locality->levels[0], is->l1d_misses) &&
           locality->levels[1].accesses <= is->l1d_misses && is->l1i_misses / 2 <= all &&
           is->code_lines <= is->l1i_misses && (is->code_lines > 0) == (is->l1i_misses > 0) &&
           misses_of(&locality->core[LOCALITY_L1I], is->l1i_misses) && is->itlb_misses / 2 <= all &&
           misses_of(&locality->core[LOCALITY_ITLB], is->itlb_misses) &&
           is->dtlb_misses <= is->accesses &&
           misses_of(&locality->core[LOCALITY_DTLB], is->dtlb_misses) &&
           is->mispredictions <= all && is->late_branches <= all - is->mispredictions &&
           is->long_operations <= all && can_take(is->long_operations, is->long_cycles) &&
           is->system_events <= all && can_take(is->system_events, is->system_cycles);
}

static bool read_object(const json_t *object, struct locality *locality, struct error *error) {
    return read_head(object, locality, error) &&
           read_events(json_object_get(object, "events"), &locality->events, error) &&
           read_levels(json_object_get(object, "levels"), locality, error) &&
           read_core(json_object_get(object, "core"), locality, error) &&
           (events_agree(locality) ||
            wrong(error, "its counts of events do not go with each other or with its levels"));
}

/* All of a file, to be freed. */
static char *contents(const char *path, size_t *size, struct error *error) {
    FILE *file = fopen(path, "re");
    char *bytes = file ? malloc(1 << 16) : NULL;
    size_t room = 1 << 16;
    *size = 0;
    if (!file)
        return error_null(error, "%s", strerror(errno));
    for (size_t got; bytes && (got = fread(bytes + *size, 1, room - *size, file)) > 0;) {
        *size += got;
        if (*size == room) {
            char *more = room < MAX_BYTES ? realloc(bytes, room *= 2) : NULL;
            if (!more)
                free(bytes);
            bytes = more;
        }
    }
    const bool failed = ferror(file);
    fclose(file);
    if (bytes && !failed)
        return bytes;
    free(bytes);
    return error_null(error, failed ? "cannot be read" : "too large for a profile");
}

bool locality_read(struct locality *locality, const char *path, struct error *error) {
    size_t size;
    json_error_t where;
    *locality = (struct locality){0};
    char *bytes = contents(path, &size, error);
    if (!bytes)
        return error_prefix(error, "%.500s", path);
    json_t *object = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &where);
    free(bytes);
    const bool good =
        object ? read_object(object, locality, error)
               : error_set(error, "damaged profile: line %d is no JSON (measure it again)",
                           where.line);
    json_decref(object);
    return good || error_prefix(error, "%.500s", path);
}

bool locality_is_file(const char *path) {
    struct stat is;
    FILE *file = stat(path, &is) == 0 && S_ISREG(is.st_mode) ? fopen(path, "re") : NULL;
    const int first = file ? getc(file) : EOF;
    if (file)
        fclose(file);
    return first == '{';
}
