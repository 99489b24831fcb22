/* What the files of the consumer share, all in culprit's process: capture.c (start, items out,
 * end), queue.c (items that wait), lives.c (which processes live), records.c (what the plugin
 * reports), chunks.c (events), reached.c (markers, between events). */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "program/program.h"
#include "program/symbol_cover.h"
#include "trace/item.h"
#include "trace/qemu/blocks.h"
#include "trace/qemu/images.h"
#include "trace/qemu/launcher.h"
#include "trace/qemu/markers.h"
#include "trace/qemu/ring.h"

/* A process generation that owns a slot. */
struct traced {
    bool live;       /* said hello */
    bool ending;     /* dead, or replaced by exec: leaves when its chunks are read */
    bool broken;     /* its records are invalid: no more are read */
    double ended_at; /* seconds */
    uint32_t number, generation;
    uint32_t forker, fork; /* as of an item_process */
    pid_t pid;
    int pidfd;
    time_t began; /* when it said hello, by the clock of files */
    char *command, *executable;
    uint32_t python; /* functions of Python told of */
    char *dump;      /* path of the jitdump that it has mapped last; NULL: none */
    struct block_table *blocks;
};

/* A fork child that is not followed; it becomes an item when it calls exec, or has been waited for.
 */
struct left_out {
    pid_t pid;
    uint32_t parent; /* number */
    bool forked;     /* it reported the fork itself; else only its exec is known */
    bool told;
    bool looked_at;             /* at the end of the capture: whether it runs on */
    uint32_t number;            /* when told */
    char *command, *executable; /* of the parent */
};

/* A marker that was reached, until what was queued before it is read. */
struct reached {
    struct reached *next;
    uint32_t slot, target;
    uint64_t position, published; /* as of the ring_reached */
    uint32_t cut_count;
    struct ring_cut cuts[];
};

/* The part of a chunk that was handed out before the chunk was full. */
struct chunk_part {
    uint32_t events;
    uint64_t insns;
};

struct traced_thread {
    uint32_t slot;
    bool known, ended;
    bool made;     /* an event tells by which thread */
    uint64_t told; /* position of its last event */
};

/* An item waiting to be handed out; resolved only then, for tables may move. */
struct queued {
    enum item_kind kind;
    uint32_t process, number; /* CODE: block; THREAD_END: thread */
    struct image_mapping mapping;
    struct block_table *blocks; /* CODE: table and index of the definition */
    size_t definition;
    struct item_process described; /* PROCESS; strings owned by the queue */
    char *text;                    /* NOTE, EFFECT */
    double seconds;                /* CHILD; process */
    uint64_t position;             /* EFFECT; number: the thread */
    struct item_marker marker;
    struct thread_event event;   /* THREAD_EVENT */
    struct item_python python;   /* PYTHON; strings owned by the queue */
    struct item_data data;       /* events where they lie */
    struct symbol_cover symbols; /* SYMBOLS; owned by the queue */
};

struct capture {
    struct ring_control *control;
    int memory; /* file descriptor */
    struct launch launch;
    bool stop_at_limit, addresses;
    uint32_t layout;
    char *command, *host;
    pid_t child;
    bool child_reaped;
    struct trace_exit exit;
    bool ran;                                       /* some code was defined */
    bool stopped;                                   /* killed at the limit or when interrupted */
    void (*waiting)(void *context);                 /* NULL: nobody */
    void (*stuck)(void *context, const char *text); /* likewise */
    struct watchdog {
        uint64_t progress; /* when it was last looked at */
        double since;      /* seconds; 0: not yet */
        bool told;
    } watchdog;
    void (*outlived)(void *context); /* likewise */
    void *waiting_context;
    bool evex;              /* AVX-512 code was met */
    bool python_unknown;    /* an interpreter of Python was, which is not known */
    bool allocator_unknown; /* a static program was, whose allocator is not known */
    bool header_given, end_given;
    volatile sig_atomic_t interrupted;
    const volatile sig_atomic_t *stop;  /* NULL: none */
    const volatile sig_atomic_t *kill;  /* likewise */
    const volatile sig_atomic_t *begin; /* likewise */
    bool told_to_begin;                 /* by it */
    double started_at;                  /* seconds */
    double interrupted_at;              /* seconds; 0: not yet noticed */
    int signals_sent;
    double seconds;            /* to capture; 0: to the end */
    double begun_at, asked_at; /* seconds; 0: not yet */
    bool killed;
    bool detached; /* all were told that nothing is read any more */

    struct images images;
    struct program *program; /* to look up from_symbol; NULL: not needed */
    char *from_symbol;
    uint64_t skip; /* as asked for, as is the thread */
    int thread;
    bool marked; /* the caller knows what it misses */
    struct markers markers;
    struct reached *reached;              /* in the order in which they were told; owned */
    struct chunk_part parts[RING_CHUNKS]; /* of chunks that are not free */
    struct traced slots[RING_PROCESSES];
    uint32_t process_count; /* numbers given out */
    struct left_out *left_out;
    size_t left_out_count, left_out_capacity;
    struct traced_thread *threads;
    size_t thread_count, thread_capacity;

    struct queued *queue; /* [queue_first, queue_count) */
    size_t queue_first, queue_count, queue_capacity;
    struct queued spare; /* used when memory is out */
    char **texts;        /* of the item handed out last, freed at the next call */
    size_t text_count, text_capacity;

    bool chunk_taken; /* `chunk` is the consumer's, described by `data` */
    bool chunk_given;
    bool chunk_is_last; /* of its thread */
    uint32_t chunk;
    struct item_data data;
    bool out_of_memory;
};

/* ---- python_mapping.c ---- */

/* The interpreter whose loop lies in a mapping of the process, if there is one. */
struct ring_python python_in_mapping(struct capture *capture, const struct image_mapping *mapping);

/* ---- allocator_mapping.c ---- */

/* Fills in the allocators that the process's program brings along, if the mapping is of it. */
void allocators_in_mapping(struct capture *capture, const struct traced *process,
                           const struct image_mapping *mapping, struct ring_reply *reply);

/* ---- queue.c ---- */

/* Room for one more item; never NULL (falls back to a spare that is lost, with out_of_memory). */
struct queued *capture_queue(struct capture *capture, enum item_kind kind);
void capture_note(struct capture *capture, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Hands out the first queued item. What it points to must outlive the call, so the table of a block
 * is released only when the queue is rewound. */
void queue_give(struct capture *capture, struct item *item);
/* Frees the texts of the item handed out last. */
void queue_forget_texts(struct capture *capture);
/* Empties the queue. */
void queue_rewind(struct capture *capture);

/* ---- lives.c ---- */

/* Ends processes that have died. True: something changed that the caller should look at. */
bool lives_end_dead(struct capture *capture);
/* Whether a traced process lives, or the child of one may still begin. */
bool lives_any(const struct capture *capture);
/* capture_options.begin: capture starts when the user asks for it. */
void lives_begin_when_told(struct capture *capture);
/* capture_options.seconds: ends a program that, like a server, would never end by itself. */
void lives_end_in_time(struct capture *capture);
/* Interrupt: the terminal has sent SIGINT; a process that ignores it gets SIGTERM, then SIGKILL. */
void lives_press_for_end(struct capture *capture);
/* Kills all traced processes: safe in a signal handler. `context`: the capture. */
void lives_kill(const void *context);

/* ---- capture.c ---- */

/* Tells every traced process that nothing is read any more: they run on, without waiting. */
void capture_detach(struct capture *capture);

/* ---- records.c ---- */

/* Reads all records of all processes, or of one. True: something was read. */
bool records_read(struct capture *capture);
bool records_read_slot(struct capture *capture, uint32_t slot);
/* Names the children that neither called exec nor were waited for. */
void records_name_left_out(struct capture *capture);
void records_free(struct capture *capture);
/* Frees a process generation whose events are all read. */
void records_leave(struct capture *capture, uint32_t slot);

/* ---- reached.c ---- */

/* Notes a marker that was reached. False: the record is invalid. `cuts`, not aligned, follow it. */
bool reached_note(struct capture *capture, uint32_t slot, const struct ring_reached *reached,
                  const uint8_t *cuts, size_t cuts_size);
/* Queues the markers of a process that come before what it queued as the `published`-th. */
void reached_queue(struct capture *capture, uint32_t slot, uint64_t published);
void reached_free(struct capture *capture);

/* ---- watchdog.c ---- */

/* Nothing has come for a while: says once, in a note and to `stuck`, that nothing can. */
void watchdog_look(struct capture *capture);

/* ---- chunks.c ---- */

/* Takes the oldest full chunk and prepares `capture->data`. False: there is none. */
bool chunks_take(struct capture *capture);
void chunks_release(struct capture *capture);
/* What is known of a thread; NULL: too many, or no memory. The next call may move it. */
struct traced_thread *chunks_thread(struct capture *capture, uint32_t number);
/* Makes full chunks of what a dead process left. */
void chunks_harvest(struct capture *capture, uint32_t slot);
bool chunks_pending(const struct capture *capture, uint32_t slot);
/* Queues what is new up to the cut, without the block that the thread was in. */
void chunks_cut(struct capture *capture, uint32_t slot, const struct ring_cut *cut);
