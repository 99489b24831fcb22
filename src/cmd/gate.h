/* Inside of gate*.c: a run of culprit gate. */
#pragma once

#include "cmd/verb.h"
#include "report/gate_report.h"
#include "study/compare_run.h"
#include "study/layouts.h"

struct gate_job {
    struct verb_run verb;
    struct input_options input;
    struct machine_options machine;
    struct machine_choice machines;
    const char *path, *name; /* of the baseline; of one of its entries, NULL: none was given */
    double limit;            /* share */
    uint32_t layout_count;   /* 0: as many as the entry has, of a new one the plain one */
    uint32_t jobs;           /* as of struct layouts_run */
    bool update, annotations;
    const char *markdown, *junit, *code_quality; /* files; NULL: not asked for */

    struct baseline baseline;
    struct gate_report report;
    char *own_name; /* of the command, where none was given */
    char **texts;   /* by entry, of --update */
    struct output files[3];
};

/* What part of a run is meant, as an entry of a baseline has it: "--limit 5000000"
 * (gate_options.c). */
struct gate_options {
    struct input_options input;
    uint32_t ideal;
    const char *texts[INPUT_MOST_VARIABLES + 8]; /* and NULL */
    struct arena names;
};
/* The texts of what `input` and `ideal` say; and the other way round. gate_options_free() either
 * way. */
bool gate_options_print(struct gate_options *options, struct error *error);
bool gate_options_parse(struct gate_options *options, const char *const *texts,
                        struct error *error);
void gate_options_free(struct gate_options *options);

struct gate_layouts {
    uint32_t count;
    uint64_t full; /* cycles of the whole run under layout 0 */
    struct layout_cycles cycles[LAYOUTS_MOST];
    bool exact; /* every instruction was simulated under each; else what they are besides layout 0
                   is estimated */
};
/* The command under so many layouts (gate_layouts.c). */
bool gate_layouts_run(const struct gate_job *job, const struct gate_options *options,
                      char **command, struct gate_layouts *layouts, struct error *error);

/* Simulates the command of an entry (`old` NULL: it has none yet), and compares it with what the
 * entry has or makes a new one of it. False: interrupted; whatever else is wrong is the entry's. */
bool gate_entry_run(struct gate_job *job, size_t number, char **command, struct baseline_entry *old,
                    struct error *error);
