/* Inside of option*.c: a command line that is being parsed. */
#pragma once

#include "options/option.h"

enum { FILES_MOST = 16 };

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
    int first; /* place in argv of the first argument that is no option; 0: none yet */
    struct {
        const struct option_row *option;
        const void *request; /* of the row */
        const char *path;
    } written[FILES_MOST];
    unsigned written_count;
};

/* Sets the member of a request that the row is about. Exits on a mistake. */
void option_set(struct argp_state *state, const struct option_row *option, void *request,
                char *value);
/* Says what is wrong with the option at which argp stopped, and exits. */
void option_explain_mistake(const struct argp_state *state, const struct parsing *parsing);

/* A file that the option says is written. */
void option_note_file(struct parsing *parsing, const struct option_row *option, const void *request,
                      const char *path);
/* When all is parsed: a file that is written must be neither one that exists and is an argument,
 * as a trace or the program that runs, nor that of another option. Exits if it is. */
void option_check_files(const struct argp_state *state, const struct parsing *parsing);
