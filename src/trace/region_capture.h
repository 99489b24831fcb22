/* Captures regions of a command's run, each into a trace of its own: runs the command once, finds
 * the regions by their markers (PinPoints §3.1), and keeps of each what its thread executed from
 * some instructions before it, its warm-up, or the last part of that (`before`), to its end; and,
 * if wanted, what the other threads of its process executed meanwhile (§3.4.1). Which is told by
 * what each thread has executed when the markers are reached, but for the block that it is in;
 * where a region ends with its thread, likewise.
 *
 * Such a trace is whole by itself: one process and the region's thread, both numbered 0, other
 * threads from 1 on, the code that is entered in it, and notes that say which region it is. Its
 * first instruction of thread 0 is the thread's number `trace_first`; first_insn of its chunks
 * still counts from the thread's start. Events come in chunks of some 100,000 instructions, so a
 * trace begins and ends up to that much before and behind what is wanted.
 *
 *     struct region_capture *capture = region_capture_start(&options, regions, count, &status,
 *                                                           &error);
 *     bool good = capture && region_capture_run(capture, &error);
 *     ... what is complete is so, also when not good ...
 *     region_capture_close(capture); */
#pragma once

#include "program/code_symbol.h"
#include "trace/region_stream.h"
#include "trace/trace.h"

struct item_data;
struct kept_code;

enum {
    REGION_CAPTURE_MAX = 1 << 16, /* regions */
    REGION_CAPTURE_MAX_OPEN = 64, /* traces that are written at once */
};
/* What a last-level cache of 32 MB takes to fill: after 10 M instructions xz is still 15 % slow,
 * after 100 M right. */
static const uint64_t REGION_DEFAULT_WARM_UP = 100000000;

/* Times a region's own instructions: more than threads that run side by side execute meanwhile,
 * fewer than go by while its thread waits for theirs. */
enum { REGION_DEFAULT_OTHERS = 100 };

enum region_state {
    REGION_AWAITED,
    REGION_TOLD, /* what comes before it is; its trace is not begun */
    REGION_OPEN,
    REGION_COMPLETE,
    REGION_FAILED
};

struct capture_region {
    /* Given by the caller; strings must outlive the capture. */
    uint32_t id;                  /* names it in messages and in its trace */
    uint32_t process, thread;     /* numbers of the profiled run */
    uint32_t ordinal;             /* of the thread in its process, in order of creation */
    uint64_t first, instructions; /* expected: positions in the thread */
    uint64_t warm_from; /* its warm-up need not begin before this one, at most `first`: what
                           comes before lies in the trace of another */
    struct capture_marker start; /* count at least 1 */
    struct capture_marker end;   /* count 0: the region ends with its thread, but has no more than
                                    `instructions` */
    const char *path;            /* of its trace */

    /* Found out; valid when complete. Positions in the thread, in instructions. */
    enum region_state state;
    bool started, ended;
    uint64_t found_first, found_end;
    uint64_t expected_begin;          /* of its trace, from what was known before it started */
    uint64_t told_first;              /* what comes before it was told from there on */
    uint64_t trace_first, trace_last; /* that its trace holds: [trace_first, trace_last) */
    uint32_t trace_threads;           /* in its trace */
    bool others_cut;                  /* it lacks what other threads executed later in the region */
    uint64_t bytes;                   /* of the trace */
    char failure[400];                /* why it failed */
};

/* Instructions in the trace before the region, and to its end; how far it lies from where it was
 * expected. */
static inline uint64_t region_trace_start(const struct capture_region *region) {
    return region->found_first - region->trace_first;
}
static inline uint64_t region_trace_end(const struct capture_region *region) {
    return region->found_end - region->trace_first;
}
static inline int64_t region_skew(const struct capture_region *region) {
    return (int64_t)(region->found_first - region->first);
}

struct region_capture_progress {
    uint64_t instructions; /* executed by all threads, as far as known */
    size_t complete, failed;
};

struct region_capture_options {
    /* command, follow, repeatable, seed, qemu, descriptors, stop_at_limit (kill the command when
     * the last region is complete); the others are not looked at. */
    struct capture_options capture;
    const struct capture_image *images; /* that the markers lie in */
    size_t image_count;
    const struct capture_process *processes; /* of the profiled run, by number */
    size_t process_count;     /* 0: processes and threads are those of the same number */
    const char *list_command; /* that the regions were chosen from: for messages; NULL: not known */
    uint64_t warm_up;         /* instructions before each region, or all that there are */
    /* Of other threads of the region's process a trace holds at most so many times the region's own
     * instructions, before the region and in it, each; 0: nothing. What they execute while the
     * region's thread warms up is their warm-up. */
    uint64_t other_threads;
    /* Not NULL: of the instructions before a region its trace holds the last `written`, or a chunk
     * more, if there are. What its thread executes within `warm_up` before it, and in the chunk in
     * which it begins, is told here, in the order of the run, with the code that its process has
     * entered by then: what lies that far back at once, the rest when the region is found (its
     * `started`). False ends the capture. Not with `other_threads`. */
    bool (*before)(void *context, const struct capture_region *region, const struct item_data *data,
                   const struct kept_code *code, struct error *error);
    uint64_t written;
    bool compress;
    /* Called now and then; may be NULL. */
    void (*progress)(void *context, const struct region_capture_progress *sofar);
    /* The region's trace is closed and may be read, while the command runs on; may be NULL. */
    void (*complete)(void *context, const struct capture_region *region);
    /* Not NULL: no files are written. Each region's trace is a stream of these, of which
     * `streamed`, when it begins, becomes the reader. */
    struct region_streams *streams;
    void (*streamed)(void *context, const struct capture_region *region,
                     struct region_stream *stream);
    void *context;
};

struct region_capture;

/* Starts the command. `regions` are the caller's, and changed by the run; those of a thread in the
 * order of the run, not overlapping. NULL, with exec_status as in trace_capture(), when it does not
 * start; also, before it does, when a file at an image's path is another one now. */
struct region_capture *region_capture_start(const struct region_capture_options *options,
                                            struct capture_region *regions, size_t count,
                                            int *exec_status, struct error *error);
/* Runs to the end of the command. True: all regions are complete. Traces of the others are
 * removed. */
bool region_capture_run(struct region_capture *capture, struct error *error);
/* Asks the run to end soon: safe from a signal handler. */
void region_capture_interrupt(struct region_capture *capture);
/* Known after the run. */
struct trace_exit region_capture_exit(const struct region_capture *capture);
/* Names of the anonymous code of the process that all regions lie in, as known when it ended;
 * sorted, not overlapping; none when they lie in several. The capture's. */
const struct code_symbol *region_capture_symbols(const struct region_capture *capture,
                                                 size_t *count);
/* Waits for the command. May be called with NULL. */
void region_capture_close(struct region_capture *capture);
