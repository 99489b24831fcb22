/* How long a µop executes on a machine: by its class, or by the table of instruction forms
 * (docs/forms-format.md) where that lists its instruction. */
#pragma once

#include "machine/machine.h"
#include "trace/dynamic.h"

struct uop_timing {
    uint32_t latency;  /* cycles from issue to the result; of a load before the L1, of a store to
                          the address */
    uint32_t interval; /* cycles that a unit is taken, 1 to 1000; a class says any */
    struct machine_ports ports;  /* the units that can execute it */
    struct machine_ports beside; /* of a load: those of the operation of its instruction that may
                                    wait in its scheduler ([pool.NAME] beside); or none */
};

struct uop_timing uop_timing_of_class(const struct machine *machine, enum operation operation);

/* What the machine's table says of the instruction; NULL: nothing. */
const struct machine_form *uop_timing_form(const struct machine *machine,
                                           const struct static_insn *insn);

/* Of µop `number` of an instruction whose µops are `uops`. `form`: its line in the table; NULL: it
 * has none. The line's ports are those of the µops that compute, of a mere load or store its own;
 * its latency is that of the µops that compute, unless the result goes to memory;
 * what an address takes to the result beyond them, a hit in the L1 and the class of loads is added
 * to loads. The line's throughput says for how long they take a unit, if it is less than units,
 * queues and dispatch would allow were the units pipelined. */
struct uop_timing uop_timing(const struct machine *machine, const struct machine_form *form,
                             const struct static_insn *insn, const struct uop *uops,
                             uint32_t number);
