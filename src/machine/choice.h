/* The machine that a verb simulates: asked for, or by the architecture of what it simulates, which
 * shows only when the trace begins. */
#ifndef CULPRIT_MACHINE_CHOICE_H
#define CULPRIT_MACHINE_CHOICE_H

#include <stdbool.h>

#include "isa/insn.h"
#include "machine/machine.h"
#include "util/error.h"

enum { MACHINE_MOST_SETTINGS = 64 };

struct machine_options {
    bool chips;          /* set before parsing: machines of several threads are taken, too */
    const char *machine; /* NULL: by the program's architecture */
    const char *settings[MACHINE_MOST_SETTINGS];
    uint32_t setting_count;
    uint32_t ideal;
};

struct machine_choice {
    struct machine_candidate {
        bool good;
        struct machine machine;
        struct error error;
    } candidates[ISA_COUNT];
};

/* Loads what each architecture would get. False when none can be had, so that this is told before
 * a command starts. */
bool machine_choice_load(struct machine_choice *choice, const struct machine_options *options,
                         struct error *error);

/* NULL with an error. */
const struct machine *machine_choice_of(const struct machine_choice *choice, enum isa isa,
                                        struct error *error);

#endif
