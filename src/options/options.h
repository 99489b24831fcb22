/* The options that verbs share, each stated once, so that every verb's --help has it in the same
 * words: groups with a struct of their own, and rows for a verb's own table. */
#pragma once

#include "cluster/cluster_options.h"
#include "machine/choice.h"
#include "options/option.h"
#include "report/report.h"
#include "study/input.h"
#include "study/layouts.h"
#include "trace/trace.h"

extern const struct option_group input_group; /* of a struct input_options */
/* --for and --on-signal, of verbs that can; of the same struct. */
extern const struct option_group for_group;

extern const struct option_group machine_group; /* --machine, --set, --ideal; of machine_options */
/* The same of verbs whose commands always see what is the same everywhere. */
extern const struct option_group fixed_machine_group;

struct output_options {
    enum report_by by;
    uint32_t top;
    bool json;
    bool wide;
    bool legend;
    bool brief;
    const char *output; /* NULL: standard output or error */
    const char *svg;    /* NULL: no picture */
    const char *html;   /* NULL: no page */
};
extern const struct option_group output_group; /* --top, --json, --wide, --output */
extern const struct option_group report_group; /* --json, --wide, --output */
extern const struct option_group html_group;   /* --html, beside report_group */
extern const struct option_group legend_group; /* --legend */
extern const struct option_group grain_group;  /* --by; its struct is an enum report_by */

/* Refuses one file for both the report and the picture; `request`: a struct output_options. Of the
 * groups above, and of verbs whose own table has these rows. */
void options_check_output(struct argp_state *state, void *request);

/* --legend without anything to explain: prints all words, and exits. */
void options_explain_words(void) __attribute__((noreturn));

/* ---- rows ---- */

#define OUTPUT_ROWS(group_, output_)                                                               \
    HEADING(group_, "What to print:"),                                                             \
        FLAG("json", output_.json,                                                                 \
             "One JSON object (docs/json.md) in place of the text; without --output as with -o "   \
             "-"),                                                                                 \
        FLAG("wide", output_.wide,                                                                 \
             "Tables as wide as they need, with no name cut (default: as the terminal, COLUMNS, "  \
             "or in a file or pipe 200)"),                                                         \
        TEXT("output", "FILE", output_.output,                                                     \
             "Write the report there; -: to standard output, and what the command writes there "   \
             "to standard error (default: standard error when a command runs, else standard "      \
             "output)",                                                                            \
             .letter = 'o', .written = true, .not_again = true)
#define SVG_ROW(output_, help_, ...)                                                               \
    TEXT("svg", "FILE", output_.svg, help_, .written = true, .not_again = true, ##__VA_ARGS__)

#define HTML_ROW(output_)                                                                          \
    WRITTEN_FILE("html", "FILE", output_.html,                                                     \
                 "Also write a page for a browser there: one file, which needs no network",        \
                 .not_again = true)

#define MACHINE_ROWS(options_, default_)                                                           \
    TEXT("machine", "NAME", options_.machine,                                                      \
         "A machine of 'culprit machines', or a file (default: " default_ ")"),                    \
        LIST("set", "SECTION.KEY=VALUE", options_.settings, options_.setting_count,                \
             "Change one figure of it; may be repeated",                                           \
             .must = " (write a machine file with 'base = NAME')")

#define SKIP_ROW(member_) COUNT("skip", "N", member_, "Begin after N instructions (50M, 2G)")
#define LIMIT_ROW(member_, help_)                                                                  \
    COUNT("limit", "N", member_, help_, .least = 1,                                                \
          .must = "at least one instruction (leave it out for no limit)")
#define STOP_ROW(member_)                                                                          \
    FLAG("stop", member_, "Kill the command when --limit is reached, rather than let it run on")
#define FROM_ROW(member_)                                                                          \
    TEXT("from", "FUNCTION", member_, "Begin when this function is first entered", .least = 1)

#define REPEATABLE_ROWS(fixed_, variables_, variable_count_, seed_, seed_given_)                   \
    FLAG("repeatable", fixed_,                                                                     \
         "The same run everywhere: the command gets an environment, a clock, names of the "        \
         "machine, "                                                                               \
         "one processor and random numbers that are the same each time"),                          \
        LIST("env", "NAME[=VALUE]", variables_, variable_count_,                                   \
             "With --repeatable: also this variable, with a value or the one it has here; may be " \
             "repeated",                                                                           \
             .must = " variables"),                                                                \
        COUNT("seed", "N", seed_,                                                                  \
              "Which random numbers, where they are the same each time (default 1)",               \
              GIVEN(seed_given_))
#define LAYOUT_ROW(member_)                                                                        \
    COUNT("layout", "N", member_,                                                                  \
          "With --repeatable: its stack, heap, program and libraries begin at other addresses, "   \
          "the N-th ones (default 0)",                                                             \
          .most = LAYOUTS_MOST - 1, .must = "0 to 999")
#define LAYOUTS_ROWS(count_, jobs_, what_)                                                         \
    COUNT("layouts", "N", count_,                                                                  \
          what_ ": its stack, heap, program and libraries begin at other addresses in each, "      \
                "which changes nothing but the cycles",                                            \
          .least = 2, .most = LAYOUTS_MOST, .must = "2 to 1000", .not_again = true),               \
        COUNT("jobs", "N", jobs_,                                                                  \
              "N runs under layouts at once (default: one for each processor)", .least = 1,        \
              .most = OPTIONS_MAX_JOBS, .not_again = true)
#define RELINK_HELP                                                                                \
    "Also link the program anew for each layout, by this command: {} is the file to write, {n} "   \
    "the "                                                                                         \
    "layout's number, and words that end in .o are given in another order each time"
#define NO_REPEATABLE_ROW(member_)                                                                 \
    NO_FLAG("no-repeatable", member_,                                                              \
            "Leave the command the kernel's random numbers; else it gets the same ones in every "  \
            "run, and keys that it makes are no secret")
#define RERUN_ROW(member_)                                                                         \
    FLAG("rerun", member_,                                                                         \
         "Run the command a second time even though it sets a timer or changes the world (writes " \
         "or deletes files, talks to or starts other programs)")

/* Of verbs that simulate. */
enum { OPTIONS_MAX_JOBS = 1024 };
#define JOBS_ROW(member_, what_)                                                                   \
    COUNT("jobs", "N", member_, "N " what_ " at once (default: one for each processor)",           \
          .least = 1, .most = OPTIONS_MAX_JOBS)
#define CLUSTER_ROW(take_, what_)                                                                  \
    TAKE("cluster", "slurm[:KEY=VALUE,...]", take_,                                                \
         "Let the nodes of a Slurm cluster simulate " what_                                        \
         ": job arrays, with what sbatch is to "                                                   \
         "be told, as slurm:partition=short,time=1:00:00,mem=4G (docs/cluster.md)")
#define REGIONS_WARM_UP_ROW(member_)                                                               \
    COUNT("warm-up", "N", member_,                                                                 \
          "Warm caches and predictors by simulating at most N instructions before each region "    \
          "(default: 8M; what caches hold is rebuilt from when lines were accessed in all that "   \
          "was captured)")

/* Of verbs about profiles. */
#define STORE_ROW(member_)                                                                         \
    WRITTEN_FILE("store", "FILE", member_, "The profile database (default: see culprit-epochs(1))")
#define IMAGE_ROW(member_)                                                                         \
    TEXT("image", "NAME", member_, "Of this file only: its path, or the last part of it")

/* ---- what several verbs check or take ---- */

/* What is about runs that are the same everywhere, and does nothing for others. */
void options_check_repeatable(const struct argp_state *state, const struct input_options *input);

/* --regions LIST (`list`) and --warm-up (UINT64_MAX: not given), and what does not go with a list:
 * a command, a trace, or a part of one. `done`: what happens to regions, "simulated". */
void options_check_regions(const struct argp_state *state, const struct input_options *input,
                           bool list, uint64_t warm_up, const char *done);

/* What is the same everywhere is simulated on the same machine everywhere, unless one is named. */
void options_fix_machine(const struct input_options *input, struct machine_options *machine);

/* --relink: that it says where the program goes, and goes with --layouts. */
void options_check_relink(const struct argp_state *state, const char *const *commands,
                          uint32_t count, uint32_t layouts);

/* The value of --cluster. */
void options_take_cluster(const struct argp_state *state, struct cluster_options *options,
                          const char *value);

/* Whether to propose --follow: a command was run without it, and --no-follow was not given. */
bool options_may_follow(const struct input_options *input);
