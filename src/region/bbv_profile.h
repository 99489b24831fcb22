/* Profiles a run: the basic block vectors of its slices into a file (bbv.h), and what lies beside
 * it (slices.h) into that file's name with ".slices" behind it.
 *
 * A live command is counted by the emulator (trace/counts.h), which costs a little more than twice
 * its native time; a trace is read as fast as its file. Both give the same vectors and slices, with
 * two exceptions: where the part of long and looping code in all instructions falls to a small one
 * at once, a live slice may end a little later; and in a trace with addresses the emulator may have
 * cut very long blocks where it would not without. */
#pragma once

#include "region/execution_counts.h"
#include "trace/trace.h"
#include "util/watcher.h"

struct bbv_profile_options {
    const struct capture_options *capture; /* a command to run; its slice_size and addresses are
                                              overruled; NULL: a trace is read */
    const char *trace;                     /* then, the file; "-": standard input */
    uint64_t size;                         /* of a slice, instructions: 1 .. BBV_PROFILE_MAX_SIZE */
    const char *path;                      /* of the vectors, compressed if it ends in ".gz" */
    const char *counts_path; /* for execution_counts_write(); NULL: no counts. They make a live
                                run slower, for every block is then captured */
    struct watcher watcher;
};

enum { BBV_PROFILE_MIN_SIZE = 1000 };
#define BBV_PROFILE_MAX_SIZE ((uint64_t)1 << 60)

struct bbv_profile_result {
    uint64_t instructions, slices;
    uint64_t blocks; /* that were defined */
    uint32_t threads, processes, unfollowed;
    double seconds;
    bool complete; /* the run was seen to its end, or limit */
    bool written;  /* the files hold the slices */
    struct trace_exit exit;
    struct trace_effect effect; /* with watch_effects; `what` NULL: none */
    char **notes;
    size_t note_count, note_capacity;
};

/* False with *exec_status as capture_start(), or STATUS 0 when the command did run; what was
 * written until then stays, unless it holds no slice. bbv_profile_result_free() either way. */
bool bbv_profile(const struct bbv_profile_options *options, struct bbv_profile_result *result,
                 int *exec_status, struct error *error);
void bbv_profile_result_free(struct bbv_profile_result *result);

/* "gzip.bb" -> "gzip.bb.slices", "gzip.bb.gz" -> "gzip.bb.slices"; to be freed. */
char *bbv_slices_path(const char *path);
