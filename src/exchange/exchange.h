/* Profiles of the store in the formats of other tools, and theirs in the store:
 *
 *     pprof         profile.proto, gzip-compressed: go tool pprof, and most services   both ways
 *     perf-script   the text that perf script prints                                   both ways
 *     folded        a line for each stack: flame graphs, speedscope                    out only
 *     callgrind     calls and costs by line: kcachegrind, callgrind_annotate           out only
 *     cachegrind    costs by line: cg_annotate                                         out only
 *     firefox       a processed profile: profiler.firefox.com                          out only
 *     csv           a line for each place and event                                    out only
 *     otlp          a request of OTLP, signal profiles: collectors of OpenTelemetry    out only
 *
 * Exports are written as the store is read; memory grows with distinct places only, of otlp with
 * stacks. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "store/store.h"

enum exchange_format {
    EXCHANGE_PPROF,
    EXCHANGE_PERF_SCRIPT,
    EXCHANGE_FOLDED,
    EXCHANGE_CALLGRIND,
    EXCHANGE_CACHEGRIND,
    EXCHANGE_FIREFOX,
    EXCHANGE_CSV,
    EXCHANGE_OTLP,
    EXCHANGE_FORMATS
};
const char *exchange_format_name(enum exchange_format format);
/* A command that shows such a file, which it takes last: "flamegraph.pl". */
const char *exchange_format_viewer(enum exchange_format format);
/* Whether a file of a simulation has several values for each stack: cycles, their components,
 * instructions. */
bool exchange_format_has_columns(enum exchange_format format);
/* Whether such files can be imported. */
bool exchange_format_is_read(enum exchange_format format);
/* "pprof, perf-script, folded ..." */
#define EXCHANGE_FORMAT_NAMES                                                                      \
    "pprof, perf-script, folded, callgrind, cachegrind, firefox, csv, otlp"
/* Those that can be imported. */
#define EXCHANGE_READ_NAMES "pprof or perf-script"
/* False: no format of this name; none that files of this name are of. */
bool exchange_format_find(const char *name, enum exchange_format *format);
bool exchange_format_of_file(const char *path, enum exchange_format *format);

/* Writes what `filter` chooses to `file`, of which a descriptor is used (fileno). EXCHANGE_FOLDED
 * and EXCHANGE_FIREFOX have one value a line: more than one event is an error that names them.
 * Which runs are estimated stands in the file where its format has room for it, and is printed to
 * `notes`, a line each (NULL: nowhere). */
bool exchange_export(struct store *store, const struct store_filter *filter,
                     enum exchange_format format, FILE *file, FILE *notes, struct error *error);

/* What was imported. */
struct exchange_imported {
    int64_t session;
    uint64_t records;  /* of the file: each one or more samples */
    uint64_t unknown;  /* of them in no known image */
    uint64_t unplaced; /* of them known by an address alone, as no mappings were printed */
    size_t images, processes, events;
};

/* Adds a session of kind imported, named by the file, with what `path` ("-": standard input) holds,
 * all or nothing. `format` EXCHANGE_FORMATS: told from its first bytes. */
bool exchange_import(struct store *store, const char *path, enum exchange_format format,
                     struct exchange_imported *imported, struct error *error);
