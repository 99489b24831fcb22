/* Inside of the calibrate room: figures that are measured whole, but that a machine file has in
 * parts. Of all parts but one the file's own value holds; the one is chosen so that the whole is
 * what was measured.
 *
 *     l1d.load_to_use      cycles from a load's issue to its data: address generation, l1d.latency
 *     l2.load_to_use       likewise
 *     llc.load_to_use      likewise
 *     chip.modified_load_to_use, chip.clean_load_to_use  likewise, of a line that another core has
 *     memory.load_to_use   address generation, the lookup of the last cache, and memory with
 *                          another row open: dram.base_latency, or dram.latency
 *     memory.bandwidth     bytes per cycle: dram.bandwidth, at the machine's clock
 *     tlb.walk             cycles of a walk whose reads of tables hit: tlb.page_walk
 *     core.cpuid           CPUID behind another: core.cpuid_cycles
 *     branch.indirect_targets  of which half are predicted: branch.indirect_entries, a power of two
 *     branch.far_jumps     to other pages, that the branch target buffer holds: branch.btb_far_ways
 */
#pragma once

#include "machine/machine.h"

/* The key that is chosen; NULL: there is no figure of that name. */
const char *figure_key(const struct machine *machine, const char *name);
/* What the machine's file says that it is. False: no figure of that name, or the machine has none.
 */
bool figure_value(const struct machine *machine, const char *name, double *value);
/* The value of its key. False: as above, or it would be below 0. */
bool figure_key_value(const struct machine *machine, const char *name, double measured,
                      double *value);
