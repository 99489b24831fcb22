/* Samples that the BPF program wrote in place of perf's: its stack was walked, not copied. */
#pragma once

#include "live/perf_record.h"

/* From the record of its output, and what it wrote there. `seed`: of the hash. False: it is no such
 * sample, or not consistent. */
bool walked_stack_read(const uint8_t *bytes, const uint8_t *written, size_t size, uint64_t seed,
                       struct perf_record *record);
