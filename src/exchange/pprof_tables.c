/* Ids are any numbers: each kind has a table from id to the index in its array. */
#include "exchange/pprof_tables.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/pprof.pb-c.h"
#include "util/array.h"

void pprof_tables_free(struct pprof_tables *tables) {
    arena_free(&tables->arena);
    free(tables->strings);
    free(tables->types);
    intern_free(&tables->mapping_ids);
    intern_free(&tables->location_ids);
    intern_free(&tables->function_ids);
    free(tables->mappings);
    free(tables->locations);
    free(tables->functions);
    *tables = (struct pprof_tables){0};
}

/* The index of a new id in an array with room for it; of an id seen before that of the first. */
static uint32_t enter(struct intern *ids, uint64_t id, void **items, size_t *capacity,
                      size_t item_size) {
    if (!array_reserve(items, capacity, ids->count + 1, item_size))
        return INTERN_NONE;
    return intern_add(ids, &id, sizeof id);
}

static bool add_string(struct pprof_tables *tables, const struct pprof_field *field) {
    if (!array_room(tables->strings, tables->string_capacity, tables->string_count + 1))
        return false;
    /* A NUL inside would end it for everybody else. */
    size_t size = strnlen((const char *)field->bytes, field->size);
    char *copy = size ? arena_copy(&tables->arena, (const char *)field->bytes, size) : "";
    tables->strings[tables->string_count++] = copy;
    return copy != NULL;
}

static bool add_type(struct pprof_tables *tables, const Pprof__ValueType *type) {
    return array_push(tables->types, tables->type_capacity, tables->type_count,
                      (struct pprof_type){type->type, type->unit});
}

static bool add_mapping(struct pprof_tables *tables, const Pprof__Mapping *mapping) {
    uint32_t at = enter(&tables->mapping_ids, mapping->id, (void **)&tables->mappings,
                        &tables->mapping_capacity, sizeof *tables->mappings);
    if (at == INTERN_NONE)
        return false;
    tables->mappings[at] = (struct pprof_mapping){.start = mapping->memory_start,
                                                  .file_offset = mapping->file_offset,
                                                  .file = mapping->filename,
                                                  .build_id = mapping->build_id,
                                                  .image = INTERN_NONE};
    return true;
}

static bool add_location(struct pprof_tables *tables, const Pprof__Location *location) {
    uint32_t at = enter(&tables->location_ids, location->id, (void **)&tables->locations,
                        &tables->location_capacity, sizeof *tables->locations);
    if (at == INTERN_NONE)
        return false;
    size_t lines = location->n_line;
    tables->locations[at] =
        (struct pprof_location){.mapping = location->mapping_id,
                                .address = location->address,
                                .function = lines ? location->line[lines - 1]->function_id : 0,
                                .image = INTERN_NONE};
    return true;
}

static bool add_function(struct pprof_tables *tables, const Pprof__Function *function) {
    uint32_t at = enter(&tables->function_ids, function->id, (void **)&tables->functions,
                        &tables->function_capacity, sizeof *tables->functions);
    if (at == INTERN_NONE)
        return false;
    tables->functions[at] = function->name ? function->name : function->system_name;
    return true;
}

/* ---- reading ---- */

static const ProtobufCMessageDescriptor *type_of(uint64_t number) {
    switch (number) {
    case PPROF_SAMPLE_TYPE:
        return &pprof__value_type__descriptor;
    case PPROF_MAPPING:
        return &pprof__mapping__descriptor;
    case PPROF_LOCATION:
        return &pprof__location__descriptor;
    case PPROF_FUNCTION:
        return &pprof__function__descriptor;
    default:
        return NULL;
    }
}

static bool add_message(struct pprof_tables *tables, uint64_t number,
                        const ProtobufCMessage *message) {
    switch (number) {
    case PPROF_SAMPLE_TYPE:
        return add_type(tables, (const Pprof__ValueType *)message);
    case PPROF_MAPPING:
        return add_mapping(tables, (const Pprof__Mapping *)message);
    case PPROF_LOCATION:
        return add_location(tables, (const Pprof__Location *)message);
    default:
        return add_function(tables, (const Pprof__Function *)message);
    }
}

static bool add_field(struct pprof_tables *tables, const struct pprof_reader *reader,
                      const struct pprof_field *field, struct error *error) {
    const ProtobufCMessageDescriptor *type = type_of(field->number);
    bool good = true;
    if (type) {
        ProtobufCMessage *message = pprof_unpack(reader, field, type, error);
        if (!message)
            return false;
        good = add_message(tables, field->number, message);
        protobuf_c_message_free_unpacked(message, NULL);
    } else if (field->number == PPROF_STRING && field->message)
        good = add_string(tables, field);
    else if (field->number == PPROF_TIME_NANOS)
        tables->time_ns = (int64_t)field->value;
    else if (field->number == PPROF_DURATION_NANOS)
        tables->duration_ns = (int64_t)field->value;
    return good || input_fail_offset(reader->input, error, "out of memory");
}

bool pprof_tables_read(struct pprof_tables *tables, struct pprof_reader *reader,
                       struct error *error) {
    struct pprof_field field;
    int got;
    *tables = (struct pprof_tables){0};
    while ((got = pprof_read(reader, &field, error)) > 0)
        if (!add_field(tables, reader, &field, error))
            return false;
    if (got == 0 && !tables->type_count)
        return error_set(error, "%s: no sample types in it: is it a profile of pprof?",
                         reader->input->path);
    return got == 0;
}

/* ---- looking up ---- */

const char *pprof_string(const struct pprof_tables *tables, int64_t number) {
    return number > 0 && (uint64_t)number < tables->string_count ? tables->strings[number] : "";
}

struct pprof_mapping *pprof_mapping(const struct pprof_tables *tables, uint64_t id) {
    uint32_t at = intern_find(&tables->mapping_ids, &id, sizeof id);
    return at == INTERN_NONE ? NULL : &tables->mappings[at];
}

struct pprof_location *pprof_location(const struct pprof_tables *tables, uint64_t id) {
    uint32_t at = intern_find(&tables->location_ids, &id, sizeof id);
    return at == INTERN_NONE ? NULL : &tables->locations[at];
}

const char *pprof_function_name(const struct pprof_tables *tables, uint64_t id) {
    uint32_t at = intern_find(&tables->function_ids, &id, sizeof id);
    return at == INTERN_NONE ? "" : pprof_string(tables, tables->functions[at]);
}
