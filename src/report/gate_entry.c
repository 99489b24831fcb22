#include "report/gate_entry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool gate_entries_list(struct gate_report *report, const struct baseline *baseline,
                       const char *name, bool fresh, struct error *error) {
    report->count = name ? 1 : baseline->count;
    if (!baseline->text && !fresh)
        return error_set(error,
                         "%s: no such file: write it with culprit gate --update --baseline "
                         "%s -- COMMAND",
                         report->path, report->path);
    if (!report->count)
        return error_set(error, "%s: it has no entries, and no command is given", report->path);
    if (name && !fresh && !baseline_find(baseline, name))
        return error_set(error, "%s: it has no entry '%s' (write it with --update)", report->path,
                         name);
    if (!(report->entries = calloc(report->count, sizeof *report->entries)))
        return error_set(error, "out of memory for the programs");
    for (size_t i = 0; i < report->count; i++)
        report->entries[i].name = name ? name : baseline->entries[i].name;
    return true;
}

bool gate_entry_withdraw(struct gate_entry *entry) {
    if (entry->error.message[0])
        return false;
    entry->verdict = GATE_UNKNOWN;
    entry->compared = false;
    error_set(&entry->error, "not written, since another could not be");
    return true;
}

/* What both have, as layouts of the report. */
static bool add_layouts(struct compare_report *report, const struct baseline_entry *old,
                        const struct gate_run *now, struct error *error) {
    const uint32_t count =
        now->layout_count < old->layout_count ? now->layout_count : old->layout_count;
    if (count < 2)
        return true;
    if (!compare_report_lay_out(report, count, error))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        report->layouts[0][i] =
            (struct layout_cycles){.known = old->layouts[i], .cycles = old->layouts[i]};
        report->layouts[1][i] = now->layouts[i];
    }
    return true;
}

bool gate_entry_compare(struct gate_entry *entry, struct baseline_entry *old, struct gate_run *now,
                        uint32_t top, struct error *error) {
    struct compare_report *report = &entry->compare;
    report->report.verb = "gate";
    report->top = top;
    report->runs[0] = old->run;
    report->runs[1] = now->first;
    old->run = now->first = (struct compared_run){0};
    entry->compared = add_layouts(report, old, now, error) && compare_report_build(report, error);
    return entry->compared;
}

char *gate_entry_text(struct gate_entry *entry, const struct baseline_setting *setting,
                      char *const *words, struct gate_run *now, struct error *error) {
    uint64_t *layouts = calloc(now->layout_count + 1, sizeof *layouts);
    if (!layouts) {
        error_set(error, "out of memory for the baseline");
        return NULL;
    }
    for (uint32_t i = 0; i < now->layout_count; i++)
        layouts[i] = now->layouts[i].known ? now->layouts[i].cycles : 0;
    const struct baseline_entry new = {.name = entry->name,
                                       .words = (const char **)words,
                                       .setting = *setting,
                                       .layouts = layouts,
                                       .layout_count = now->layout_count,
                                       .second = now->second};
    char *text = baseline_entry_text(&new, &now->first, error);
    free(layouts);
    if (!text)
        return NULL;
    entry->bytes = strlen(text);
    entry->verdict = GATE_WRITTEN;
    if (now->second)
        now->first.half_interval = fabs((double)now->second - (double)now->first.elapsed);
    return text;
}
