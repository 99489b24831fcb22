/* What `sim`, `explain` and `profilers` have in common: a command or trace is simulated and
 * reported. */
#pragma once

#include "cmd/verb.h"
#include "options/path_options.h"
#include "options/save_options.h"
#include "options/struct_options.h"
#include "report/levels.h"
#include "report/report.h"
#include "report/roofline.h"
#include "study/simulated_run.h"

/* The first member of such a verb's struct. */
struct run {
    struct verb_run verb;
    struct input_options input;
    struct machine_options machine;
    struct save_options save_options;
    struct machine_choice machines;
    struct simulated_run study;
    struct save save;
    struct path_options path_options;
    struct paths paths;
    struct struct_wish struct_options;
    struct struct_run structs;
    struct program *program;
    struct report report;
    bool levels_asked;
    struct levels levels;
    const char *roofline_path; /* NULL: no such picture */
    struct output roofline_file;
    struct roofline roofline;
    bool unfollowed; /* processes that --follow would include */
};

/* The options of a verb with a struct run. */
#define RUN_PARTS                                                                                  \
    {&input_group, offsetof(struct run, input)}, {&machine_group, offsetof(struct run, machine)},  \
        {&output_group, offsetof(struct run, verb.output)},                                        \
        {&grain_group, offsetof(struct run, verb.output.by)},                                      \
        {&save_group, offsetof(struct run, save_options)},                                         \
        {&path_group, offsetof(struct run, path_options)},                                         \
        {&path_more_group, offsetof(struct run, path_options)},                                    \
        {&struct_group, offsetof(struct run, struct_options)},                                     \
        {&for_group, offsetof(struct run, input)}, {                                               \
        &legend_group, offsetof(struct run, verb.output)                                           \
    }

/* And of one that tells of top-down levels and draws a roofline. */
extern const struct option_group machine_usage_group;
#define MACHINE_USAGE_PART                                                                         \
    { &machine_usage_group, 0 }

/* Before options are parsed. */
void run_begin(struct run *run);

/* Steps. */
bool run_prepare(void *run, struct error *error);
bool run_go(void *run, struct error *error);
void run_free(void *verb);

/* Once options are known: that levels, if they are asked for, are of what they can be, which lines
 * of Python are not. */
/* A page shows them wherever there are any. */
static inline bool run_wants_levels(const struct run *run) {
    return run->levels_asked || run->verb.output.html;
}
void run_check_levels(struct run *run, const struct argp_state *state);
/* Likewise once the machine is. */
bool run_may_have_levels(const struct run *run, const struct machine *machine, struct error *error);

/* The picture of the roofline: before anything runs; what it shows; when the report is written. */
bool run_open_roofline(struct run *run, struct error *error);
bool run_build_roofline(struct run *run, const struct simulation *simulation,
                        const struct code *code, struct error *error);
bool run_draw_roofline(struct run *run, struct error *error);
void run_free_roofline(struct run *run);

/* What is told beside the cycles of instructions, where the options ask for it:
 * study.options.details. What is captured is then told of data. */
bool run_details(struct run *run, struct error *error);

/* Pieces of run_go(): until the machine is known; what came of the simulation, which was `good`. */
bool run_open(struct run *run, struct error *error);
bool run_result(struct run *run, bool good, struct error *error);
/* run->program, unless it is there already. */
bool run_make_program(struct run *run, struct error *error);

/* Pieces of the report, in this order: what a simulation says; notes on its trace; the profile is
 * saved, which may fail while the report is written. run_report_begin() is all three, of what
 * run_go() simulated, with a note of its own (NULL: none). */
bool run_report_build(struct run *run, const struct simulation *simulation, const struct code *code,
                      const char *command, bool partial, const struct forecasting_result *forecast,
                      struct error *error);
void run_note_trace(struct run *run, const struct code *code, const struct trace *trace);
void run_save(struct run *run, const struct saved_event *events, size_t event_count,
              struct report *report);
void run_save_finish(struct run *run, struct report *report);
bool run_report_begin(struct run *run, const char *note, struct error *error);
/* The report, with the next useful command. */
bool run_report_write(struct run *run, struct error *error);
/* Whether the simulation is not all that was asked for. */
bool run_is_partial(const struct run *run);
