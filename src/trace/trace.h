/* A trace is read the same way whether it comes from a file, from a pipe or live from a running
 * program: trace_next() hands out batches of dynamic instructions, each of one guest thread, in an
 * order in which threads could have run.
 *
 *     struct trace *trace = trace_open("gzip.ctrace", &error);       (or trace_capture())
 *     while ((status = trace_next(trace, &batch, &error)) > 0)
 *         ... batch.insns[0 .. batch.insn_count-1] of batch.thread ...
 *     trace_close(trace);
 *
 * Hostile input: every failure is one error naming file and offset. Memory is bounded by the static
 * code, the number of live threads and fixed buffers, never by the length of the trace. */
#pragma once

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/counts.h"
#include "trace/dynamic.h"
#include "trace/thread_event.h"
#include "util/error.h"
#include "util/watcher.h"

struct trace;

enum {
    TRACE_BATCH_INSNS = 4096,
    TRACE_BATCH_ACCESSES = 16384,
    TRACE_BATCH_ORDERS = 4096,
    TRACE_BATCH_PYTHON = 4096,
    TRACE_BATCH_MEMORY = 4096
};

struct trace_batch {
    uint32_t thread;     /* dense number from 0 over the whole trace, one per guest thread (a
                            thread's number is never reused) */
    uint32_t process;    /* dense number of (process, exec generation), from 0 */
    uint32_t insn_count; /* ≤ TRACE_BATCH_INSNS; 0 is possible with thread_ended */
    uint32_t access_count;
    const struct dynamic_insn *insns;     /* valid until the next trace_next() */
    const struct memory_access *accesses; /* insns[i].memory is relative to `first_access` */
    uint64_t first_insn;                  /* sequence number within the thread of insns[0] */
    uint64_t first_access; /* index within the thread of accesses[0]; insns[i].memory is the low 32
                              bits of the thread's index, so accesses[insns[i].memory −
                              (uint32_t)first_access] is its first */
    bool all_completed;    /* no instruction has DYN_FAULT; false: some may */
    bool thread_ended;     /* no batch of this thread follows */
    uint64_t passed;       /* instructions of the thread after insns[] that were passed over, see
                              trace_pass() */
    const struct thread_event *events; /* of the system calls among insns[], in their order: that at
                                          `position` is of insns[position − 1 − first_insn].
                                          Valid as long as insns[] */
    uint32_t event_count;
    uint32_t order_count;
    const struct trace_order *orders; /* of insns[], by `reader`; valid as long */
    uint32_t python_count;
    const struct trace_python *python; /* from an insns[] on, or from behind the last, by
                                          `position`; valid as long */
    const struct trace_memory *memory; /* behind insns[0] to insns[insn_count − 1], by `position`;
                                          valid as long */
    uint32_t memory_count;
};

/* Everything known about a process generation; grows inside trace_next(). */
struct trace_process {
    uint32_t pid;
    uint32_t parent;     /* number of the process that forked or exec'ed it; UINT32_MAX: none */
    uint32_t generation; /* 0: as forked, 1: after its first exec ... */
    char *command;       /* "gzip -9 -c file", as started */
    char *executable;
    bool traced;                 /* false: seen but not followed */
    const char *untraced_reason; /* "set-user-id program", "not followed (--follow)" ... */
    /* Of a process that is not traced: its native processor time in user mode, with that of the
     * children that it waited for. 0: it had none, or no process waited for it, or the trace is a
     * file. */
    double seconds;
};

/* How the program ended. */
struct trace_exit {
    bool known; /* false: the trace was cut (killed capture, truncated file, limit reached) */
    bool signaled;
    bool stopped; /* not known, for the capture ended it, as asked (stop_at_limit, seconds) */
    int status;   /* exit status or signal number */
};

/* A file that code lies in, wherever it is mapped. */
struct capture_image {
    const char *path;
    uint8_t build_id[20];
    uint8_t build_id_size; /* 0: none */
};

/* A point in the run of a thread: just before it executes an instruction for the `count`-th time
 * (PinPoints §3.1), a rep instruction with all its elements counting once. */
struct capture_marker {
    uint32_t image;   /* index; UINT32_MAX: code that lies in no file */
    uint32_t process; /* index, or its number in the trace when no processes are given */
    uint32_t thread; /* of the process, in order of creation, from 0; threads count by themselves */
    uint64_t offset; /* in the file; the address when there is none */
    uint64_t count;  /* from 1 */
};
/* A process of an earlier run, to be found again. Processes are numbered in the order of their
 * first events, which differs from run to run. What a process executes and which one forked it tell
 * which it is; among those that are alike, the order of that one's forks. */
struct capture_process {
    const char *executable, *command; /* NULL: not known, nothing is the same */
    uint32_t forker;                  /* index of what forked it; UINT32_MAX: the command itself */
    uint32_t fork;                    /* number of the fork among its forks, from 0 */
    uint32_t generation;              /* execs since */
};
struct capture_markers {
    const struct capture_process *processes;
    size_t process_count; /* 0: processes are known by their numbers */
    const struct capture_image *images;
    size_t image_count;
    const struct capture_marker *markers;
    size_t count;
    /* Before the ITEM_MARKER of a marker comes what the other threads of the process had executed
     * when it was reached, except for the block that each was in, and nothing beyond that. */
    bool all_threads;
};

/* Whether a mapped file is the image: the same build id or, of files that have none, the same path.
 * CAPTURE_CHANGED: the same path with another build id. */
enum capture_match { CAPTURE_OTHER, CAPTURE_SAME, CAPTURE_CHANGED };
enum capture_match capture_image_match(const struct capture_image *image, const char *path,
                                       const uint8_t *build_id, uint8_t build_id_size);

/* What to capture. Shared by capture to a file and live capture. */
struct capture_options {
    char *const *command; /* argv, NULL-terminated */
    bool addresses;       /* false: blocks only */
    struct capture_counts counted;
    uint64_t skip;  /* instructions (of all threads together) to run before capture
                       starts: with several, it may start a little later, never earlier */
    uint64_t limit; /* instructions to capture, of all threads together and exactly, then
                       the program runs on at full speed without capture; 0: no limit */
    /* Not NULL: capture starts when this is not 0. Not with `skip`, `from_symbol`, `slice_size`. */
    const volatile sig_atomic_t *begin;
    const char *from_symbol; /* start when this function is first entered; NULL: at once */
    int thread;              /* only the n-th thread of the process (0 the first); −1: all */
    bool follow;             /* fork children are captured too; exec always is */
    bool stop_at_limit;      /* kill the program when the limit is reached rather than let it end */
    double seconds;          /* so long after capture begins the program, with what is followed, is
                                asked to end (SIGTERM; SIGKILL five seconds later); 0: never */
    /* While the program runs on after the limit: called many times a second, by the thread that
     * reads. NULL: nobody. */
    void (*waiting)(void *context);
    void *waiting_context;
    /* Likewise while followed processes run on after the one that was started has ended. */
    void (*outlived)(void *context);
    /* Nothing was executed for seconds, for all threads wait for each other: who for what. NULL:
     * nobody hears it. */
    void (*stuck)(void *context, const char *text);
    bool repeatable; /* random numbers of the kernel and of RDRAND are the same every time */
    uint64_t seed;   /* which ones, then */
    bool fixed;      /* the run depends on nothing but the command's files: its environment,
                        clocks and the names of the machine are fixed, too (it is repeatable) */
    uint32_t layout; /* of its memory, then: trace/memory_layout.h */
    const char *const *variables; /* then also of its environment: "NAME=VALUE", or "NAME", as it
                                     is here */
    uint32_t variable_count;
    bool objects;       /* tell of memory that is allocated, freed and mapped (trace_memory): a
                           library that is preloaded into the command sees calls of malloc() */
    bool watch_effects; /* tell of the first system call that would change the world */
    bool harmless;      /* and do not make it: the program is killed there. What it would inherit
                           beyond the standard three and could write to goes nowhere */
    const char *qemu;   /* emulator to use; NULL: found by the program's ISA in PATH */
    const struct capture_markers *markers; /* to be told of as ITEM_MARKER; NULL: none. They count
                                              from the start of the run, also while skipping */
    int descriptors[3]; /* of the command's standard input, output and error; 0: the caller's */
    struct kept_files *kept; /* files that it maps are kept open in there; NULL: none are */
    const volatile sig_atomic_t *stop; /* or NULL: not 0 asks to end soon, as trace_interrupt() */
    const volatile sig_atomic_t *kill; /* or NULL: not 0, after that, kills the program at once */
    uint64_t slice_size; /* instructions, at most 2^60; not 0: items tell in slices of so many of
                            a thread how often each block was executed (trace/counts.h), and
                            nothing of addresses. `skip` counts those of the first thread, for
                            which executions are told, too; not with `from_symbol`. Only for
                            capture_start() */
};

/* Opens a trace file, or standard input for "-". */
struct trace *trace_open(const char *path, struct error *error);

/* The same for a file that is read many times: its instructions are decoded once, and remembered in
 * `memo` (isa/memo.h), which outlives the traces. NULL: decoded anew. */
struct insn_memo;
struct trace *trace_open_again(const char *path, struct insn_memo *memo, struct error *error);

/* Opens the file of a trace, which has been read to its end, once more: as for a reader of each
 * thread. The code, with its numbers, is that of the trace `read`, which is neither settled nor
 * closed before this one; one thread of the host uses both. */
struct trace *trace_open_beside(const char *path, struct trace *read, struct error *error);

/* Starts the command under capture and returns its live trace. The command has the caller's
 * standard input, output and error. NULL with `*exec_status` 126 or 127 when it cannot be run or
 * found, 125 when culprit lacks something. */
struct trace *trace_capture(const struct capture_options *options, int *exec_status,
                            struct error *error);

/* The architecture of the program that a command runs; false: it cannot be captured, as
 * trace_capture() would say. */
bool trace_command_isa(char *const *command, enum isa *isa);

/* The emulator of an architecture; false: there is none, or it was built without plugins. */
bool trace_emulator(enum isa isa, char path[PATH_MAX], struct error *error);

/* Next batch. 1: got one; 0: the end; −1: error (what was read so far stays valid). A command that
 * ends before its capture began, by `skip`, `from_symbol` or `thread`, is an error that says how
 * long it ran. */
int trace_next(struct trace *trace, struct trace_batch *batch, struct error *error);

/* Where a thread comes from. Known before the first batch of the thread, also with trace_only(). */
struct trace_thread {
    uint32_t creator;          /* THREAD_EVENT_NO_THREAD: its process has begun with it, or it was
                                  there before the capture, or the trace has no events */
    uint32_t creator_event;    /* `number` of the creator's THREAD_EVENT_CREATE */
    uint64_t creator_position; /* of that event, as captured: instructions of the creator that did
                                  not complete, for they raised a signal, do not count */
};
struct trace_thread trace_thread(const struct trace *trace, uint32_t thread);

struct code_placement;
/* Before the first trace_next(): instructions of a program have other addresses
 * (trace/code_placement.h). It lives as long as the trace is read. */
void trace_place(struct trace *trace, const struct code_placement *placement);

/* Before a trace_next(): the caller will not look at the next `insns` instructions, of all threads
 * together. Whole chunks of events among them are not decoded (the price of skipping falls to
 * almost nothing) and come out as batches that say how many were `passed`, without their
 * instructions. A hint: fewer may be passed, never more. Holds for one trace_next(). */
void trace_pass(struct trace *trace, uint64_t insns);

/* Before the first trace_next(): what other threads did is not decoded, and does not come out. */
void trace_only(struct trace *trace, uint32_t thread);
/* The same; from a file, chunks of other threads need not even be read: trace_watch() may see them
 * without events. Not with trace_keep(). */
void trace_alone(struct trace *trace, uint32_t thread);
/* Before the first trace_next(): everything is passed over (trace_pass()). From a file, events are
 * not even decoded: trace_watch() may see chunks without them. Not with trace_keep(). */
void trace_outline(struct trace *trace);

/* No trace_next() follows: frees what only reading needs, which is most of what a trace of large
 * programs holds. The code keeps its instructions and images, but no µops; all that the functions
 * below tell stays. */
void trace_settle(struct trace *trace);

/* The first system call of a live trace that would change the world (watch_effects); NULL: none so
 * far. It may be told before the batches that lead to it. */
struct trace_effect {
    uint32_t thread;
    uint64_t position; /* instructions of the thread before it */
    char *what;        /* "deleting big.tar" */
};
const struct trace_effect *trace_effect(const struct trace *trace);

/* ---- chunks: events as they were captured ---- */

struct trace_chunk {
    uint32_t thread, process;
    uint64_t first_insn; /* instructions of the thread before it */
    uint64_t insn_count;
    uint32_t event_count;
    const uint64_t *events; /* trace/event.h */
    enum chunk_counts counted;
};

/* Shows every chunk before it is decoded or passed over. A `watch` that returns false ends the
 * trace with its error. */
void trace_watch(struct trace *trace,
                 bool (*watch)(void *context, const struct trace_chunk *chunk, struct error *error),
                 void *context);

/* A block that events speak of. */
struct trace_block {
    const struct dynamic_insn *insns; /* only .insn counts: the static instructions of the block */
    uint32_t insn_count;
};
uint32_t trace_block_count(const struct trace *trace, uint32_t process);
/* `block` below that count; good until the next trace_next(). */
struct trace_block trace_block(const struct trace *trace, uint32_t process, uint32_t block);

/* Before the first trace_next(): what is read is kept in a trace file as well, so that it can be
 * read once more. */
bool trace_keep(struct trace *trace, const char *path, struct error *error);
/* Likewise, but where it cannot be kept any longer, it is no more, and reading goes on. */
bool trace_keep_if_possible(struct trace *trace, const char *path, struct error *error);
/* Whether all so far is kept. */
bool trace_keeps(const struct trace *trace);
/* From now on nothing is kept; the file is completed. */
bool trace_keep_end(struct trace *trace, struct error *error);
/* While all is kept: the same trace from its beginning, first from the file, then on from where it
 * stands. `trace` is closed, also on failure. */
struct trace *trace_again(struct trace *trace, const char *path, struct error *error);

/* Asks a live trace to end soon: safe from a signal handler. The program is told to stop (SIGINT
 * reaches it anyway from the terminal) and trace_next() returns what is left, then 0. */
void trace_interrupt(struct trace *trace);

const struct code *trace_code(const struct trace *trace);
enum isa trace_isa(const struct trace *trace);
uint32_t trace_process_count(const struct trace *trace);
const struct trace_process *trace_process(const struct trace *trace, uint32_t number);
uint32_t trace_thread_count(const struct trace *trace);
/* The process was there before: exec put this program in place of another. */
bool trace_process_goes_on(const struct trace *trace, uint32_t number);
const char *trace_command(const struct trace *trace); /* util/quoted_command.h */
bool trace_has_addresses(const struct trace *trace);  /* false: captured without memory accesses */
struct trace_exit trace_exit_status(const struct trace *trace);
/* Known when trace_next() has returned 0: the file lacks its end (a note says so too). */
bool trace_is_cut(const struct trace *trace);

/* Warnings collected while capturing or reading, one line each, for the report's notes ("the
 * program used AVX-512 ...", "2 processes were not followed", "the trace is cut short"). */
uint32_t trace_note_count(const struct trace *trace);
const char *trace_note(const struct trace *trace, uint32_t number);

/* Ends a live capture if one runs (waits for the program), frees everything. */
void trace_close(struct trace *trace);

/* Captures a command into a file, which is removed again when no instruction came. Progress is
 * reported to the watcher about ten times a second; options->stop, not the watcher's, ends it. */
struct capture_result {
    uint64_t instructions, bytes, events;
    uint32_t threads, processes;
    double seconds;
    struct trace_exit exit;
    bool cut;         /* what was imported lacks its end, and so does what was written */
    char effect[256]; /* of the first system call that would change the world (watch_effects):
                         "deleting big.tar"; empty: none */
};
bool trace_record(const struct capture_options *options, const char *path, bool compress,
                  const struct watcher *watcher, struct capture_result *result, int *exec_status,
                  struct error *error);

/* What of a trace file is decoded to check it. */
enum check_depth {
    CHECK_PARTS, /* the code, and the events of the first chunks after each reset of predictions,
                    which are all of a short trace. Of other tools' files, which have no checksums,
                    everything */
    CHECK_ALL    /* everything, as by a simulation */
};

/* Reads a trace file from beginning to end: checksums, the order of records, the index, and what
 * `depth` says. One that is cut short is an error, unless it may be. The watcher is told the
 * instructions read so far, at most once a batch; when it stops, this ends early, with success. */
bool trace_check(const char *path, enum check_depth depth, bool may_be_cut,
                 const struct watcher *watcher, struct error *error);
