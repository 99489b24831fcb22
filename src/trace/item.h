/* Items: the one stream in which a capture travels, whatever carries it.
 *
 *   live capture (qemu/capture.c) ──► items ──┬─► decoder (decode.c) ──► batches
 *   .ctrace file (file_reader.c)  ──► items ──┘
 *   items ──► .ctrace file (file_writer.c)
 *
 * Order: a PROCESS before anything of that process; an IMAGE before CODE that lies in it; a CODE
 * before DATA that enters its block; THREAD_END after the last DATA of a thread; SYMBOLS after the
 * last DATA of a process; a PYTHON before DATA that marks it; a MARKER before the DATA that its
 * position lies in; a THREAD_EVENT before the DATA with what its thread did after the call, a
 * CREATE before all of the new thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"
#include "program/code_symbol.h"
#include "trace/dynamic.h"
#include "trace/trace.h"
#include "util/error.h"

enum item_kind {
    ITEM_HEADER, /* first of all, once */
    ITEM_PROCESS,
    ITEM_IMAGE,
    ITEM_CODE,
    ITEM_DATA,
    ITEM_THREAD_END,
    ITEM_SYMBOLS, /* of anonymous code, when its process ends */
    ITEM_THREAD_EVENT,
    ITEM_PYTHON, /* a function of Python, before DATA that marks it */
    ITEM_NOTE,
    ITEM_MARKER, /* only of a live capture that was asked for; never written */
    ITEM_EFFECT, /* of a live capture only; never written */
    ITEM_CHILD,  /* likewise */
    ITEM_CUT,    /* the last of a file that lacks its end; what it is written to lacks it, too */
    ITEM_END     /* how the program ended */
};

struct item_header {
    enum isa isa;
    const char *command; /* util/quoted_command.h */
    const char *host;    /* "Linux 6.1 x86_64, qemu 7.2.22" */
    bool addresses;      /* false: blocks only */
};

struct item_process {
    uint32_t process; /* dense number of the process generation, ascending from 0 */
    uint32_t pid, parent, generation;
    uint32_t forker, fork; /* process that forked it, also after exec (UINT32_MAX: none), and the
                              number of that fork among its forks, from 0 */
    uint32_t known;        /* of a live capture with markers: index of the process it is again, or
                              UINT32_MAX */
    const char *command, *executable;
    bool traced;
    const char *untraced_reason; /* NULL when traced */
};

struct item_image {
    uint32_t process;
    uint32_t image; /* dense number within the trace, ascending from 0; the same file (path and
                       build id) mapped again, or in another process, is a new IMAGE item with the
                       same number */
    const char *path;
    enum code_image_kind kind;
    uint8_t build_id[20];
    uint8_t build_id_size;
    uint64_t start, end;  /* mapped addresses */
    uint64_t file_offset; /* of `start` */
};

struct item_code { /* one block */
    uint32_t process;
    uint32_t block;           /* dense per process generation, ascending from 0 */
    uint32_t image;           /* UINT32_MAX: anonymous */
    uint64_t address, offset; /* of its first byte: virtual; in the file (address if anonymous) */
    uint32_t insn_count;      /* 1..EVENT_MAX_BLOCK_INSNS */
    uint32_t size;            /* bytes that it takes in memory */
    const uint8_t *bytes;     /* item_code_bytes() of them */
    bool described;           /* `bytes` are DESCRIBED_BYTES for each instruction, in place of
                                 machine code */
};
static inline size_t item_code_bytes(const struct item_code *code) {
    return code->described ? (size_t)DESCRIBED_BYTES * code->insn_count : code->size;
}

struct item_data { /* a chunk of events of one thread; begins with a block or a mark */
    uint32_t process;
    uint32_t thread;  /* dense number over the whole trace, never reused */
    uint32_t ordinal; /* of the thread in its process, in order of creation; live captures only */
    uint64_t ticket;  /* global order of chunks: ascending in the order in which they were begun */
    uint64_t first_insn; /* instructions of this thread before this chunk */
    uint64_t insn_count; /* in this chunk (as the capture counted; the decoder checks) */
    uint32_t event_count;
    const uint64_t *events; /* event.h; NULL: left out, for nobody looks at them */
    uint32_t counted;       /* enum chunk_counts; live captures only */
};

struct item_symbols {
    uint32_t process;
    uint32_t count;
    const struct code_symbol *symbols; /* sorted, not overlapping, size ≥ 1; names not empty */
};

struct item_python {
    uint32_t process;
    uint32_t function; /* dense per process generation, ascending from 1 */
    uint32_t first_line;
    const char *name, *path;
};

struct item_marker {
    uint32_t marker;   /* index in capture_markers.markers */
    uint64_t position; /* instructions that its thread has executed before it */
};

struct item_effect { /* the first system call that cannot be repeated */
    uint32_t thread;
    uint64_t position; /* instructions of the thread before it */
    const char *what;  /* "deleting big.tar" */
};

struct item_child {   /* was waited for */
    uint32_t process; /* that was not traced */
    double seconds;   /* of processor time, in user mode, natively */
};

struct item {
    enum item_kind kind;
    union {
        struct item_header header;
        struct item_process process;
        struct item_image image;
        struct item_code code;
        struct item_data data;
        uint32_t thread_ended;
        struct item_symbols symbols;
        struct thread_event event; /* `position` counts like first_insn of DATA; no `number` */
        struct item_python python;
        struct item_marker marker;
        const char *note; /* also of ITEM_CUT: how much there is */
        struct item_effect effect;
        struct item_child child;
        struct trace_exit end;
    };
};

#define SOURCE_NO_THREAD UINT32_MAX

/* Where items come from. `next` returns 1 with an item whose pointers are valid until the next
 * call, 0 at the end, −1 with an error. `where` writes what errors about the last item should name
 * ("gzip.ctrace, record at byte 4096"); may be NULL. */
struct item_source {
    int (*next)(void *context, struct item *item, struct error *error);
    void (*where)(void *context, char *text, size_t text_size);
    void (*interrupt)(void *context); /* async-signal-safe; may be NULL */
    /* Nothing more is wanted but the end: a live program runs on at full speed. May be NULL. */
    void (*enough)(void *context);
    /* Nothing is wanted until this thread has executed so many instructions. May be NULL. */
    void (*pause)(void *context, uint32_t thread, uint64_t until);
    /* Before the first DATA: those of other threads may come without events, or those of all
     * (SOURCE_NO_THREAD). May be NULL. */
    void (*only)(void *context, uint32_t thread);
    void (*close)(void *context);
    void *context;
};

/* ---- live capture: qemu/capture.c ---- */
bool capture_start(const struct capture_options *options, struct item_source *source,
                   int *exec_status, struct error *error);

/* ---- files: file_reader.c, file_writer.c ---- */
bool file_source_open(const char *path, struct item_source *source, struct error *error);
/* The same, much quicker: DATA items are without events. */
bool file_source_open_outline(const char *path, struct item_source *source, struct error *error);
/* Likewise, but the first few after each reset of predictions, all of a short trace, have theirs.
 */
bool file_source_open_parts(const char *path, struct item_source *source, struct error *error);

struct file_writer;
/* Writes to a file or pipe, or standard output for "-". An old file keeps its content until the
 * first items come; a file that gets none is not made. */
struct file_writer *file_writer_open(const char *path, bool compress, struct error *error);
bool file_writer_put(struct file_writer *writer, const struct item *item, struct error *error);
uint64_t file_writer_bytes(const struct file_writer *writer);
/* Writes the index and closes; the file is readable without it too. `*bytes` (may be NULL) is the
 * file's final size. Frees the writer whatever it returns. */
bool file_writer_close(struct file_writer *writer, uint64_t *bytes, struct error *error);
