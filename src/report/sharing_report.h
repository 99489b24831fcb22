/* What `culprit sharing` tells. */
#pragma once

#include "query/data_object.h"
#include "report/report.h"
#include "study/sharing_run.h"

/* What a thread does to a line at one place of the source. */
struct sharing_place {
    uint32_t thread;
    const char *function; /* the innermost inlined one; NULL: no symbol covers it */
    const char *image;    /* base name of the file, "[anon]" */
    uint64_t offset;      /* in it */
    const char *file;     /* NULL: not known */
    uint32_t line;
    uint64_t read, written; /* bit per part of the line */
    uint64_t reads, writes, moves, cycles;
    uint32_t threads; /* how many do: 1, but for sharing_places() */
};

/* Data that lie in a line. */
enum { SHARING_OBJECTS = 3 };
struct sharing_object {
    struct data_object object; /* at the first byte that is accessed */
    uint64_t address;          /* of that byte */
};

struct sharing_line {
    const struct moved_line *line;
    enum line_sharing sharing;
    double false_share;                             /* −1: not known */
    struct sharing_object objects[SHARING_OBJECTS]; /* those waited for most, at least one */
    size_t object_count;
    struct sharing_place *places; /* most cycles first, by thread */
    size_t place_count;
};

struct sharing_report {
    struct report report; /* verb, program, machine, partial, notes, next */
    const struct sharing_run *run;
    uint32_t part_bytes; /* of a bit of the masks */
    struct sharing_line *lines;
    size_t line_count; /* as many as were asked for */
    size_t noticed;    /* of all lines: the first so many are waited for noticeably */
    bool all;          /* all were asked for */
};

/* `report` is filled in but for the notes. */
bool sharing_report_build(struct sharing_report *sharing, const struct sharing_run *run,
                          struct program *program, uint32_t top, struct error *error);
void sharing_report_free(struct sharing_report *sharing);

void sharing_text(const struct sharing_report *sharing, const struct page *page);
/* One object, with a newline (docs/json.md). */
bool sharing_json(const struct sharing_report *sharing, FILE *file, struct error *error);

/* ---- pieces ---- */

/* "false", "true", "mixed", "unknown" */
const char *sharing_name(enum line_sharing sharing);
/* The places of a line, those of several threads in one where more than `most` touch it: as many as
 * are returned, in room for all. */
size_t sharing_places(const struct sharing_line *line, size_t most, struct sharing_place *places);
/* What part of the run a remedy saves, 0 to 1; below 0: it costs. */
double sharing_saving(const struct sharing_report *sharing, const struct sharing_remedy *remedy);
