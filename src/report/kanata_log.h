/* A Kanata log (version 0004), which Konata shows: of culprit sim --kanata, of gem5's converter, of
 * RSD, of Onikiri2. Read whole; its memory is proportional to the log.
 *
 * The format is the one that the Konata viewer describes: lines of fields with tabs between. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/page.h"
#include "util/arena.h"
#include "util/error.h"

enum { KANATA_STAGES_MAX = 256, KANATA_LANES_MAX = 16 };

/* One instruction, or µop. */
struct kanata_row {
    uint64_t number, thread; /* as the simulator counts */
    const char *label;       /* in the log's arena; "" */
    uint64_t begin, end; /* cycles: it is in flight in [begin, end); end 0: the log ends before */
    uint32_t stages;     /* the last of its stages + 1, which lead to those before; 0: none */
    bool retired, flushed;
};

struct kanata_stage {
    uint32_t name;       /* into kanata_log.names */
    uint32_t lane;       /* 0: the first */
    uint32_t before;     /* of the same row, + 1; 0: none */
    uint64_t begin, end; /* cycles; end UINT64_MAX: still open */
};

struct kanata_log {
    struct kanata_row *rows;
    size_t count, capacity;
    struct kanata_stage *stages;
    size_t stage_count, stage_capacity;
    const char *names[KANATA_STAGES_MAX]; /* in the order of their appearance */
    uint32_t name_count;
    uint64_t begin, end; /* cycles that it tells of */
    struct arena arena;
};

/* "-": standard input. The log is to be freed in any case. */
bool kanata_log_read(struct kanata_log *log, const char *path, struct error *error);
void kanata_log_free(struct kanata_log *log);

struct kanata_view {
    uint64_t from;   /* the first cycle; UINT64_MAX: that of the log */
    uint64_t cycles; /* 0: as many as the page has room for; of JSON all */
    uint64_t top;    /* rows at most; 0: all */
};

/* A row for each instruction in flight in the window and a column for each cycle, and how long the
 * stages last. `path` is for the title. */
void kanata_log_print(const struct kanata_log *log, const struct kanata_view *view,
                      const char *path, const struct page *page);
bool kanata_log_json(const struct kanata_log *log, const struct kanata_view *view, const char *path,
                     FILE *file, struct error *error);
