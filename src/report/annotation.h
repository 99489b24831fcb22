/* One procedure, analysed: what `culprit annotate` tells (DCPI §3.2, Figs 2 and 4).
 *
 *     procedure_profile ──► analyze_procedure() ──► annotation_build() ──► text, JSON, picture
 *
 * The annotation refers to everything it was built from, which outlives it. */
#pragma once

#include <jansson.h>

#include "analyze/analyze.h"
#include "query/procedure_profile.h"
#include "query/profile_set.h"
#include "report/report.h"

/* Where an instruction comes from. */
struct annotation_place {
    const char *file; /* NULL: not known */
    uint32_t line;
    const char *inlined; /* the innermost function inlined there; NULL: none */
};

struct annotation_block {
    double values;       /* of the event, in its unit */
    double cycles;       /* of its samples */
    double executions;   /* 0: none, or not known */
    double best, actual; /* cycles per execution of all its instructions: Σ M, Σ CPI */
};

/* A natural loop with all that is inside it. */
struct annotation_loop {
    uint32_t head;  /* block */
    uint32_t depth; /* 1: in no other */
    uint32_t insn_count, block_count;
    double cycles;
    double rounds, entries; /* executions of its head, and of the edges that lead there from outside
                               it; 0: not known */
    double best;            /* Σ executions × M, cycles */
};

/* How late samples are, where they are (analyze/late.h). */
struct annotation_skid {
    struct skid skid; /* samples 0: it is not known, and taken to be anything near */
    bool now;         /* measured for this report, not kept from before */
    char why[256];    /* it is not known */
};

/* The same procedure in a simulation, of the same build. */
struct annotation_simulated {
    const struct procedure_profile *profile; /* cycles, their stacks, executions */
    const char *command, *machine;
    double cycles;     /* of the whole simulation */
    bool same_command; /* as often executed as in one of the epochs */
};

/* What the caller knows: it fills this in. */
struct annotation_input {
    const struct profile_set *set;
    const struct profile_event *event;
    const char *name, *image; /* "longest_match", or "gzip+0x4f20"; the file's path */
    const struct procedure_extent *extent;
    const struct procedure_profile *profile;
    const struct procedure_code *code;
    const struct analysis *analysis;
    const struct machine *machine;
    enum schedule_view view;
    bool own_machine;                             /* it is the one that the code ran on */
    bool exact;                                   /* executions are counted, not estimated */
    const struct annotation_skid *skid;           /* of late samples; NULL: they are not late */
    const struct annotation_simulated *simulated; /* NULL: it is not at hand */
    struct program *program; /* tells source lines; NULL: they are not wanted */
    uint32_t image_number;   /* in `program` */
};

struct annotation {
    struct annotation_input input;
    struct report report;            /* notes; the rest is not used */
    struct annotation_place *places; /* by instruction of the graph; NULL: not known */
    struct annotation_block *blocks; /* by block of the graph */
    uint32_t *hottest;               /* blocks, by cycles */
    struct annotation_loop *loops;   /* by cycles */
    uint32_t loop_count;
    double executed; /* instructions, all executions */
    double best;     /* Σ executions × M, cycles */
    double cycles;   /* Σ cycles of blocks whose executions are known */
};

/* What the cycles of several procedures went to (DCPI's dcpisumm). Zero at first. Those of late
 * samples are summed apart. */
struct annotation_totals {
    size_t procedures, late_procedures;
    double lost, late_lost;
    struct stall_summary summary;
    double truth[STALL_CAUSES]; /* cycles by true cause */
    bool has_truth;             /* of all */
    struct late late;           /* ranges, total and elsewhere; the rest is not used */
};
void annotation_totals_add(struct annotation_totals *totals, const struct annotation *annotation);
void annotation_totals_text(const struct annotation_totals *totals, const struct page *page);
/* null: none was added. */
json_t *annotation_totals_json(const struct annotation_totals *totals);

/* False: out of memory. annotation_free() either way. */
bool annotation_build(struct annotation *annotation, const struct annotation_input *input,
                      struct error *error);
void annotation_free(struct annotation *annotation);

/* Notes on what the figures rest on (annotation_worth.c). False: out of memory. */
bool annotation_add_worth(struct annotation *annotation);

/* ---- text ---- */

struct annotation_style {
    bool full;    /* blocks without samples as well */
    bool source;  /* source lines between the instructions */
    uint32_t top; /* of the blocks with a thousandth of the cycles those with most; 0: all */
};
/* When, where, of what event: once for several procedures. */
void annotation_text_head(const struct profile_set *set, const struct profile_event *event,
                          double total, const struct page *page);
/* The procedure by its blocks, its summary and its notes. False: out of memory. */
bool annotation_text(const struct annotation *annotation, const struct annotation_style *style,
                     const struct page *page);

/* ---- JSON and picture ---- */

/* The procedure's object (docs/json.md, annotate); NULL: out of memory. */
json_t *annotation_json(const struct annotation *annotation);
/* Its control-flow graph (SVG): the hottest blocks where there are many. */
bool annotation_svg(const struct annotation *annotation, FILE *file, struct error *error);

/* ---- pieces ---- */

/* Fills in the loops, once the blocks are (annotation_loops.c). False: out of memory. */
bool annotation_find_loops(struct annotation *annotation);
void annotation_text_loops(const struct annotation *annotation, const struct page *page);
json_t *annotation_loops_json(const struct annotation *annotation);

/* "d" of a D-cache miss: the letter of bubbles. */
char annotation_letter(enum stall_cause cause);
enum { ANNOTATION_UNEXPLAINED = '?', ANNOTATION_EXECUTION = 'x' };
#define ANNOTATION_EXECUTION_NAME "execution, no miss"
/* Dynamic causes in the order of bubbles and summaries; *count of them. A unit is among both: it
 * may be busy longer than the schedule knows. */
const enum stall_cause *annotation_dynamic_causes(size_t *count);
const enum stall_cause *annotation_static_causes(size_t *count);

/* Whether samples are late, and so culprits are what is not excluded, with no cycles of each. */
static inline bool annotation_is_late(const struct annotation *annotation) {
    return annotation->input.analysis->late.used;
}

/* The bubble of an instruction's dynamic stall: "dwD", "?", "" where it has none that shows. */
enum { ANNOTATION_LETTERS = STALL_CAUSES + 1 };
const char *annotation_bubble(const struct annotation *annotation, uint32_t insn,
                              char letters[ANNOTATION_LETTERS]);
/* Its cycles for each execution. */
double annotation_stall(const struct annotation *annotation, uint32_t insn);
#define ANNOTATION_SHOWN_CYCLES 0.05 /* shorter stalls have no bubble */

/* Addresses that are blamed for an instruction's stalls, each once; *count of them, at most
 * ANNOTATION_BLAMED. */
enum { ANNOTATION_BLAMED = 8 };
void annotation_blamed(const struct annotation *annotation, uint32_t insn,
                       uint64_t addresses[ANNOTATION_BLAMED], size_t *count);
uint64_t annotation_address(const struct annotation *annotation, uint32_t insn);

/* Static stalls of an instruction: those from *count on begin at the pointer returned. */
const struct static_stall *annotation_static_stalls(const struct annotation *annotation,
                                                    uint32_t insn, size_t *count);

/* Assembly, with the name of the procedure that a branch leads to. */
void annotation_insn_text(const struct annotation *annotation, uint32_t insn, char *text,
                          size_t size);

/* `truth`: cycles by true cause, NULL: not known. */
void annotation_text_summary(const struct stall_summary *summary, const double *truth, double lost,
                             const char *heading, const struct page *page);
json_t *annotation_summary_json(const struct stall_summary *summary, const double *truth,
                                double lost);
/* Fills in the true causes; NULL: they are not known. */
const double *annotation_truth(const struct annotation *annotation, double truth[STALL_CAUSES]);

/* ---- of late samples (text/annotation_late.c, json/annotation_late.c) ---- */

/* How late they are, and what is done about it. */
void annotation_text_skid(const struct annotation *annotation, const struct page *page);
/* "97.4 %"; "≤ 12 %" where less than half of it is certain. */
struct text annotation_late_share(const struct late_cycles *cycles, double total);
void annotation_text_late_block(const struct annotation *annotation, uint32_t number,
                                const struct page *page);
/* Under a heading; `lost`: cycles of samples at which no instruction begins. */
void annotation_text_late_summary(const struct late *late, double lost, const char *heading,
                                  const struct page *page);
json_t *annotation_skid_json(const struct annotation *annotation); /* null: not late */
json_t *annotation_late_json(const struct late_cycles *cycles);
json_t *annotation_late_summary_json(const struct late *late, double lost);

/* ---- of a simulation beside them (annotation_simulated.c) ---- */

/* Cycles of an instruction or block in the simulation, and their share of the procedure's. */
double annotation_simulated_cycles(const struct annotation *annotation, uint32_t insn);
json_t *annotation_simulated_json(const struct annotation *annotation);
