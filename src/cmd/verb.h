/* The life of a verb, once:
 *
 *     parse      the command line into the verb's struct
 *     choose     which of several lives it is, by what was asked for
 *     prepare    all that can be wrong before anything runs: the machine, files to write
 *     run        one study; from here on a signal asks for what there is so far
 *     report     one report, into the files, which are complete then
 *     free       what the steps made
 *
 * A step that fails ends it, and what was wrong is printed. The exit status is 128 and the signal
 * that cut the verb's work short; else that of the command, or 0. Of a failure it is 1, or 125 when
 * a command was to run, 126 or 127 when it could not; or 128 and the signal when this came before
 * anything was measured. */
#pragma once

#include "options/report_files.h"
#include "program/program.h"

/* The first member of a verb's struct; behind it are its options and what its steps work with. */
struct verb_run {
    int argc;
    char **argv;                  /* as typed; argv[0] is "culprit VERB" */
    char **words;                 /* of which NULL is not repeated in the next useful command */
    char *const *command;         /* that is run; NULL: none */
    struct output_options output; /* --output, --json, --svg ... */
    struct report_files files;    /* verb_open_report() */
    struct error late;            /* what failed, though a report is written all the same */

    /* For the exit status: */
    int failed;             /* of a failure */
    bool measured;          /* something was before a signal came */
    int ended_by;           /* signal that ended a part of the run, and was taken; 0: none */
    bool observes;          /* until the command ends, or a signal comes: that cuts nothing short */
    struct trace_exit exit; /* of the command, if it is known */
};

struct verb {
    const struct command_line *line;
    size_t size;    /* of its struct; zero before its group's `begin` */
    size_t command; /* where a char ** of the command lies in it; 0: it runs none */
    /* Each may be NULL, but for `report`. */
    const struct verb *(*choose)(void *verb); /* what follows is then that one's */
    bool (*prepare)(void *verb, struct error *error);
    bool (*run)(void *verb, struct error *error);
    bool (*report)(void *verb, struct error *error);
    void (*free)(void *verb);
};

/* argv[0] is "culprit VERB". Returns the exit status. */
int verb_main(const struct verb *verb, int argc, char **argv);

/* Prints "culprit: ..." */
void print_error(const struct error *error);
/* Where a report reads names, also those of what the command ran and removed; NULL: out of memory.
 */
struct program *verb_program(void);

/* For `prepare`: opens what --output and --svg name. */
bool verb_open_report(struct verb_run *run, struct error *error);
/* For `run`: the exit of the command, when its trace has been read (NULL: there is none). */
void verb_command_ended(struct verb_run *run, const struct trace *trace);
/* For `run` and `report`: has failed, but there is something to report. True. */
bool verb_report_late(struct verb_run *run, const struct error *error);

/* The forms that a report has. */
struct report_forms {
    bool (*json)(const void *report, FILE *file, struct error *error);
    void (*text)(const void *report, const struct page *page);
    void (*svg)(const void *report, FILE *file); /* NULL: it has no picture */
};
/* `name_`, a constant, of functions that take a report of their own type. */
#define REPORT_FORMS(name_, json_, text_, svg_)                                                    \
    static bool name_##_json(const void *report, FILE *file, struct error *error) {                \
        return json_(report, file, error);                                                         \
    }                                                                                              \
    static void name_##_text(const void *report, const struct page *page) {                        \
        text_(report, page);                                                                       \
    }                                                                                              \
    static const struct report_forms name_ = {name_##_json, name_##_text, svg_}
/* For svg_. */
#define REPORT_PICTURE(name_, draw_)                                                               \
    static void name_(const void *report, FILE *file) {                                            \
        draw_(report, file);                                                                       \
    }
/* For `report`: writes it in the forms that were asked for, each into its file. */
bool verb_write_report(struct verb_run *run, const struct report_forms *forms, const void *report,
                       struct error *error);
