/* Two commands or traces, simulated one after the other so that nothing but themselves differs:
 * both read the same standard input, and what they write to standard output goes nowhere.
 *
 * Every instruction of both; or, where both are longer than `over`, stretches of the same work in
 * both (study/matched_runs.h), if there are such. */
#pragma once

#include "study/matched_runs.h"
#include "study/simulated_run.h"

struct compare_run {
    /* Set before. */
    struct watch *watch;
    const struct machine_choice *machines;
    struct input_options inputs[2]; /* without command and trace: there is nothing to run */
    struct together_request threads;
    uint32_t ideal;
    const struct path_extents *extents[2]; /* of each side; NULL: call paths are not asked for */
    bool again;    /* the second command is the first once more: what it says is not told twice */
    uint64_t over; /* instructions; 0: every one is simulated, however many there are */
    uint32_t regions; /* of longer ones */
    /* Before a run is simulated: false ends all. May be NULL; not with `over`. */
    bool (*begin)(void *context, unsigned side, const struct simulated_run *run,
                  struct error *error);
    /* Takes what came of a run before it is freed. */
    bool (*take)(void *context, unsigned side, const struct simulated_run *run,
                 struct error *error);
    /* In place of that, of both runs; with `over`. */
    bool (*take_matched)(void *context, const struct matched_runs *matched, struct error *error);
    void *context;

    int failed;           /* why a command could not be run, as an exit status; 0: it could */
    const char *obstacle; /* why runs that are longer were simulated in full; NULL: they were not */
    char obstacle_text[320];
};

/* The words of a command that is one word, cut at its spaces, and behind them `arguments` (NULL:
 * none): ends with NULL. *copy has the words; both are to be freed. NULL: out of memory. */
char **compare_command(const char *word, char **arguments, char **copy);

/* An interrupt ends it with an error: there is no half of a comparison. */
bool compare_run_go(struct compare_run *run, struct error *error);
