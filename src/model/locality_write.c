/* A profile as JSON (docs/locality-format.md). */
#include <jansson.h>
#include <string.h>

#include "model/locality.h"
#include "util/json_text.h"

static json_t *count(uint64_t number) {
    return json_integer((json_int_t)number);
}

static json_t *lines_of(const char *text) {
    json_t *lines = json_array();
    while (*text) {
        const size_t length = strcspn(text, "\n");
        json_array_append_new(lines, json_stringn(text, length));
        text += length + (text[length] != 0);
    }
    return lines;
}

/* [octave, count, sum of r, sum of n, sum of times] for each octave that has any. */
static json_t *sequences_of(const struct circular_count *octaves) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < LOCALITY_OCTAVES; i++)
        if (octaves[i].count)
            json_array_append_new(list, json_pack("[i,o,o,o,f]", (int)i, count(octaves[i].count),
                                                  count(octaves[i].r), count(octaves[i].n),
                                                  octaves[i].time));
    return list;
}

static json_t *reals(const double *values, uint32_t many) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < many; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

/* Sets from 0 on, four to a digit, the first in the lowest bit. */
static json_t *bits_of(const struct locality_level *level) {
    const uint32_t digits = (level->shape.sets + 3) / 4;
    char *text = malloc(digits + 1);
    for (uint32_t i = 0; text && i < digits; i++)
        text[i] = "0123456789abcdef"[level->set_touched[i / 16] >> i % 16 * 4 & 15];
    json_t *bits = text ? json_stringn(text, digits) : NULL;
    free(text);
    return bits;
}

static json_t *level_object(const struct locality_level *level);

/* The same cache behind an L1D into which foreign blocks come. */
static json_t *crowded_levels(const struct locality_level *level) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < level->crowded_count; i++) {
        json_t *object = level_object(&level->crowded[i]);
        json_object_set_new(object, "foreign", json_real(level->crowded[i].foreign));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *level_object(const struct locality_level *level) {
    json_t *circular = json_array(), *touched = json_array(), *sequences = json_array();
    for (uint32_t i = 0; i < level->shape.ways; i++) {
        json_array_append_new(circular, sequences_of(level->circular[i]));
        json_array_append_new(touched, reals(level->touched[i], level->points));
    }
    for (uint32_t set = 0; set < level->shape.sets; set++)
        json_array_append_new(sequences, count(level->set_sequences[set]));
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                               "sets", count(level->shape.sets), "ways", count(level->shape.ways),
                               "line", count(level->shape.line), "run", count(level->run),
                               "accesses", count(level->accesses), "misses", count(level->misses),
                               "circular", circular, "mean_sets", reals(level->sets, level->points),
                               "mean_blocks", reals(level->blocks, level->points), "touched",
                               touched, "set_sequences", sequences, "set_touched", bits_of(level));
    if (level->crowded_count)
        json_object_set_new(object, "crowded", crowded_levels(level));
    return object;
}

static json_t *events_object(const struct locality_events *events) {
    json_t *object = json_object();
    for (const struct locality_event_name *name = locality_event_names; name->name; name++)
        json_object_set_new(object, name->name,
                            count(*locality_event((struct locality_events *)events, name)));
    return object;
}

bool locality_write(const struct locality *locality, FILE *file, struct error *error) {
    json_t *levels = json_array(), *core = json_object();
    for (uint32_t i = 0; i < locality->level_count; i++)
        json_array_append_new(levels, level_object(&locality->levels[i]));
    for (uint32_t i = 0; i < LOCALITY_CORE; i++)
        if (locality_has(&locality->core[i]))
            json_object_set_new(core, locality_core_names[i], level_object(&locality->core[i]));
    json_t *object = json_pack("{s:i, s:o, s:s, s:o, s:b, s:b, s:o, s:o, s:o}", "culprit_locality",
                               LOCALITY_VERSION, "program", json_text(locality->program), "isa",
                               locality->isa, "machine", lines_of(locality->machine), "frames",
                               (int)locality->frames, "partial", (int)locality->partial, "events",
                               events_object(&locality->events), "levels", levels, "core", core);
    const bool good =
        object && json_dumpf(object, file, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0;
    json_decref(object);
    fputc('\n', file);
    return good || ferror(file) || error_set(error, "out of memory for a profile");
}
