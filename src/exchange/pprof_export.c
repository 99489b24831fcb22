/* Samples are written as the profiles are walked over, and with them whatever they are the first to
 * refer to; mappings come last, when it is known how far each reaches. A live event gives two
 * columns, samples and what they stand for; a simulated one its cycles, and a column for each of
 * their components that there is. Instructions of a simulation are samples of their own, at the
 * same stacks: readers sum what is at one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/export_columns.h"
#include "exchange/pprof.pb-c.h"
#include "exchange/pprof_wire.h"
#include "program/code_identity.h"
#include "tap/tap.h"
#include "util/array.h"
#include "util/intern.h"

enum {
    PAGE_BYTES = 4096,
    NAME_BYTES = 4096,
    COLUMNS_MAX = 128,
    EVENTS_MAX = COLUMNS_MAX / 2,
    LABELS = 4
};

struct mapping {
    int64_t image; /* its number in the store */
    enum image_kind kind;
    uint64_t base;            /* address of offset 0; 0: offsets are addresses */
    uint64_t lowest, highest; /* offsets that have samples */
    int64_t file, build_id;   /* strings */
    uint64_t value;           /* of all samples: the first mapping is the main program */
    bool functions, files, lines;
};

struct location_key {
    uint64_t mapping, offset; /* mapping: index */
};

struct function_key {
    uint64_t mapping;
    int64_t name, file; /* strings */
    int64_t line;       /* where it begins */
};

struct profile {
    struct export *export;
    struct export_columns columns;
    struct pprof_writer writer;
    struct intern strings, locations, functions; /* ids of the latter two are numbers + 1 */
    struct mapping *mappings;
    size_t mapping_count, mapping_capacity;
    uint64_t *ids; /* of the locations of one stack */
    size_t id_capacity;
};

static bool out_of_memory(struct profile *profile) {
    return error_set(profile->export->error, "out of memory for the profile");
}

/* ---- what samples refer to ---- */

/* Number of a string, written when it is new; −1: failed. */
static int64_t put_string(struct profile *profile, const char *text) {
    char clean[NAME_BYTES];
    export_clean(clean, sizeof clean, text, 0);
    size_t known = profile->strings.count;
    uint32_t number = intern_add(&profile->strings, clean, strlen(clean));
    if (number == INTERN_NONE)
        return out_of_memory(profile) - 1;
    if (number == known &&
        !pprof_write_text(&profile->writer, PPROF_STRING, clean, profile->export->error))
        return -1;
    return number;
}

static int64_t put_build_id(struct profile *profile, const struct store_image *image) {
    char text[2 * BUILD_ID_MAX + 1] = "";
    /* A hash of the code is nobody else's affair. */
    const bool own = is_code_identity(image->build_id, image->build_id_size);
    for (size_t i = 0; !own && i < image->build_id_size; i++)
        snprintf(text + 2 * i, 3, "%02x", image->build_id[i]);
    return put_string(profile, text);
}

/* Each file has a range of addresses. Offsets beyond it, and those of what is no file, are
 * addresses already: an image may have a mapping of each sort. */
static const uint64_t RANGE = UINT64_C(1) << 36;

static bool is_addressed(const struct store_image *image, uint64_t offset) {
    return image->kind == IMAGE_JIT || image->kind == IMAGE_UNKNOWN ||
           image->kind == IMAGE_SOURCE || offset >= RANGE;
}

/* Profiles come image by image within a session: the last mapping is nearly always the one. */
static bool find_mapping(struct profile *profile, const struct store_image *image, bool addressed,
                         size_t *index) {
    for (*index = profile->mapping_count; (*index)-- > 0;)
        if (profile->mappings[*index].image == image->id &&
            !profile->mappings[*index].base == addressed)
            return true;
    if (!array_room(profile->mappings, profile->mapping_capacity, profile->mapping_count + 1))
        return out_of_memory(profile);
    *index = profile->mapping_count++;
    struct mapping *mapping = &profile->mappings[*index];
    *mapping = (struct mapping){.image = image->id,
                                .kind = image->kind,
                                .base = addressed ? 0 : (uint64_t)(*index + 1) * RANGE,
                                .lowest = UINT64_MAX,
                                .file = put_string(profile, image->path),
                                .build_id = put_build_id(profile, image)};
    return mapping->file >= 0 && mapping->build_id >= 0;
}

/* The id of a function; 0: failed. */
static uint64_t put_function(struct profile *profile, size_t mapping, const char *name,
                             const char *file, uint32_t line) {
    struct function_key key = {mapping, put_string(profile, name),
                               put_string(profile, file ? file : ""), line};
    if (key.name < 0 || key.file < 0)
        return 0;
    size_t known = profile->functions.count;
    uint32_t number = intern_add(&profile->functions, &key, sizeof key);
    if (number == INTERN_NONE)
        return out_of_memory(profile);
    Pprof__Function function = PPROF__FUNCTION__INIT;
    function.id = (uint64_t)number + 1;
    function.name = function.system_name = key.name;
    function.filename = key.file;
    function.start_line = key.line;
    if (number == known &&
        !pprof_write(&profile->writer, PPROF_FUNCTION, &function.base, profile->export->error))
        return 0;
    return function.id;
}

/* The lines of a location, innermost first: each inlined call with the place that was executing in
 * it, at last the procedure. False: failed. */
static bool put_lines(struct profile *profile, size_t mapping, const char *procedure,
                      const struct location *at, Pprof__Line *lines) {
    const char *file = at->file;
    uint32_t line = at->line;
    for (uint32_t i = 0; i <= at->inline_count; i++) {
        bool inlined = i < at->inline_count;
        const char *name = inlined ? at->inlined[i].function : procedure;
        const uint32_t first = inlined ? at->inlined[i].function_line : at->function_line;
        pprof__line__init(&lines[i]);
        lines[i].function_id =
            put_function(profile, mapping, name ? name : "[inlined]", file, first);
        lines[i].line = line;
        if (!lines[i].function_id)
            return false;
        if (inlined) {
            file = at->inlined[i].file;
            line = at->inlined[i].line;
        }
    }
    return true;
}

static bool write_location(struct profile *profile, uint64_t id, size_t index,
                           const struct store_image *image, uint64_t offset) {
    struct export *export = profile->export;
    struct mapping *mapping = &profile->mappings[index];
    struct location at;
    if (!image_names_locate(export->names, image, offset, &at, export->error))
        return false;
    Pprof__Location location = PPROF__LOCATION__INIT;
    Pprof__Line lines[LOCATION_MAX_INLINE + 1], *pointers[LOCATION_MAX_INLINE + 1];
    location.id = id;
    location.mapping_id = index + 1;
    location.address = mapping->base + offset;
    if (at.function || at.function_size) {
        char procedure[NAME_BYTES];
        export_procedure(image, &at, procedure, sizeof procedure);
        if (!put_lines(profile, index, procedure, &at, lines))
            return false;
        for (uint32_t i = 0; i <= at.inline_count; i++)
            pointers[i] = &lines[i];
        location.n_line = at.inline_count + 1;
        location.line = pointers;
        mapping->functions = true;
        mapping->files |= at.file != NULL;
        mapping->lines |= at.line != 0;
    }
    return pprof_write(&profile->writer, PPROF_LOCATION, &location.base, export->error);
}

/* The id of a location; 0: failed. */
static uint64_t put_location(struct profile *profile, size_t mapping,
                             const struct store_image *image, uint64_t offset) {
    struct location_key key = {mapping, offset};
    size_t known = profile->locations.count;
    uint32_t number = intern_add(&profile->locations, &key, sizeof key);
    if (number == INTERN_NONE)
        return out_of_memory(profile);
    uint64_t id = (uint64_t)number + 1;
    if (number == known && !write_location(profile, id, mapping, image, offset))
        return 0;
    struct mapping *reached = &profile->mappings[mapping];
    reached->lowest = offset < reached->lowest ? offset : reached->lowest;
    reached->highest = offset > reached->highest ? offset : reached->highest;
    return id;
}

/* ---- samples ---- */

struct labels {
    Pprof__Label label[LABELS], *pointers[LABELS];
    size_t count;
};

static bool add_label(struct profile *profile, struct labels *labels, const char *key,
                      const char *value) {
    Pprof__Label *label = &labels->label[labels->count];
    pprof__label__init(label);
    label->key = put_string(profile, key);
    label->str = put_string(profile, value);
    labels->pointers[labels->count++] = label;
    return label->key >= 0 && label->str >= 0;
}

/* A frame that is none lies in no file. */
static uint64_t put_cut(struct profile *profile, uint64_t cut) {
    struct location_key key = {SIZE_MAX, cut};
    size_t known = profile->locations.count;
    uint32_t number = intern_add(&profile->locations, &key, sizeof key);
    if (number == INTERN_NONE)
        return out_of_memory(profile);
    Pprof__Line line = PPROF__LINE__INIT, *lines = &line;
    Pprof__Location location = PPROF__LOCATION__INIT;
    location.id = (uint64_t)number + 1;
    location.n_line = 1;
    location.line = &lines;
    if (number == known &&
        (!(line.function_id = put_function(profile, SIZE_MAX, export_cut_name(cut), NULL, 0)) ||
         !pprof_write(&profile->writer, PPROF_LOCATION, &location.base, profile->export->error)))
        return 0;
    return location.id;
}

/* The ids of a stack's locations; false: failed. */
static bool put_locations(struct profile *profile, const struct export_stack *stack) {
    if (!array_room(profile->ids, profile->id_capacity, stack->count))
        return out_of_memory(profile);
    for (size_t i = 0; i < stack->count; i++) {
        const struct export_frame *frame = &stack->frames[i];
        size_t mapping;
        if (!frame->image) {
            profile->ids[i] = put_cut(profile, frame->offset);
        } else {
            if (!find_mapping(profile, frame->image, is_addressed(frame->image, frame->offset),
                              &mapping))
                return false;
            profile->ids[i] = put_location(profile, mapping, frame->image, frame->offset);
            if (!i)
                profile->mappings[mapping].value += stack->value;
        }
        if (!profile->ids[i])
            return false;
    }
    return true;
}

static bool write_sample(struct profile *profile, const struct export_stack *stack,
                         struct labels *labels) {
    int64_t values[EXPORT_COLUMNS];
    Pprof__Sample sample = PPROF__SAMPLE__INIT;
    char signature[NAME_BYTES];
    export_columns_fill(&profile->columns, stack, values);
    psv_format(stack->signature, signature, sizeof signature);
    if (!put_locations(profile, stack) ||
        (stack->event->cycles && !add_label(profile, labels, "signature", signature)))
        return false;
    sample.n_location_id = stack->count;
    sample.location_id = profile->ids;
    sample.n_value = profile->columns.count;
    sample.value = values;
    sample.n_label = labels->count;
    sample.label = labels->pointers;
    return pprof_write(&profile->writer, PPROF_SAMPLE, &sample.base, profile->export->error);
}

static bool visit_stack(void *context, const struct export_stack *stack) {
    struct profile *profile = context;
    struct labels labels = {.count = 0};
    return add_label(profile, &labels, "process", stack->process->command) &&
           add_label(profile, &labels, "event", stack->event->name) &&
           (!*stack->process->executable ||
            add_label(profile, &labels, "executable", stack->process->executable)) &&
           write_sample(profile, stack, &labels);
}

/* ---- the frame ---- */

static bool write_type(struct profile *profile, enum pprof_field_number number,
                       const struct export_column *column) {
    Pprof__ValueType type = PPROF__VALUE_TYPE__INIT;
    type.type = put_string(profile, column->name);
    type.unit = put_string(profile, column->unit);
    return type.type >= 0 && type.unit >= 0 &&
           pprof_write(&profile->writer, number, &type.base, profile->export->error);
}

/* Readers show the last unless they are told: of a simulation, cycles. */
static bool write_default_type(struct profile *profile) {
    return !profile->export->events[0].cycles ||
           pprof_write_number(&profile->writer, PPROF_DEFAULT_SAMPLE_TYPE,
                              put_string(profile, profile->columns.items[0].name),
                              profile->export->error);
}

static bool write_head(struct profile *profile) {
    struct export *export = profile->export;
    struct error *error = export->error;
    if (!export_columns_find(&profile->columns, export) || put_string(profile, "") != 0)
        return false;
    for (size_t i = 0; i < profile->columns.count; i++)
        if (!write_type(profile, PPROF_SAMPLE_TYPE, &profile->columns.items[i]))
            return false;
    for (size_t i = 0; i < export->note_count; i++) {
        const int64_t note = put_string(profile, export->notes[i]);
        if (note < 0 || !pprof_write_number(&profile->writer, PPROF_COMMENT, note, error))
            return false;
    }
    return write_default_type(profile) &&
           pprof_write_number(&profile->writer, PPROF_TIME_NANOS, export->start, error) &&
           pprof_write_number(&profile->writer, PPROF_DURATION_NANOS,
                              export->end > export->start ? export->end - export->start : 0, error);
}

/* The mean distance of the first event's samples. */
static bool write_period(struct profile *profile) {
    const struct export_event *event = &profile->export->events[0];
    size_t column;
    if (!export_columns_period(&profile->columns, &column) || !event->value_written)
        return true;
    return write_type(profile, PPROF_PERIOD_TYPE, &profile->columns.items[column]) &&
           pprof_write_number(&profile->writer, PPROF_PERIOD,
                              (int64_t)(event->distance_written / event->value_written),
                              profile->export->error);
}

static bool write_mapping(struct profile *profile, size_t index) {
    const struct mapping *from = &profile->mappings[index];
    Pprof__Mapping mapping = PPROF__MAPPING__INIT;
    bool addressed = !from->base, reached = from->lowest <= from->highest;
    uint64_t first = addressed && reached ? from->lowest & -(uint64_t)PAGE_BYTES : 0;
    uint64_t end = reached ? (from->highest | (PAGE_BYTES - 1)) : 0;
    mapping.id = index + 1;
    mapping.memory_start = from->base + first;
    mapping.memory_limit = from->base + end + (end < UINT64_MAX);
    mapping.file_offset = first;
    mapping.filename = from->file;
    mapping.build_id = from->build_id;
    mapping.has_functions = from->functions;
    mapping.has_filenames = mapping.has_inline_frames = from->files;
    mapping.has_line_numbers = from->lines;
    return pprof_write(&profile->writer, PPROF_MAPPING, &mapping.base, profile->export->error);
}

/* The file that most was counted in comes first. */
static bool write_mappings(struct profile *profile) {
    size_t main = 0;
    for (size_t i = 1; i < profile->mapping_count; i++) {
        const struct mapping *best = &profile->mappings[main], *other = &profile->mappings[i];
        bool file = other->kind == IMAGE_FILE, best_file = best->kind == IMAGE_FILE;
        if (file > best_file || (file == best_file && other->value > best->value))
            main = i;
    }
    bool good = !profile->mapping_count || write_mapping(profile, main);
    for (size_t i = 0; good && i < profile->mapping_count; i++)
        good = i == main || write_mapping(profile, i);
    return good;
}

bool export_pprof(struct export *export) {
    struct profile profile = {.export = export};
    struct error late;
    bool good = pprof_writer_start(&profile.writer, fileno(export->file), export->error) &&
                write_head(&profile) && export_each_stack(export, visit_stack, &profile) &&
                write_mappings(&profile) && write_period(&profile);
    if (!pprof_writer_finish(&profile.writer, good ? export->error : &late))
        good = false;
    intern_free(&profile.strings);
    intern_free(&profile.locations);
    intern_free(&profile.functions);
    free(profile.mappings);
    free(profile.ids);
    return good;
}
