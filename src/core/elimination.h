/* What rename does by itself: µops that need no functional unit on a machine. */
#pragma once

#include "machine/machine.h"
#include "trace/dynamic.h"

enum elimination {
    NOT_ELIMINATED,
    NOTHING_TO_DO, /* a no-op or zero idiom: it reads nothing */
    OTHER_NAME     /* a copy or addition of a constant: its destinations, flags among them, become
                      other names for its source */
};

enum elimination eliminates(const struct machine_core *machine, const struct static_insn *insn,
                            const struct uop *uop);
