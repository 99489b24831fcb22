/* Inside of the calibrate room: the parts; a new one is a file, a line here and a line in parts.c.
 */
#pragma once

#include "calibrate/calibration.h"

extern const struct calibrate_part calibrate_width, calibrate_forms;
extern const struct calibrate_part calibrate_window;
extern const struct calibrate_part calibrate_rename;
extern const struct calibrate_part calibrate_fused;
extern const struct calibrate_part calibrate_forwarding, calibrate_ordering, calibrate_splits,
    calibrate_words, calibrate_strings, calibrate_cpuid;
extern const struct calibrate_part calibrate_branch;
extern const struct calibrate_part calibrate_history, calibrate_targets, calibrate_calls;
extern const struct calibrate_part calibrate_caches;
extern const struct calibrate_part calibrate_tlb;
extern const struct calibrate_part calibrate_memory;
extern const struct calibrate_part calibrate_pages;
extern const struct calibrate_part calibrate_prefetch;
extern const struct calibrate_part calibrate_transfers, calibrate_wakes;
extern const struct calibrate_part calibrate_retention;
