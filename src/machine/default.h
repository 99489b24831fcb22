/* Which machine is simulated when none is named: that of $CULPRIT_MACHINE; else, for programs of
 * this host's architecture, the user's own description of the host, else the shipped one that
 * describes its processor or is the nearest to it; else a fixed one. */
#pragma once

#include <limits.h>

#include "isa/insn.h"
#include "machine/machine.h"
#include "machine/processor.h"

struct machine_default {
    char name[PATH_MAX]; /* for machine_load() */
    struct machine_choice_reason reason;
};

/* The default for programs of `isa` on a host with this processor. False with an error when the
 * machine that $CULPRIT_MACHINE names cannot be loaded. */
bool machine_default_of(enum isa isa, const struct processor *processor,
                        struct machine_default *machine, struct error *error);

/* The default for programs of `isa` that ran on another host, with this processor: what the user
 * chose for this host does not count. */
void machine_default_elsewhere(enum isa isa, const struct processor *processor,
                               struct machine_default *machine);

/* The default for programs of `isa` in runs that are to be the same on every host. */
void machine_default_everywhere(enum isa isa, struct machine_default *machine);

/* Where the user's description of this host is: $XDG_CONFIG_HOME/culprit/host.ini, without it
 * ~/.config/culprit/host.ini. False: there is no such place, or its path is too long. */
bool machine_host_file(char path[PATH_MAX]);
