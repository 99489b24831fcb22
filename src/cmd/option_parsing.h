/* Inside of option*.c: a command line that is being parsed. */
#pragma once

#include "cmd/option.h"

struct parsing {
    const struct command_line *line;
    void *request;
    char **words;
    struct {
        const struct option_row *option;
        void *request;
    } rows[OPTIONS_MOST];
    struct argp_option table[OPTIONS_MOST + 2];
    int count;
};

/* Sets the member of a request that the row is about. Exits on a mistake. */
void option_set(struct argp_state *state, const struct option_row *option, void *request,
                char *value);
/* Says what is wrong with the option at which argp stopped, and exits. */
void option_explain_mistake(const struct argp_state *state, const struct parsing *parsing);
