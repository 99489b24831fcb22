/* What the samples of a profile refer to: strings, sample types, mappings, locations, functions.
 * They may stand behind the samples, so they are read first and the samples in a second pass. */
#pragma once

#include "exchange/pprof_wire.h"
#include "util/intern.h"

struct pprof_mapping {
    uint64_t start, file_offset;
    int64_t file, build_id; /* strings */
    uint32_t image;         /* of struct gathered; INTERN_NONE: not yet */
};

struct pprof_location {
    uint64_t mapping, address, function; /* ids; the function is the real, not an inlined one */
    uint64_t offset;                     /* in `image` */
    uint32_t image;                      /* as above */
};

struct pprof_type {
    int64_t type, unit; /* strings */
};

struct pprof_tables {
    struct arena arena;
    const char **strings;
    size_t string_count, string_capacity;
    struct pprof_type *types;
    size_t type_count, type_capacity;
    struct intern mapping_ids, location_ids, function_ids; /* number the arrays below */
    struct pprof_mapping *mappings;
    size_t mapping_capacity;
    struct pprof_location *locations;
    size_t location_capacity;
    int64_t *functions; /* their names: strings */
    size_t function_capacity;
    int64_t time_ns, duration_ns;
};

/* pprof_tables_free() either way. */
bool pprof_tables_read(struct pprof_tables *tables, struct pprof_reader *reader,
                       struct error *error);
void pprof_tables_free(struct pprof_tables *tables);

/* "" of numbers that are none. */
const char *pprof_string(const struct pprof_tables *tables, int64_t number);
/* NULL: there is none. */
struct pprof_mapping *pprof_mapping(const struct pprof_tables *tables, uint64_t id);
struct pprof_location *pprof_location(const struct pprof_tables *tables, uint64_t id);
const char *pprof_function_name(const struct pprof_tables *tables, uint64_t id);
