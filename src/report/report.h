/* What a simulation found, ready to print: one plain value from which the text and the JSON object
 * (docs/json.md) are both written.
 *
 *     struct simulation + struct code ──► report_build() ──► struct report ──► report_text()
 *                                                                         └──► report_json()
 *
 * The report refers to the simulation, program and code it was built from; those must outlive it.
 */
#ifndef CULPRIT_REPORT_REPORT_H
#define CULPRIT_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "machine/machine.h"
#include "model/forecast.h"
#include "program/program.h"
#include "report/component.h"
#include "report/page.h"
#include "report/what_if.h"
#include "simulate/simulate.h"
#include "trace/dynamic.h"
#include "util/error.h"

enum report_by { BY_FUNCTION, BY_LINE, BY_INSTRUCTION, BY_IMAGE };

/* Cycles of one combination of events. */
struct stack_part {
    uint32_t psv;
    uint64_t units; /* 1/840 cycles */
};

struct stack {
    struct stack_part *parts; /* largest first */
    uint32_t count;
};

enum { ROW_TEXT_BYTES = 96 };

/* A function, source line, instruction or image. */
struct report_row {
    const char *image;      /* base name of the file, "[vdso]", "[anon]" */
    uint64_t offset;        /* in the image's file: of the function's or line's first instruction
                               that took time, or of the instruction; 0 of an image */
    uint64_t address;       /* the same as virtual address of the ELF file; = offset without one */
    const char *function;   /* NULL: no symbol covers it */
    const char *file;       /* NULL: not known */
    uint32_t line;          /* 0: not known */
    uint64_t function_size; /* bytes; 0: the code lies in no known function */
    bool is_outside;        /* by function: all code of a file that lies in no known function */
    uint64_t units;         /* 1/840 cycles */
    uint64_t executions;    /* instructions executed in it */
    uint32_t hottest;       /* static number of its costliest instruction */
    uint64_t hottest_units; /* of that instruction */
    char text[ROW_TEXT_BYTES]; /* assembly of that instruction */
    struct stack stack;        /* its parts are those below */
    struct stack_part parts[PSV_COMBINATIONS];
};

/* What a row is made from: a program of a million instructions has as many rows, so that names and
 * stacks are made one row at a time. */
struct group {
    uint64_t units, executions;
    uint64_t offset;     /* of a function: its first byte; else of the first instruction */
    const char *file;    /* by line */
    uint32_t line;       /* by line */
    uint32_t image;      /* index into the code's images */
    uint32_t first;      /* of its instructions in `members` */
    uint32_t insn_count; /* ≥ 1 */
};

struct report_rows {
    enum report_by by;
    struct group *groups; /* costliest first */
    uint32_t count;       /* as many as were asked for, or fewer */
    uint32_t total;       /* as many as there are */
    uint32_t *members;    /* static instructions of the groups */
    uint32_t *images;     /* number in `program` of each image of the code */
    const struct simulation *simulation;
    const struct code *code;
    struct program *program;
};

/* The processes that the command started. Their share is of processor time in user mode. Included:
 * of simulated cycles. Else their time is what they took natively, the first process's what the
 * machine would take. */
struct report_children {
    uint32_t count; /* that had any time; 0: nothing to say */
    bool included;
    double seconds; /* natively; 0 when included */
    double share;   /* from 0 to 1 */
    double largest; /* share of the executable that had the largest; likewise of all */
    char *name;     /* of that executable, without its folder */
};

struct report {
    const char *verb;    /* "sim" or "explain" */
    const char *program; /* command, or the trace's */
    const struct machine *machine;
    uint32_t ideal;
    enum report_by by;
    const struct simulation *simulation;
    bool partial;
    bool legend; /* the text explains the words that it uses */
    struct stack stack;
    struct report_rows functions, instructions;
    struct report_rows grouped;      /* by line or image, when asked for; else empty */
    struct forecast_result forecast; /* of upgrades of the machine; its instructions 0: none */
    struct what_if what_if;
    struct report_children children;
    char **notes;            /* what the figures rest on, one line each */
    uint32_t *note_commands; /* of each note, where a command in it begins; 0: it has none */
    uint32_t note_count;
    char *next; /* next useful command; NULL: none */
};

struct report_request {
    const char *verb, *program;
    const struct machine *machine;
    uint32_t ideal;
    enum report_by by;
    uint32_t top; /* rows per table; 0: all */
    bool partial;
    const struct forecast_result *forecast;       /* or NULL */
    const struct sampled_multisim_result *causes; /* or NULL */
};

/* Fills *report; report_free() either way. */
bool report_build(const struct report_request *request, const struct simulation *simulation,
                  const struct code *code, struct program *program, struct report *report,
                  struct error *error);
void report_free(struct report *report);

/* Adds a line (copied) to the notes. */
bool report_note(struct report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same: "intro command". As text a command that takes several lines can be copied as it is. */
bool report_note_command(struct report *report, const char *intro, const char *command);

void report_text(const struct report *report, const struct page *page);
/* One object, with a newline. */
bool report_json(const struct report *report, FILE *file, struct error *error);

/* ---- pieces ---- */

/* Groups the simulation's cells and keeps the `top` costliest groups (rows.c). Refers to the
 * simulation, code and program, which must outlive it. */
bool rows_build(enum report_by by, uint32_t top, const struct simulation *simulation,
                const struct code *code, struct program *program, struct report_rows *rows,
                struct error *error);
/* Row `index` < count, with its names, text and stack. */
void rows_get(const struct report_rows *rows, uint32_t index, struct report_row *row);
void rows_free(struct report_rows *rows);

/* Notes on what the figures rest on and what is not modelled, one line each (worth.c). */
bool report_add_worth(struct report *report);
/* The last of them: what is not modelled. */
bool report_add_limits(struct report *report);

/* The head of the text, and its foot: the notes and the next command (text.c). */
void report_text_head(const struct report *report, const struct page *page);
/* What share the children had, where any had one. */
void report_text_children(const struct report *report, const struct page *page);
void report_text_foot(const struct report *report, const struct page *page);

/* A note, as page_wrap() (text.c). */
void report_text_note(const struct report *report, uint32_t note, const char *first,
                      const char *margin, const struct page *page);

/* All words of the text and what they mean (text.c). */
void report_text_words(const struct page *page);

/* Its tables: functions, lines or images; instructions (text/rows.c). */
void report_text_rows(const struct report *report, const struct page *page);
void report_text_instructions(const struct report *report, const struct page *page);

/* Cycles of a stack, by component (units). */
void stack_components(const struct stack *stack, uint64_t units[COMPONENT_COUNT]);

#endif
