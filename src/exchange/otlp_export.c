/* A request of OTLP, signal profiles (opentelemetry.io, "OTLP Specification", and the message
 * numbers of opentelemetry-proto 1.9, profiles/v1development): what a collector takes, as a file.
 *
 * A profile has one type of values, so there is one for each column. All refer to one dictionary,
 * whose entries are numbered in the order in which they are first referred to; they are packed into
 * it at once, each table's in its order, and mappings last, when it is known how far each reaches.
 * Memory grows with what is distinct and with the stacks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "exchange/export_columns.h"
#include "exchange/otlp.pb-c.h"
#include "program/code_identity.h"
#include "tap/tap.h"
#include "util/array.h"
#include "util/intern.h"

enum { NAME_BYTES = 4096, PAGE_BYTES = 4096, ATTRIBUTES = 4, ID_BYTES = 16, HEAD_BYTES = 20 };

/* Fields of the messages that are written here. */
enum { REQUEST_RESOURCE_PROFILES = 1, REQUEST_DICTIONARY = 2 };
enum { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPE_PROFILES = 2 };
enum { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES = 2 };
enum { PROFILE_SAMPLES = 2 };
enum table { /* fields of the dictionary */
             TABLE_MAPPINGS = 1,
             TABLE_LOCATIONS,
             TABLE_FUNCTIONS,
             TABLE_LINKS,
             TABLE_STRINGS,
             TABLE_ATTRIBUTES,
             TABLE_STACKS
};

struct bytes {
    uint8_t *items;
    size_t count, capacity;
};

struct mapping {
    int64_t image; /* its number in the store */
    uint64_t base; /* address of offset 0; 0: offsets are addresses */
    uint64_t lowest, highest;
    int32_t file, build_id; /* a string; an attribute, 0: none */
};

struct location_key {
    uint64_t mapping, offset; /* mapping: index; 0: a frame that is none */
};

struct function_key {
    int32_t name, file; /* strings */
    uint32_t line;      /* where it begins */
};

struct attribute_key {
    int32_t key, value; /* strings */
};

struct writer {
    struct export *export;
    struct export_columns columns;
    struct intern strings, locations, functions, attributes, stacks; /* numbers + 1 are indices,
                                                                        but of strings */
    struct mapping *mappings;                                        /* [0] is none */
    size_t mapping_count, mapping_capacity;
    struct bytes dictionary, samples[EXPORT_COLUMNS];
    int32_t *frames; /* of one stack */
    size_t frame_capacity;
    char service[NAME_BYTES]; /* the command that was met first */
};

static bool out_of_memory(const struct writer *writer) {
    return error_set(writer->export->error, "out of memory for the profile");
}

/* ---- bytes ---- */

static size_t put_varint(uint8_t *to, uint64_t value) {
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        to[size++] = (uint8_t)(value | 0x80);
    to[size++] = (uint8_t)value;
    return size;
}

/* What stands before so many bytes of a field; its size. */
static size_t put_head(uint8_t to[HEAD_BYTES], unsigned field, size_t size) {
    const size_t tag = put_varint(to, field << 3 | 2);
    return tag + put_varint(to + tag, size);
}

static size_t head_size(unsigned field, size_t size) {
    uint8_t head[HEAD_BYTES];
    return put_head(head, field, size);
}

static bool append(struct writer *writer, struct bytes *bytes, unsigned field, const void *data,
                   size_t size) {
    if (!array_reserve((void **)&bytes->items, &bytes->capacity, bytes->count + HEAD_BYTES + size,
                       1))
        return out_of_memory(writer);
    bytes->count += put_head(bytes->items + bytes->count, field, size);
    if (size)
        memcpy(bytes->items + bytes->count, data, size);
    bytes->count += size;
    return true;
}

static bool append_message(struct writer *writer, struct bytes *bytes, unsigned field,
                           const ProtobufCMessage *message) {
    const size_t size = protobuf_c_message_get_packed_size(message);
    if (!array_reserve((void **)&bytes->items, &bytes->capacity, bytes->count + HEAD_BYTES + size,
                       1))
        return out_of_memory(writer);
    bytes->count += put_head(bytes->items + bytes->count, field, size);
    bytes->count += protobuf_c_message_pack(message, bytes->items + bytes->count);
    return true;
}

/* ---- the dictionary ---- */

/* Functions below give the index of an entry, written when it is new; −1: failed. */

static int32_t index_of(struct writer *writer, struct intern *known, const void *key, size_t size,
                        bool *new) {
    const size_t before = known->count;
    const uint32_t number = intern_add(known, key, size);
    *new = number == before;
    if (number == INTERN_NONE || number >= INT32_MAX)
        return out_of_memory(writer) - 1;
    return (int32_t)number + 1;
}

static int32_t put_string(struct writer *writer, const char *text) {
    char clean[NAME_BYTES];
    bool new;
    export_clean(clean, sizeof clean, text, 0);
    const int32_t index =
        index_of(writer, &writer->strings, clean, strlen(clean), &new) - 1; /* "" is the first */
    if (index < 0 ||
        (new && !append(writer, &writer->dictionary, TABLE_STRINGS, clean, strlen(clean))))
        return -1;
    return index;
}

static int32_t put_attribute(struct writer *writer, const char *name, const char *text) {
    char clean[NAME_BYTES];
    export_clean(clean, sizeof clean, text, 0);
    const struct attribute_key key = {put_string(writer, name), put_string(writer, clean)};
    bool new;
    const int32_t index = key.key < 0 || key.value < 0
                              ? -1
                              : index_of(writer, &writer->attributes, &key, sizeof key, &new);
    if (index < 0)
        return -1;
    Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;
    Otlp__KeyValueAndUnit entry = OTLP__KEY_VALUE_AND_UNIT__INIT;
    value.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
    value.string_value = clean;
    entry.key_strindex = key.key;
    entry.value = &value;
    return new && !append_message(writer, &writer->dictionary, TABLE_ATTRIBUTES, &entry.base)
               ? -1
               : index;
}

static int32_t put_function(struct writer *writer, const char *name, const char *file,
                            uint32_t line) {
    const struct function_key key = {put_string(writer, name), put_string(writer, file ? file : ""),
                                     line};
    bool new;
    const int32_t index = key.name < 0 || key.file < 0
                              ? -1
                              : index_of(writer, &writer->functions, &key, sizeof key, &new);
    if (index < 0)
        return -1;
    Otlp__Function function = OTLP__FUNCTION__INIT;
    function.name_strindex = function.system_name_strindex = key.name;
    function.filename_strindex = key.file;
    function.start_line = key.line;
    return new && !append_message(writer, &writer->dictionary, TABLE_FUNCTIONS, &function.base)
               ? -1
               : index;
}

/* Each file has a range of addresses; offsets of what is none, and those beyond it, are addresses
 * already. */
static const uint64_t RANGE = UINT64_C(1) << 36;

static bool is_addressed(const struct store_image *image, uint64_t offset) {
    return image->kind == IMAGE_JIT || image->kind == IMAGE_UNKNOWN ||
           image->kind == IMAGE_SOURCE || offset >= RANGE;
}

static int32_t put_build_id(struct writer *writer, const struct store_image *image) {
    char text[2 * BUILD_ID_MAX + 1] = "";
    if (!image->build_id_size || is_code_identity(image->build_id, image->build_id_size))
        return 0;
    for (size_t i = 0; i < image->build_id_size; i++)
        snprintf(text + 2 * i, 3, "%02x", image->build_id[i]);
    return put_attribute(writer, "process.executable.build_id.gnu", text);
}

/* The index of a mapping; 0: failed. Profiles come image by image: the last is nearly always it. */
static size_t find_mapping(struct writer *writer, const struct store_image *image, bool addressed) {
    for (size_t i = writer->mapping_count; i-- > 1;)
        if (writer->mappings[i].image == image->id && !writer->mappings[i].base == addressed)
            return i;
    const struct mapping new = {.image = image->id,
                                .base = addressed ? 0 : writer->mapping_count * RANGE,
                                .lowest = UINT64_MAX,
                                .file = put_string(writer, image->path),
                                .build_id = put_build_id(writer, image)};
    if (new.file < 0 || new.build_id < 0)
        return 0;
    if (!array_push(writer->mappings, writer->mapping_capacity, writer->mapping_count, new))
        return out_of_memory(writer);
    return writer->mapping_count - 1;
}

/* Inlined functions, innermost first, each with the place that was executing in it; at last the
 * procedure. */
static bool put_lines(struct writer *writer, const char *procedure, const struct location *at,
                      Otlp__Line *lines) {
    const char *file = at->file;
    uint32_t line = at->line;
    for (uint32_t i = 0; i <= at->inline_count; i++) {
        const bool inlined = i < at->inline_count;
        const char *name = inlined ? at->inlined[i].function : procedure;
        const uint32_t first = inlined ? at->inlined[i].function_line : at->function_line;
        otlp__line__init(&lines[i]);
        lines[i].function_index = put_function(writer, name ? name : "[inlined]", file, first);
        lines[i].line = line;
        if (lines[i].function_index < 0)
            return false;
        if (inlined) {
            file = at->inlined[i].file;
            line = at->inlined[i].line;
        }
    }
    return true;
}

static bool write_location(struct writer *writer, size_t mapping,
                           const struct export_frame *frame) {
    struct export *export = writer->export;
    Otlp__Location location = OTLP__LOCATION__INIT;
    Otlp__Line lines[LOCATION_MAX_INLINE + 1], *pointers[LOCATION_MAX_INLINE + 1];
    struct location at = {0};
    char procedure[NAME_BYTES];
    snprintf(procedure, sizeof procedure, "%s", frame->image ? "" : export_cut_name(frame->offset));
    if (frame->image &&
        !image_names_locate(export->names, frame->image, frame->offset, &at, export->error))
        return false;
    if (at.function || at.function_size)
        export_procedure(frame->image, &at, procedure, sizeof procedure);
    if (*procedure) {
        if (!put_lines(writer, procedure, &at, lines))
            return false;
        for (uint32_t i = 0; i <= at.inline_count; i++)
            pointers[i] = &lines[i];
        location.n_lines = at.inline_count + 1;
        location.lines = pointers;
    }
    location.mapping_index = (int32_t)mapping;
    location.address = mapping ? writer->mappings[mapping].base + frame->offset : 0;
    return append_message(writer, &writer->dictionary, TABLE_LOCATIONS, &location.base);
}

static int32_t put_location(struct writer *writer, const struct export_frame *frame) {
    size_t mapping = 0;
    bool new;
    if (frame->image &&
        !(mapping = find_mapping(writer, frame->image, is_addressed(frame->image, frame->offset))))
        return -1;
    const struct location_key key = {mapping, frame->offset};
    const int32_t index = index_of(writer, &writer->locations, &key, sizeof key, &new);
    if (index < 0 || (new && !write_location(writer, mapping, frame)))
        return -1;
    struct mapping *reached = &writer->mappings[mapping];
    reached->lowest = frame->offset < reached->lowest ? frame->offset : reached->lowest;
    reached->highest = frame->offset > reached->highest ? frame->offset : reached->highest;
    return index;
}

static int32_t put_stack(struct writer *writer, const struct export_stack *stack) {
    bool new;
    if (!array_room(writer->frames, writer->frame_capacity, stack->count))
        return out_of_memory(writer) - 1;
    for (size_t i = 0; i < stack->count; i++)
        if ((writer->frames[i] = put_location(writer, &stack->frames[i])) < 0)
            return -1;
    const int32_t index = index_of(writer, &writer->stacks, writer->frames,
                                   stack->count * sizeof *writer->frames, &new);
    if (index < 0 || !new)
        return index;
    Otlp__Stack entry = OTLP__STACK__INIT;
    entry.n_location_indices = stack->count;
    entry.location_indices = writer->frames;
    return append_message(writer, &writer->dictionary, TABLE_STACKS, &entry.base) ? index : -1;
}

/* The first entry of each table. A link has its sizes: readers want 16 and 8 bytes. */
static bool begin_dictionary(struct writer *writer) {
    static const uint8_t LINK[] = {1 << 3 | 2, 16, 0, 0, 0,          0, 0, 0, 0, 0, 0, 0, 0, 0,
                                   0,          0,  0, 0, 2 << 3 | 2, 8, 0, 0, 0, 0, 0, 0, 0, 0};
    const struct mapping none = {0};
    for (unsigned table = TABLE_MAPPINGS; table <= TABLE_STACKS; table++)
        if (table != TABLE_STRINGS && !append(writer, &writer->dictionary, table, LINK,
                                              table == TABLE_LINKS ? sizeof LINK : 0))
            return false;
    return put_string(writer, "") == 0 &&
           (array_push(writer->mappings, writer->mapping_capacity, writer->mapping_count, none) ||
            out_of_memory(writer));
}

static bool end_dictionary(struct writer *writer) {
    for (size_t i = 1; i < writer->mapping_count; i++) {
        const struct mapping *from = &writer->mappings[i];
        const uint64_t first = from->base ? 0 : from->lowest & -(uint64_t)PAGE_BYTES;
        const uint64_t end = from->highest | (PAGE_BYTES - 1);
        int32_t build_id = from->build_id;
        Otlp__Mapping mapping = OTLP__MAPPING__INIT;
        mapping.memory_start = from->base + first;
        mapping.memory_limit = from->base + end + (end < UINT64_MAX);
        mapping.file_offset = first;
        mapping.filename_strindex = from->file;
        mapping.attribute_indices = &build_id;
        mapping.n_attribute_indices = build_id > 0;
        if (!append_message(writer, &writer->dictionary, TABLE_MAPPINGS, &mapping.base))
            return false;
    }
    return true;
}

/* ---- samples ---- */

static bool add_attribute(struct writer *writer, int32_t *attributes, size_t *count,
                          const char *name, const char *value) {
    if (!*value)
        return true;
    attributes[*count] = put_attribute(writer, name, value);
    return attributes[(*count)++] >= 0;
}

static bool visit_stack(void *context, const struct export_stack *stack) {
    struct writer *writer = context;
    int32_t attributes[ATTRIBUTES];
    int64_t values[EXPORT_COLUMNS];
    char signature[NAME_BYTES] = "";
    Otlp__Sample sample = OTLP__SAMPLE__INIT;
    if (stack->event->cycles)
        psv_format(stack->signature, signature, sizeof signature);
    if (!*writer->service)
        export_clean(writer->service, sizeof writer->service, stack->process->command, 0);
    if ((sample.stack_index = put_stack(writer, stack)) < 0 ||
        !add_attribute(writer, attributes, &sample.n_attribute_indices, "process.command",
                       stack->process->command) ||
        !add_attribute(writer, attributes, &sample.n_attribute_indices, "process.executable.path",
                       stack->process->executable) ||
        !add_attribute(writer, attributes, &sample.n_attribute_indices, "culprit.signature",
                       signature))
        return false;
    sample.attribute_indices = attributes;
    export_columns_fill(&writer->columns, stack, values);
    for (size_t i = 0; i < writer->columns.count; i++) {
        sample.values = &values[i];
        sample.n_values = 1;
        if (values[i] &&
            !append_message(writer, &writer->samples[i], PROFILE_SAMPLES, &sample.base))
            return false;
    }
    return true;
}

/* ---- the request ---- */

static bool fill_type(struct writer *writer, size_t column, Otlp__ValueType *type) {
    otlp__value_type__init(type);
    type->type_strindex = put_string(writer, writer->columns.items[column].name);
    type->unit_strindex = put_string(writer, writer->columns.items[column].unit);
    return type->type_strindex >= 0 && type->unit_strindex >= 0;
}

/* All of a column's profile but its samples, which follow. */
static bool put_profile(struct writer *writer, size_t column, struct bytes *head) {
    const struct export *export = writer->export;
    const struct export_event *event = &export->events[0];
    uint8_t id[ID_BYTES];
    Otlp__Profile profile = OTLP__PROFILE__INIT;
    Otlp__ValueType type, period;
    size_t distance;
    if (!fill_type(writer, column, &type))
        return false;
    profile.sample_type = &type;
    profile.time_unix_nano = (uint64_t) export->start;
    profile.duration_nano =
        export->end > export->start ? (uint64_t)(export->end - export->start) : 0;
    if (export_columns_period(&writer->columns, &distance) && column <= distance &&
        event->value_written) {
        if (!fill_type(writer, distance, &period))
            return false;
        profile.period_type = &period;
        profile.period = (int64_t)(event->distance_written / event->value_written);
    }
    if (getrandom(id, sizeof id, 0) == sizeof id)
        profile.profile_id = (ProtobufCBinaryData){sizeof id, id};
    head->count = 0;
    const size_t size = protobuf_c_message_get_packed_size(&profile.base);
    if (!array_reserve((void **)&head->items, &head->capacity, size, 1))
        return out_of_memory(writer);
    head->count = protobuf_c_message_pack(&profile.base, head->items);
    return true;
}

static void fill_key(Otlp__KeyValue *key, Otlp__AnyValue *value, const char *name, char *text) {
    otlp__any_value__init(value);
    otlp__key_value__init(key);
    value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
    value->string_value = text;
    key->key = (char *)name;
    key->value = value;
}

/* The name of the service, and, of a profile that is estimated, that it is: of several the first.
 */
static bool put_resource(struct writer *writer, struct bytes *resource) {
    const struct export *export = writer->export;
    Otlp__AnyValue values[2];
    Otlp__KeyValue keys[2], *attributes[] = {&keys[0], &keys[1]};
    Otlp__Resource message = OTLP__RESOURCE__INIT;
    fill_key(&keys[0], &values[0], "service.name", writer->service);
    if (export->note_count)
        fill_key(&keys[1], &values[1], "culprit.note", export->notes[0]);
    message.n_attributes = export->note_count ? 2 : 1;
    message.attributes = attributes;
    return append_message(writer, resource, RESOURCE_PROFILES_RESOURCE, &message.base);
}

static bool put_scope(struct writer *writer, struct bytes *scope) {
    Otlp__InstrumentationScope message = OTLP__INSTRUMENTATION_SCOPE__INIT;
    message.name = (char *)"culprit";
    return append_message(writer, scope, SCOPE_PROFILES_SCOPE, &message.base);
}

static void write_head(FILE *file, unsigned field, size_t size) {
    uint8_t head[HEAD_BYTES];
    fwrite(head, 1, put_head(head, field, size), file);
}

static void write_bytes(FILE *file, const struct bytes *bytes) {
    fwrite(bytes->items, 1, bytes->count, file);
}

/* Sizes of the inner messages come first, from the inside out. */
static void write_request(const struct writer *writer, const struct bytes *heads,
                          const struct bytes *resource, const struct bytes *scope) {
    FILE *file = writer->export->file;
    size_t profiles = scope->count;
    for (size_t i = 0; i < writer->columns.count; i++) {
        const size_t size = heads[i].count + writer->samples[i].count;
        profiles += head_size(SCOPE_PROFILES_PROFILES, size) + size;
    }
    write_head(file, REQUEST_RESOURCE_PROFILES,
               resource->count + head_size(RESOURCE_PROFILES_SCOPE_PROFILES, profiles) + profiles);
    write_bytes(file, resource);
    write_head(file, RESOURCE_PROFILES_SCOPE_PROFILES, profiles);
    write_bytes(file, scope);
    for (size_t i = 0; i < writer->columns.count; i++) {
        write_head(file, SCOPE_PROFILES_PROFILES, heads[i].count + writer->samples[i].count);
        write_bytes(file, &heads[i]);
        write_bytes(file, &writer->samples[i]);
    }
    write_head(file, REQUEST_DICTIONARY, writer->dictionary.count);
    write_bytes(file, &writer->dictionary);
}

static bool put_request(struct writer *writer) {
    struct bytes heads[EXPORT_COLUMNS] = {{0}}, resource = {0}, scope = {0};
    bool good = put_resource(writer, &resource) && put_scope(writer, &scope);
    for (size_t i = 0; good && i < writer->columns.count; i++)
        good = put_profile(writer, i, &heads[i]);
    if (good && (good = end_dictionary(writer)))
        write_request(writer, heads, &resource, &scope);
    for (size_t i = 0; i < writer->columns.count; i++)
        free(heads[i].items);
    free(resource.items);
    free(scope.items);
    return good;
}

static void free_writer(struct writer *writer) {
    for (size_t i = 0; i < EXPORT_COLUMNS; i++)
        free(writer->samples[i].items);
    intern_free(&writer->strings);
    intern_free(&writer->locations);
    intern_free(&writer->functions);
    intern_free(&writer->attributes);
    intern_free(&writer->stacks);
    free(writer->mappings);
    free(writer->frames);
    free(writer->dictionary.items);
    free(writer);
}

bool export_otlp(struct export *export) {
    struct writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return error_set(export->error, "out of memory for the profile");
    writer->export = export;
    const bool good = export_columns_find(&writer->columns, export) && begin_dictionary(writer) &&
                      export_each_stack(export, visit_stack, writer) && put_request(writer);
    free_writer(writer);
    return good;
}
