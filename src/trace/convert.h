/* Traces from one format to another: what trace_open() reads, which may be of another tool, into a
 * .ctrace file; what is captured or was, into ChampSim's format. */
#pragma once

#include "trace/trace.h"

/* Into a .ctrace file; as trace_record(), which reports as much; when the watcher stops, it ends
 * early, with what was read. */
bool trace_import(const char *from, const char *path, bool compress, const struct watcher *watcher,
                  struct capture_result *result, struct error *error);

/* What ChampSim's format has no room for. */
struct champsim_lost {
    uint64_t accesses; /* more loads than 4 of an instruction, more stores than 2 */
    uint64_t others;   /* instructions of other threads */
    uint64_t records;  /* that were written: elements of repeated instructions are one each */
};

/* One thread of a trace, which is read to its end, as records of ChampSim. Packed as the ending of
 * `path` says: .xz, .gz, or not at all ("-": standard output). A file gets its name when it is
 * complete. */
bool trace_write_champsim(struct trace *trace, uint32_t thread, const char *path,
                          const struct watcher *watcher, struct capture_result *result,
                          struct champsim_lost *lost, struct error *error);
