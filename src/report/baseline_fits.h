/* Whether a run may be held against an entry of a baseline. */
#pragma once

#include "report/baseline.h"

/* Both were made under the same conditions. The error names the file, and says what to do. */
bool baseline_entry_fits(const struct baseline_entry *entry, const char *path,
                         const struct baseline_setting *now, struct error *error);

/* The command has the entry's arguments; its program may lie elsewhere. */
bool baseline_same_arguments(const struct baseline_entry *entry, char *const *command);
