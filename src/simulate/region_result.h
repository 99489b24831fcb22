/* A region that was simulated, as a file: all that the estimate of the whole run needs of it, but
 * call paths, data objects and causes of stalls. Instructions are told by their numbers in the code
 * of the region's trace, which whoever reads it has as well.
 *
 * Records (util/record_reader.h) behind the magic: totals, then pieces of cells, slots and
 * executions, of a breakdown the names and times of its sets, and an end. Numbers are least
 * significant byte first, times IEEE 754. */
#pragma once

#include "simulate/simulate.h"
#include "trace/dynamic.h"

/* How much of the code was known when the region had been simulated. */
struct region_code_extent {
    uint32_t insns, images, python, mappings;
};

struct region_code_extent region_code_extent(const struct code *code);
/* The code as it was then, of one that knows more by now. */
struct code region_code_at(const struct code *code, const struct region_code_extent *extent);

/* On the disk before it gets its name. */
bool region_result_write(const char *path, const struct simulation *simulation,
                         const struct code *code, struct error *error);
/* False: it is no such file, or is damaged. Sums hold: states and cells sum to the cycles,
 * executions to the instructions, and all instructions are within the extent. simulation_free()
 * either way. */
bool region_result_read(const char *path, struct simulation *simulation,
                        struct region_code_extent *extent, struct error *error);
