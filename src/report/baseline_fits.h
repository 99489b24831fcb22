/* Whether a run may be held against an entry of a baseline. */
#pragma once

#include "machine/machine.h"
#include "report/baseline.h"

/* What simulates, and on which machine, in the words of a setting. */
struct baseline_maker {
    char culprit[64], machine[128];
};
/* `version`: of culprit. */
bool baseline_maker_of(struct baseline_maker *maker, const char *version,
                       const struct machine *machine, struct error *error);

/* Both were made under the same conditions. The error names the file, and says what to do. */
bool baseline_entry_fits(const struct baseline_entry *entry, const char *path,
                         const struct baseline_setting *now, struct error *error);

/* The entry is of a command with these arguments, and has as many layouts as are asked for (0: any
 * number). The error as above. */
bool baseline_entry_is_of(const struct baseline_entry *entry, const char *path,
                          char *const *command, uint32_t layout_count, struct error *error);

/* The command has the entry's arguments; its program may lie elsewhere. */
bool baseline_same_arguments(const struct baseline_entry *entry, char *const *command);
