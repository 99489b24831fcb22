/* An entry of a baseline and a run of its command: held against each other, or the one made of the
 * other. */
#pragma once

#include "report/gate_report.h"

/* The entries of report->path to be run: the one of a name, or all (NULL). `fresh`: it need not be
 * there. report->entries is the caller's, to be freed. */
bool gate_entries_list(struct gate_report *report, const struct baseline *baseline,
                       const char *name, bool fresh, struct error *error);
/* An entry that is not written, since another could not be: it is unknown, and says so. False: it
 * says already what is wrong. */
bool gate_entry_withdraw(struct gate_entry *entry);

/* What was run now. */
struct gate_run {
    struct compared_run first;
    uint64_t second;                     /* cycles of another run of the same; 0: there was none */
    const struct layout_cycles *layouts; /* NULL: there is one layout */
    uint32_t layout_count;
};

/* Builds entry->compare, of `top` rows, with the layouts that both have. It takes the runs of both,
 * which are empty then. entry->compared says whether that went well, as the result does. */
bool gate_entry_compare(struct gate_entry *entry, struct baseline_entry *old, struct gate_run *now,
                        uint32_t top, struct error *error);

/* The text of a new entry of the command `words`, which is written with it: to be freed; NULL with
 * an error. now->first is sorted, and then has how far the second run was off. */
char *gate_entry_text(struct gate_entry *entry, const struct baseline_setting *setting,
                      char *const *words, struct gate_run *now, struct error *error);
