/* A command that is held against what it took before (culprit gate): simulated in full, under
 * several layouts of its memory where that is asked for, and once more to see whether it does the
 * same each time. */
#pragma once

#include "query/compared_fill.h"
#include "query/layout_spread.h"
#include "study/compare_run.h"
#include "study/layouts.h"
#include "util/arena.h"

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

struct gated_run {
    /* Set before. */
    struct watch *watch;
    const struct machine_choice *machines;
    const struct gate_options *options;
    char **command;
    uint32_t layout_count; /* 0: layout 0 alone */
    uint32_t jobs;         /* as of struct layouts_run */
    /* Before the first run is simulated: false ends all. */
    bool (*begin)(void *context, const struct machine *machine, struct error *error);
    void *context;

    struct compared_run first;    /* compared_run_free() */
    struct layout_cycles seen[2]; /* of the first run, and the second */
    struct layout_cycles layouts[LAYOUTS_MOST];
    bool exact; /* every instruction was simulated under each; else what they are besides layout 0
                   is estimated */
    int signal; /* that ended the layouts, taken from the watch; 0: none did */
};

/* The first run, and the layouts. */
bool gated_run_go(struct gated_run *run, struct error *error);
/* The second. */
bool gated_run_again(struct gated_run *run, struct error *error);
/* Whether both are the same, or as good as: what they differ by is small beside `limit`, a share.
 * The error calls the command by its name. */
bool gated_run_repeatable(const struct gated_run *run, const char *name, double limit,
                          struct error *error);
