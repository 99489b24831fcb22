/* What a simulation found, ready to print: one plain value from which the text and the JSON object
 * (docs/json.md) are both written.
 *
 *     struct simulation + struct code ──► report_build() ──► struct report ──► report_text()
 *                                                                         └──► report_json()
 *
 * The report refers to the simulation, program and code it was built from; those must outlive it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "attribute/component.h"
#include "machine/machine.h"
#include "model/forecast.h"
#include "program/program.h"
#include "query/data_rows.h"
#include "query/field_rows.h"
#include "query/loop_rows.h"
#include "query/rows.h"
#include "report/advice.h"
#include "report/page.h"
#include "report/threads_report.h"
#include "report/what_if.h"
#include "simulate/simulate.h"
#include "trace/dynamic.h"
#include "util/error.h"

/* The processes that the command started. Their share is of processor time in user mode. Included:
 * of simulated cycles. Else their time is what they took natively, the first process's what the
 * machine would take. */
struct report_children {
    uint32_t count; /* that had any time; 0: nothing to say */
    bool included;
    double seconds; /* natively; 0 when included */
    double share;   /* from 0 to 1 */
    bool at_most;   /* it is a bound: children so short that their start counts for much */
    double largest; /* share of the executable that had the largest; likewise of all */
    char *name;     /* of that executable, without its folder */
};

struct call_report;
struct levels;
struct roofline;
struct python_rows;
struct struct_run;

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
    struct report_rows grouped;       /* by line or image, when asked for; else empty */
    struct loop_rows loops;           /* by loop, when asked for; else empty */
    struct field_rows fields;         /* by field, likewise */
    struct data_rows data;            /* by data object, likewise; `by` is BY_OBJECT: in place of
                                         the first two */
    const struct levels *levels;      /* in place of stacks and tables; NULL: not asked for */
    const struct roofline *roofline;  /* NULL: not asked for */
    const struct struct_run *structs; /* the map of a struct; NULL: not asked for */
    const struct call_report *calls;  /* in place of the functions; NULL: not asked for */
    const struct python_rows *python; /* before those tables; NULL: not asked for */
    struct forecast_result forecast;  /* of upgrades of the machine; its instructions 0: none */
    struct what_if what_if;
    struct advice_list advice;
    struct threads_report threads; /* that were simulated together */
    bool fixed; /* what differs from one run to the next is left out: numbers of processes, times */
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
    const struct forecast_result *forecast;        /* or NULL */
    const struct sampled_multisim_result *causes;  /* or NULL */
    const struct thread_what_ifs *thread_what_ifs; /* or NULL */
    const struct struct_run *laid_out;             /* what is advised of a struct, or NULL */
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
/* The answer in at most so many lines (text/brief.c). */
enum { BRIEF_LINES = 25 };
void report_brief(const struct report *report, const struct page *page);
/* One object, with a newline. */
bool report_json(const struct report *report, FILE *file, struct error *error);

/* ---- pieces ---- */

/* Notes on what the figures rest on and what is not modelled, one line each (worth.c). */
bool report_add_worth(struct report *report);
/* The last of them: what is not modelled. */
bool report_add_limits(struct report *report);

/* The head of the text, and its foot: the notes and the next command (text.c). */
void report_text_head(const struct report *report, const struct page *page);
/* What share the children had, where any had one. */
void report_text_children(const struct report *report, const struct page *page);
/* Why this machine, when none was named. */
void report_text_chosen(const struct machine_choice_reason *chosen, const struct page *page);
/* Which causes are idealised; nothing where none is. */
void report_text_ideal(const struct report *report, const struct page *page);
void report_text_foot(const struct report *report, const struct page *page);

/* A note, as page_wrap() (text.c). */
void report_text_note(const struct report *report, uint32_t note, const char *first,
                      const char *margin, const struct page *page);

/* All words of the text and what they mean (text.c). */
void report_text_words(const struct page *page);

/* The table of data objects (text/data.c). */
void report_text_data(const struct report *report, const struct page *page);
/* The table of loops (text/loops.c). */
void report_text_loops(const struct report *report, const struct page *page);
/* The table of fields (text/fields.c). */
void report_text_fields(const struct report *report, const struct page *page);
/* "ST-L1 8.6\nBase 3.1": the parts of a stack, largest first, in percent of `total` (text/rows.c).
 */
void report_text_parts(const struct stack *stack, double total, char *list, size_t size);
/* Its tables: functions, lines or images; instructions (text/rows.c). */
void report_text_rows(const struct report *report, const struct page *page);
void report_text_instructions(const struct report *report, const struct page *page);
