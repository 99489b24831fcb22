/* Option groups that verbs share, as argp children, and one way to say what is wrong with a command
 * line: one line on standard error, exit 2, or 125 when a command would have been run. */
#ifndef CULPRIT_CMD_OPTIONS_H
#define CULPRIT_CMD_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "machine/choice.h"
#include "report/report.h"
#include "study/input.h"
#include "trace/trace.h"

extern const struct argp input_argp; /* its input is a struct input_options */
/* What --stop does, as the help says it. */
#define OPTIONS_STOP_HELP "Kill the command when --limit is reached, rather than let it run on"
/* --for and --on-signal, of verbs that can; its input is the same struct input_options, and a child
 * behind it. */
extern const struct argp for_argp;

extern const struct argp machine_argp; /* its input is a struct machine_options */

struct output_options {
    enum report_by by;
    uint32_t top;
    bool json;
    bool legend;
    const char *output; /* NULL: standard output or error */
    const char *svg;    /* NULL: no picture */
    char **words;       /* of options_words(), set before parsing; --svg is left out; or NULL */
};
extern const struct argp output_argp; /* --top, --json, --output */
extern const struct argp report_argp; /* --json, --output */
extern const struct argp legend_argp; /* --legend, likewise */
extern const struct argp grain_argp;  /* --by; its input is an enum report_by */

/* A verb with other outputs, or other words for them, lists them in a table of its own, as a child
 * with this parser, whose input is a struct output_options. One file for both the report and the
 * picture is refused. */
enum output_key { OUTPUT_FILE = 'o', OUTPUT_JSON = 2048, OUTPUT_SVG, OUTPUT_LEGEND };
error_t options_parse_output(int key, char *value, struct argp_state *state);

/* Rows of such a table: a heading, --json and --output. */
#define OUTPUT_ROWS(group)                                                                         \
    {NULL, 0, NULL, 0, "What to print:", group},                                                   \
        {"json",                                                                                   \
         OUTPUT_JSON,                                                                              \
         NULL,                                                                                     \
         0,                                                                                        \
         "One JSON object (docs/json.md) in place of the text; without --output as with -o -",     \
         0},                                                                                       \
    {                                                                                              \
        "output", OUTPUT_FILE, "FILE", 0,                                                          \
            "Write the report there; -: to standard output, and what the command writes there to " \
            "standard error (default: standard error when a command runs, else standard output)",  \
            0                                                                                      \
    }

/* Parses; on a mistake prints the line and exits. `input` goes to argp's parser. */
void options_parse(const struct argp *argp, int argc, char **argv, void *input);

/* For parsers: prints "culprit VERB: ..." and exits. */
void options_fail(const struct argp_state *state, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* The value of an option as a count: digits and one of K M G T (thousands). Exits on a mistake. */
uint64_t options_count(const struct argp_state *state, const char *option, const char *text);

/* Likewise a time above 0, in seconds. */
double options_duration(const struct argp_state *state, const char *option, const char *text);

/* A copy of what was typed, for the next useful command, which leaves out words that are NULL
 * there. To be freed. Exits when there is no memory. */
char **options_words(int argc, char **argv);
/* For parsers: the next useful command does not repeat this option, lest it write over a file. */
void options_leave_out(char **words, const struct argp_state *state, const char *value);

/* What does not go with --regions LIST: a command, a trace, or a part of one. `done`: what happens
 * to regions, "simulated". */
void options_check_regions(const struct argp_state *state, const struct input_options *input,
                           const char *done);

/* The value of an option that writes a file beside the report. "-" is refused: standard output has
 * the report, or what a command writes. */
const char *options_file(const struct argp_state *state, const char *option, const char *path);

/* Whether to propose --follow: a command was run without it, and --no-follow was not given. */
bool options_may_follow(const struct input_options *input);

/* Values of --limit (at least 1), --from (not empty), --thread. */
uint64_t options_limit(const struct argp_state *state, const char *text);
const char *options_from(const struct argp_state *state, const char *text);
int options_thread(const struct argp_state *state, const char *text);
/* One more value of --set. */
void options_add_setting(struct machine_options *machine, const struct argp_state *state,
                         const char *setting);

/* Prints "culprit: ..." */
void print_error(const struct error *error);

#endif
