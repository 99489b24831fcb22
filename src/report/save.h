/* --save: the simulated profile goes to the store as well, where top, diff and others read it. */
#pragma once

#include "exchange/exchange.h"
#include "report/report.h"
#include "report/run_format.h"
#include "simulate/saving.h"
#include "util/output.h"
#include "util/temporary.h"

struct save_options {
    bool save;
    const char *store;           /* NULL: the default one */
    const char *export;          /* file for the profile in another tool's format; NULL: none */
    enum exchange_format format; /* of that */
    const struct run_format *run_format; /* likewise, in its place; NULL: none */
    bool format_given;
    const char *push; /* address of a collector; NULL: none */
};

/* Whether the profile goes anywhere. */
static inline bool save_is_wanted(const struct save_options *options) {
    return options->save || options->push || (options->export && !options->run_format);
}
/* Whether it goes where callers are wanted, if they can be had. */
static inline bool save_wants_calls(const struct save_options *options) {
    return options->push || (options->export && !options->run_format);
}

/* A saving, with its stores and the texts that it refers to. */
struct save {
    bool wanted;
    bool kept; /* in the user's store; else in one that is only exported */
    struct saving saving;
    struct output exported; /* file NULL: no export */
    enum exchange_format format;
    const struct run_format *run_format; /* in its place; NULL: none */
    struct kanata *pipeline;             /* for that; NULL: none */
    const char *push;                    /* as of the options */
    struct temporaries *temporaries;
    char *folder; /* of the parts, in those */
    char machine[256];
};

/* Opens the store, so that it is known before a command runs whether it can be written; what is
 * only on the way is in a temporary folder. Nothing is done, here and below, when it was not asked
 * for. save_close() either way. */
bool save_open(struct save *save, const struct save_options *options,
               struct temporaries *temporaries, struct error *error);
/* Before anything is saved; `command` outlives the saving. */
void save_describe(struct save *save, const char *command, const struct machine *machine,
                   uint32_t ideal);
/* NULL: nothing is to be saved. */
struct saving *save_to(struct save *save);
/* Adds where the profile is now to the notes. False, with an error, when it could not be saved. */
bool save_note(struct save *save, struct report *report, struct error *error);
/* The stores; save_open() may follow. */
void save_close(struct save *save);
/* And the file of an export. */
void save_discard(struct save *save);
