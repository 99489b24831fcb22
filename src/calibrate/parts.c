#include "calibrate/parts.h"

const struct calibrate_part *const calibrate_parts[] = {
    &calibrate_width,     &calibrate_rename, &calibrate_fused,    &calibrate_forwarding,
    &calibrate_ordering,  &calibrate_splits, &calibrate_words,    &calibrate_strings,
    &calibrate_cpuid,     &calibrate_branch, &calibrate_history,  &calibrate_targets,
    &calibrate_calls,     &calibrate_window, &calibrate_caches,   &calibrate_tlb,
    &calibrate_memory,    &calibrate_pages,  &calibrate_prefetch, &calibrate_retention,
    &calibrate_transfers, &calibrate_wakes,  &calibrate_forms,    NULL,
};
