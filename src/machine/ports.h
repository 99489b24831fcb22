/* Inside of the machine room: ports as files write them, "alu", "alu1" or "alu0+alu3": all units of
 * a pool, or one of them by its number, and several joined by '+'. */
#pragma once

#include "machine/machine.h"

/* Pools that share others' units stand for those. All must be of one queue. The error says what is
 * wrong with the text, not where it stands. */
bool ports_parse(const struct machine *machine, const char *text, struct machine_ports *ports,
                 struct error *error);

/* Resolves what pools share and core.store_data; a pool that shares has as many units. Pools have
 * their names, queues and units. */
bool ports_settle(struct machine *machine, struct error *error);

/* Ports that referred to pools of `from`, by the same names in `machine`. */
bool ports_move(const struct machine *from, const struct machine *machine,
                struct machine_ports *ports, struct error *error);

/* A pool of them; MACHINE_MAX_POOLS: there is none. */
uint32_t ports_first_pool(const struct machine_ports *ports);
