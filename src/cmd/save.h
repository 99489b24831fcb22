/* --save: the simulated profile goes to the store as well, where top, diff and others read it. */
#pragma once

#include "cmd/option.h"
#include "report/report.h"
#include "simulate/saving.h"

struct save_options {
    bool save;
    const char *store; /* NULL: the default one */
};
extern const struct option_group save_group; /* --save, --store FILE */

/* A saving, with its stores and the texts that it refers to. */
struct save {
    bool wanted;
    struct saving saving;
    char *folder; /* of the parts */
    char machine[256];
};

/* Opens the store, so that it is known before a command runs whether it can be written. Nothing is
 * done, here and below, when it was not asked for. save_close() either way. */
bool save_open(struct save *save, const struct save_options *options, struct error *error);
/* Before anything is saved; `command` outlives the saving. */
void save_describe(struct save *save, const char *command, const struct machine *machine,
                   uint32_t ideal);
/* NULL: nothing is to be saved. */
struct saving *save_to(struct save *save);
/* Adds where the profile is now to the notes. False, with an error, when it could not be saved. */
bool save_note(struct save *save, struct report *report, struct error *error);
void save_close(struct save *save);
