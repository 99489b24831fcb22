/* What fragments of the graph tell, ready to print: the parts --critical, --slack and --loads of
 * `culprit icost`.
 *
 *     struct inspection + struct code ──► inspection_report_build() ──► inspection_text()
 *                                                                  └──► inspection_json()  */
#pragma once

#include <jansson.h>

#include "graph/inspect.h"
#include "query/function_walk.h"
#include "report/page.h"
#include "report/table.h"

/* Where an instruction stands, and what it is. */
struct insn_place {
    const char *image;    /* base name of the file, "[vdso]", "[anon]" */
    uint64_t offset;      /* in the image's file */
    const char *function; /* NULL: no symbol covers it */
    const char *file;     /* NULL: not known */
    uint32_t line;        /* 0: not known */
    char text[96];        /* assembly */
};

/* Static instructions, those to show. */
struct insn_rows {
    uint32_t *insns;
    uint32_t count, total; /* shown; that there are */
};

struct inspection_report {
    const struct inspection *inspection;
    unsigned parts;                   /* enum inspection_part: to show */
    double threshold;                 /* share of the time from which pairs of loads are read out */
    double seconds;                   /* that looking at the fragments took */
    struct insn_rows critical, slack; /* with most cycles on the path; executed most often */
    struct function_walk walk;
};

struct inspection_request {
    unsigned parts;
    uint32_t top; /* instructions shown; 0: all */
    double threshold, seconds;
};

/* The inspection, code and program must outlive the report; inspection_report_free() either way. */
bool inspection_report_build(const struct inspection_request *request,
                             const struct inspection *inspection, const struct code *code,
                             struct program *program, struct inspection_report *report,
                             struct error *error);
void inspection_report_free(struct inspection_report *report);

void inspection_place(const struct inspection_report *report, uint32_t number,
                      struct insn_place *place);

/* Pairs of loads in plain words, |icost| over the threshold, the largest first: into text[], and
 * returns how many. */
enum { LOAD_READINGS = 6, LOAD_READING_BYTES = 256 };
uint32_t inspection_read_loads(const struct inspection_report *report,
                               char text[LOAD_READINGS][LOAD_READING_BYTES]);

/* Lines of at most 100 columns (text/critical.c, slack.c, loads.c: one part each). */
void inspection_text(const struct inspection_report *report, const struct page *page);
void critical_text(const struct inspection_report *report, const struct page *page);
void slack_text(const struct inspection_report *report, const struct page *page);
void loads_text(const struct inspection_report *report, const struct page *page);
/* Where an instruction lies and what it is, as the last columns of a table. */
void inspection_place_columns(struct table *table);
void inspection_place_cells(const struct inspection_report *report, uint32_t insn,
                            struct table *table);

/* Adds the parts to an object (docs/json.md). */
void inspection_json(const struct inspection_report *report, json_t *object);
