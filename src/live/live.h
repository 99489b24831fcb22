/* What the collectors of live samples agree on (DCPI §4):
 *
 *     BPF on every processor (daemon) ──┐
 *                                       ├──► struct live_sink ──► resolver ──► store
 *     perf ring buffers (record) ───────┘
 *
 * A collector finds for each sample the place of its address while the address means what it meant
 * when the sample was taken; what it hands on is independent of address spaces. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/live_code.h"
#include "program/elf_image.h"
#include "util/error.h"

enum { LIVE_COMMAND_BYTES = 16, LIVE_EVENTS_MAX = 8 };

/* A process between two execs. Numbers of processes are reused, hence the start. */
struct live_process_key {
    uint32_t pid;      /* thread group, as the initial namespace numbers it; 0: the idle loop */
    uint32_t exec;     /* how often it has called exec, modulo 2^32 */
    uint64_t start_ns; /* since boot */
};

struct live_process {
    struct live_process_key key;
    uint32_t parent;                  /* thread group */
    char command[LIVE_COMMAND_BYTES]; /* name, NUL-terminated */
    const char *executable;           /* absolute path, as in its mount namespace; NULL: not told */
    bool in_exec; /* the name may be the next program's: the key is still that of the old one */
};

/* A file that is mapped executable somewhere. Where the kernel tells its build id in place of its
 * device and inode, `device` is LIVE_DEVICE_NONE and `inode` a hash of build id and path. */
#define LIVE_DEVICE_NONE UINT64_MAX
struct live_file_key {
    uint64_t device; /* major << 32 | minor */
    uint64_t inode;
    uint32_t generation; /* of the inode's number, which is reused; 0: not known */
};

struct live_file {
    struct live_file_key key;
    const char *path; /* absolute, as in the mount namespace of `seen_in`; "" when it is too long
                         or was not to be had; " (deleted)" is not part of it */
    uint8_t build_id[BUILD_ID_MAX];
    size_t build_id_size; /* 0: none, or not read yet */
    uint32_t seen_in;     /* a process that has it mapped */
};

enum live_place_kind {
    PLACE_FILE,      /* `file` and the offset in it */
    PLACE_KERNEL,    /* offset: the address */
    PLACE_ANONYMOUS, /* code that a process made; offset: the address */
    PLACE_VDSO,      /* offset: from its first byte */
    PLACE_UNKNOWN,   /* offset: the address */
    PLACE_CODE       /* `code`, and the offset in what its path names */
};

struct live_frame {
    enum live_place_kind place;
    struct live_file_key file;    /* of PLACE_FILE */
    uint64_t offset;              /* of a caller: within the instruction that called */
    const struct live_code *code; /* of PLACE_CODE; lives during the call unless it is held */
};

enum { LIVE_FRAMES_MAX = 255 }; /* callers of one sample */

enum live_stack_end {
    LIVE_STACK_NONE,      /* no callers were looked for */
    LIVE_STACK_WHOLE,     /* up to where the thread began */
    LIVE_STACK_TRUNCATED, /* deeper than what was copied, or than LIVE_FRAMES_MAX */
    LIVE_STACK_FAILED,    /* a frame's rule is not known, or cannot be true */
    LIVE_STACK_ENDS
};

struct live_sample {
    struct live_process_key process;
    struct live_frame at;
    const struct live_frame *callers; /* the innermost first; live during the call */
    size_t caller_count;
    enum live_stack_end end;
    uint64_t alike; /* not 0: samples with the same number have the same process, place, callers and
                       end, so that who takes them may remember what it made of these */
    uint32_t event; /* index into the collector's events */
    uint32_t thread;    /* as the initial namespace numbers it; 0: not told */
    uint32_t processor; /* 1 + its number; 0: not told */
    int64_t time;       /* ns since 1970 UTC, about; 0: not told */
    uint64_t count;     /* ≥ 1: samples with all of the above */
    bool lasts;         /* it is no sample, but lasted: `count` ns from `time` on */
};

/* Where a collector delivers. A process and a file are announced before the first sample that
 * refers to them, though not always (short-lived processes under loss): receivers cope. False: out
 * of memory; the collector then gives up its drain with what `error` says. */
struct live_sink {
    void *context;
    bool (*process)(void *context, const struct live_process *process, struct error *error);
    bool (*file)(void *context, const struct live_file *file, struct error *error);
    bool (*sample)(void *context, const struct live_sample *sample, struct error *error);
};

/* ---- events ---- */

enum live_event_kind {
    LIVE_CYCLES,     /* hardware cycles */
    LIVE_CPU_CLOCK,  /* the kernel's timer: where there is no performance monitoring unit */
    LIVE_HARDWARE,   /* other events of processors: misses, what a manual has a number for */
    LIVE_SOFTWARE,   /* what the kernel counts: page faults, context switches */
    LIVE_TRACEPOINT, /* where the kernel tells of what it does */
    /* Not sampled, but timed (waits.h): */
    LIVE_OFF_CPU,  /* blocked */
    LIVE_RUN_QUEUE /* waiting for a processor */
};
static inline bool live_event_lasts(enum live_event_kind kind) {
    return kind >= LIVE_OFF_CPU;
}

enum { LIVE_EVENT_NAME_BYTES = 96 };

struct live_event {
    enum live_event_kind kind;
    char name[LIVE_EVENT_NAME_BYTES]; /* "cycles", "imiss", "page-faults", "sched:sched_switch",
                                         "r01c2", "cpu/event=0xc2,umask=0x1/" */
    uint32_t type;                    /* for perf_event_open(), as these: */
    uint64_t config[3];               /* config, config1, config2 */
    uint32_t cycles_each; /* cycles between two of them, at least, as is assumed; 0: they are so
                             rare that each is sampled */
    bool in_kernel;       /* they happen in kernel code alone */
    uint64_t period; /* mean, in events; of cpu-clock in ns. Each distance is drawn anew, uniformly
                        within 1/32 about the mean (DCPI: 60K to 64K cycles) where it can be */
    uint8_t precise; /* perf's precise_ip: 0 to 3 */
    bool kernel;     /* kernel samples too */
};

/* Parses "cycles,imiss" (event_name.h; NULL: cycles, or cpu-clock where the machine has no cycles)
 * and finds for each the most precise form that this machine has; `per_second`: samples wanted per
 * second and processor, of events that are not sampled each. Events that were asked for and that
 * the machine lacks are an error that says so; *count ≤ LIVE_EVENTS_MAX. (live/event.c) */
bool live_events_choose(const char *names, double per_second, bool kernel,
                        struct live_event *events, size_t *count, struct error *error);

/* The same for events that are counted, not sampled: periods are 0. */
bool live_events_choose_counted(const char *names, bool kernel, struct live_event *events,
                                size_t *count, struct error *error);

/* Whether this process may sample the kernel, too, of processes of its own. */
bool live_kernel_permitted(void);

/* Whether this process may sample all processes of the machine. False, with one line that says what
 * it takes; `programs`: by BPF programs, else by ring buffers. */
bool live_machine_permitted(bool programs, struct error *error);

/* One line for the head of a report: what is sampled, how often, how precisely, and why not better:
 * "cpu-clock every 192 us: this machine offers no hardware events; a sample may be late by some
 * instructions". */
void live_events_describe(const struct live_event *events, size_t count, char *text, size_t size);
