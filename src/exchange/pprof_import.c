/* Reads the tables, then the samples, of each of which the innermost place counts. Sample types
 * that come as a pair of samples and of what they stand for (cpu in nanoseconds) are one event;
 * each other one is an event of its own, but for components of cycles, which signatures tell. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/component.h"
#include "exchange/import.h"
#include "exchange/pprof.pb-c.h"
#include "exchange/pprof_tables.h"
#include "tap/tap.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/text.h"

struct column {
    const char *event, *unit, *period_unit;
    int distance;   /* the column with the sum of periods; −1: none */
    bool distances; /* that is what this column holds: no event of its own */
    bool part;      /* of the cycles of another column, by component: likewise */
    uint64_t scale;
};

struct reading {
    struct input *input;
    struct import *import;
    struct pprof_tables tables;
    struct column *columns; /* of tables.types */
    const char *main_file;  /* base name of the first mapping: whose profile it is */
    struct error *error;
    struct gathered_frame *frames; /* of one sample */
    size_t frame_count, frame_capacity;
};

static bool out_of_memory(const struct reading *reading) {
    return input_fail_offset(reading->input, reading->error, "out of memory");
}

/* ---- sample types ---- */

static bool counts_samples(const char *type, const char *unit) {
    return !strcmp(unit, "count") &&
           (!strcmp(type, "samples") || !strcmp(type, "sample") ||
            text_ends_with(type, "_samples") || text_ends_with(type, "_sample"));
}

static const char *period_unit(const char *type, const char *unit) {
    if (!strcmp(unit, "nanoseconds"))
        return "ns";
    if (strcmp(unit, "count") != 0)
        return unit;
    return strstr(type, "cycles") ? "cycles" : "events";
}

/* "cycles_llc_miss", behind "cycles". */
static bool is_part(const char *whole, const char *type) {
    const size_t length = strlen(whole);
    if (!length || strncmp(type, whole, length) != 0 || type[length] != '_')
        return false;
    for (int i = 0; i < COMPONENT_COUNT; i++)
        if (!strcmp(type + length + 1, component_key(i)))
            return true;
    return false;
}

static bool choose_columns(struct reading *reading) {
    const struct pprof_tables *tables = &reading->tables;
    reading->columns = calloc(tables->type_count, sizeof *reading->columns);
    if (!reading->columns)
        return out_of_memory(reading);
    const char *whole = ""; /* the last with cycles */
    for (size_t i = 0; i < tables->type_count; i++) {
        struct column *column = &reading->columns[i];
        const char *type = pprof_string(tables, tables->types[i].type);
        const char *unit = pprof_string(tables, tables->types[i].unit);
        bool cycles = !strcmp(unit, "cycles");
        if (column->distances)
            continue;
        *column = (struct column){.event = *type ? type : "samples",
                                  .unit = cycles                         ? "1/840 cycles"
                                          : !strcmp(unit, "nanoseconds") ? "ns"
                                                                         : unit,
                                  .period_unit = "",
                                  .distance = -1,
                                  .part = cycles && is_part(whole, type),
                                  .scale = cycles ? 840 : 1};
        if (cycles && !column->part)
            whole = type;
        if (!counts_samples(type, unit))
            continue;
        column->unit = "samples";
        if (i + 1 == tables->type_count)
            continue;
        const char *next = pprof_string(tables, tables->types[i + 1].type);
        const char *next_unit = pprof_string(tables, tables->types[i + 1].unit);
        if (!*next || counts_samples(next, next_unit))
            continue;
        column->event = next;
        column->period_unit = period_unit(next, next_unit);
        column->distance = (int)i + 1;
        reading->columns[i + 1].distances = true;
    }
    return true;
}

/* ---- places ---- */

static enum image_kind kind_of(const char *file) {
    if (!strncmp(file, "[kernel", 7))
        return IMAGE_KERNEL;
    if (!strcmp(file, "[vdso]"))
        return IMAGE_VDSO;
    if (!strncmp(file, "[jit]", 5) || !strncmp(file, "//anon", 6))
        return IMAGE_JIT;
    if (!strcmp(file, "[unknown]"))
        return IMAGE_UNKNOWN;
    return file[0] == '[' ? IMAGE_MODULE : IMAGE_FILE;
}

static size_t read_build_id(const char *text, uint8_t build_id[BUILD_ID_MAX]) {
    size_t size = 0;
    for (; size < BUILD_ID_MAX && isxdigit((unsigned char)text[0]) &&
           isxdigit((unsigned char)text[1]);
         text += 2) {
        const char digits[3] = {text[0], text[1], 0};
        build_id[size++] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return *text ? 0 : size;
}

static uint32_t image_of_mapping(struct reading *reading, struct pprof_mapping *mapping) {
    if (mapping->image != INTERN_NONE)
        return mapping->image;
    const char *file = pprof_string(&reading->tables, mapping->file);
    uint8_t build_id[BUILD_ID_MAX];
    size_t size = read_build_id(pprof_string(&reading->tables, mapping->build_id), build_id);
    if (!*file)
        file = "[unknown]";
    enum image_kind kind = kind_of(file);
    mapping->image = gathered_image(&reading->import->gathered, kind,
                                    kind == IMAGE_KERNEL ? "[kernel]" : file, build_id, size);
    return mapping->image;
}

/* "gzip+0x2f40" of the image gzip stands for a function without a name. */
static bool is_placeholder(const char *name, const char *file) {
    const char *base = file_base_name(file);
    size_t length = strlen(base);
    return !strncmp(name, base, length) && !strncmp(name + length, "+0x", 3) &&
           name[length + 3 + strspn(name + length + 3, "0123456789abcdef")] == 0;
}

/* A location without mapping or address is known by its function alone. */
static bool locate(struct reading *reading, struct pprof_location *location) {
    struct gathered *gathered = &reading->import->gathered;
    struct pprof_mapping *mapping = pprof_mapping(&reading->tables, location->mapping);
    const char *name = pprof_function_name(&reading->tables, location->function);
    const char *file = mapping ? pprof_string(&reading->tables, mapping->file) : "";
    bool named = *name && !is_placeholder(name, file);
    uint64_t size = 1;
    if (mapping)
        location->image = image_of_mapping(reading, mapping);
    else
        location->image = *name ? gathered_image(gathered, IMAGE_JIT, "[functions]", NULL, 0)
                                : gathered_image(gathered, IMAGE_UNKNOWN, "[unknown]", NULL, 0);
    if (named && (!mapping || !location->address)) {
        location->offset = gathered_place_of_name(name);
        size = GATHERED_NAMED_BYTES;
    } else
        location->offset =
            location->address + (mapping ? mapping->file_offset - mapping->start : 0);
    if (location->image == GATHERED_NONE ||
        (named && !gathered_symbol(gathered, location->image, name, location->offset, size)))
        return out_of_memory(reading);
    return true;
}

/* ---- samples ---- */

struct labels {
    const char *process, *executable, *event; /* NULL: none */
    uint32_t signature;
};

static uint32_t read_signature(const char *text) {
    uint32_t signature = 0;
    while (*text) {
        size_t length = strcspn(text, "+");
        for (unsigned bit = 0; bit < PSV_BITS; bit++)
            if (strlen(psv_name(bit)) == length && !strncmp(psv_name(bit), text, length))
                signature |= 1u << bit;
        text += length + (text[length] == '+');
    }
    return signature;
}

static void read_labels(const struct reading *reading, const Pprof__Sample *sample,
                        struct labels *labels) {
    *labels = (struct labels){0};
    for (size_t i = 0; i < sample->n_label; i++) {
        const char *key = pprof_string(&reading->tables, sample->label[i]->key);
        const char *value = pprof_string(&reading->tables, sample->label[i]->str);
        if (!strcmp(key, "process") || (!strcmp(key, "comm") && !labels->process))
            labels->process = value;
        else if (!strcmp(key, "executable"))
            labels->executable = value;
        else if (!strcmp(key, "event") && *value)
            labels->event = value;
        else if (!strcmp(key, "signature"))
            labels->signature = read_signature(value);
    }
}

static bool add_values(struct reading *reading, const Pprof__Sample *sample,
                       const struct labels *labels, struct gathered_key *key) {
    struct gathered *gathered = &reading->import->gathered;
    for (size_t i = 0; i < sample->n_value; i++) {
        const struct column *column = &reading->columns[i];
        uint64_t value;
        if (sample->value[i] < 0)
            return input_fail_offset(reading->input, reading->error,
                                     "a negative value: a difference of profiles is no profile");
        if (column->distances || column->part || !sample->value[i])
            continue;
        if (__builtin_mul_overflow((uint64_t)sample->value[i], column->scale, &value))
            value = INT64_MAX;
        key->event = gathered_event(gathered, labels->event ? labels->event : column->event,
                                    column->unit, column->period_unit, column->scale > 1);
        if (key->event == GATHERED_NONE || !gathered_add(gathered, key, value) ||
            !gathered_add_stack(gathered, key, reading->frames, reading->frame_count, value))
            return out_of_memory(reading);
        if (column->distance >= 0 && sample->value[column->distance] > 0)
            gathered_period(gathered, key->event, (uint64_t)sample->value[column->distance], value);
        if (!sample->n_location_id && !strcmp(column->unit, "samples"))
            reading->import->session.unknown += value;
    }
    return true;
}

/* Locations of callers are within their calls already. One that is not in the profile is passed
 * over. */
static bool find_frames(struct reading *reading, const Pprof__Sample *sample,
                        const struct pprof_location *innermost) {
    reading->frame_count = 0;
    for (size_t i = 0; i == 0 || i < sample->n_location_id; i++) {
        struct pprof_location *caller =
            i ? pprof_location(&reading->tables, sample->location_id[i]) : NULL;
        if (caller && caller->image == INTERN_NONE && !locate(reading, caller))
            return false;
        const struct pprof_location *location = i ? caller : innermost;
        if (location && !array_push(reading->frames, reading->frame_capacity, reading->frame_count,
                                    (struct gathered_frame){location->image, location->offset}))
            return out_of_memory(reading);
    }
    return true;
}

static bool add_sample(struct reading *reading, const Pprof__Sample *sample) {
    struct gathered *gathered = &reading->import->gathered;
    struct pprof_location nowhere = {.image = INTERN_NONE}, *location = &nowhere;
    struct labels labels;
    if (sample->n_value != reading->tables.type_count)
        return input_fail_offset(reading->input, reading->error,
                                 "a sample of %zu values, where there are %zu sample types",
                                 sample->n_value, reading->tables.type_count);
    if (sample->n_location_id)
        location = pprof_location(&reading->tables, sample->location_id[0]);
    if (!location)
        return input_fail_offset(reading->input, reading->error,
                                 "a sample at location %" PRIu64 ", which is not in the profile",
                                 sample->location_id[0]);
    if (location->image == INTERN_NONE && !locate(reading, location))
        return false;
    if (!find_frames(reading, sample, location))
        return false;
    read_labels(reading, sample, &labels);
    struct gathered_key key = {
        .offset = location->offset, .image = location->image, .signature = labels.signature};
    key.process = gathered_process(gathered, labels.process ? labels.process : reading->main_file,
                                   labels.executable ? labels.executable : "");
    if (key.process == GATHERED_NONE)
        return out_of_memory(reading);
    reading->import->records++;
    return add_values(reading, sample, &labels, &key);
}

static bool read_samples(struct reading *reading, struct pprof_reader *reader) {
    struct pprof_field field;
    int got;
    while ((got = pprof_read(reader, &field, reading->error)) > 0) {
        if (field.number != PPROF_SAMPLE)
            continue;
        ProtobufCMessage *sample =
            pprof_unpack(reader, &field, &pprof__sample__descriptor, reading->error);
        bool good = sample && add_sample(reading, (const Pprof__Sample *)sample);
        if (sample)
            protobuf_c_message_free_unpacked(sample, NULL);
        if (!good)
            return false;
    }
    if (got == 0 && !reading->import->records)
        return error_set(reading->error, "%s: no samples in it", reading->input->path);
    return got == 0;
}

/* The profile says when it was taken. */
static void set_times(struct reading *reading) {
    const struct pprof_tables *tables = &reading->tables;
    struct store_session *session = &reading->import->session;
    if (tables->time_ns > 0)
        session->start = session->end = tables->time_ns;
    if (tables->time_ns > 0 && tables->duration_ns > 0 &&
        __builtin_add_overflow(tables->time_ns, tables->duration_ns, &session->end))
        session->end = session->start;
}

bool import_pprof(struct input *input, struct import *import, struct error *error) {
    struct reading reading = {.input = input, .import = import, .error = error, .main_file = ""};
    struct pprof_reader reader;
    bool good = pprof_reader_start(&reader, input, error) &&
                pprof_tables_read(&reading.tables, &reader, error) && choose_columns(&reading) &&
                input_rewind(input, error);
    if (good && reading.tables.mapping_ids.count)
        reading.main_file =
            file_base_name(pprof_string(&reading.tables, reading.tables.mappings[0].file));
    if (good) {
        set_times(&reading);
        good = read_samples(&reading, &reader);
    }
    free(reading.columns);
    pprof_tables_free(&reading.tables);
    free(reading.frames);
    pprof_reader_free(&reader);
    return good;
}
