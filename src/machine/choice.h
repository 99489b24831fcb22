/* The machine that a verb simulates: the one asked for, or the default (machine/default.h) for the
 * program's architecture, which is known only when the trace begins. */
#pragma once

#include <stdbool.h>

#include "isa/insn.h"
#include "machine/machine.h"
#include "machine/processor.h"
#include "util/error.h"

enum { MACHINE_MOST_SETTINGS = 64 };

struct machine_options {
    bool chips;          /* set before parsing: machines of several threads are accepted */
    const char *machine; /* NULL: the default */
    const char *settings[MACHINE_MOST_SETTINGS];
    uint32_t setting_count;
    uint32_t ideal;
    const struct processor *elsewhere; /* whose default it is; NULL: this host's */
    bool everywhere;                   /* or the one that is the same on every host */
};

struct machine_choice {
    struct machine_candidate {
        bool good;
        struct machine machine;
        struct error error;
    } candidates[ISA_COUNT];
};

/* Loads the machine of each architecture. False: none can be loaded, which is thus reported before
 * a command starts. */
bool machine_choice_load(struct machine_choice *choice, const struct machine_options *options,
                         struct error *error);

/* NULL with an error. */
const struct machine *machine_choice_of(const struct machine_choice *choice, enum isa isa,
                                        struct error *error);
