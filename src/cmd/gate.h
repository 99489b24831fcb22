/* Inside of gate*.c: a run of culprit gate. */
#pragma once

#include "cmd/verb.h"
#include "report/gate_report.h"
#include "study/gated_run.h"

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

extern const struct command_line gate_line;

/* Whether the command of an entry (`old` NULL: it has none yet) can be held against it, by what is
 * known before a run of it. False: the entry tells why. */
bool gate_entry_check(struct gate_job *job, size_t number, char **command,
                      const struct baseline_entry *old);
/* Simulates the command of an entry, and compares it with what the
 * entry has or makes a new one of it. False: interrupted; whatever else is wrong is the entry's. */
bool gate_entry_run(struct gate_job *job, size_t number, char **command, struct baseline_entry *old,
                    struct error *error);
