/* Programs held against their baselines, as JSON (docs/json.md), and as the list of findings that
 * GitLab reads. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <xxhash.h>

#include "report/gate_report.h"
#include "report/json_values.h"

static json_t *entry_json(const struct gate_report *report, const struct gate_entry *entry) {
    char *sentence = gate_sentence(report, entry);
    json_t *object =
        json_pack("{s:o, s:s, s:o, s:o}", "name", json_text(entry->name), "verdict",
                  gate_word(entry->verdict), "sentence", json_text(sentence), "comparison",
                  entry->compared ? compare_report_object(&entry->compare) : json_null());
    if (object && entry->compared)
        json_object_set_new(object, "notes", json_notes(&entry->compare.report));
    free(sentence);
    return object;
}

bool gate_report_json(const struct gate_report *report, FILE *file, struct error *error) {
    json_t *entries = json_array();
    for (size_t i = 0; i < report->count; i++)
        json_array_append_new(entries, entry_json(report, &report->entries[i]));
    return json_write(json_pack("{s:s, s:o, s:f, s:I, s:I, s:I, s:I, s:o, s:o}", "verb", "gate",
                                "baseline", json_text(report->path), "limit_percent", report->limit,
                                "passed", (json_int_t)gate_count(report, GATE_PASSED), "slower",
                                (json_int_t)gate_count(report, GATE_SLOWER), "unknown",
                                (json_int_t)gate_count(report, GATE_UNKNOWN), "written",
                                (json_int_t)gate_count(report, GATE_WRITTEN), "entries", entries,
                                "accept", json_text(report->accept)),
                      file, error);
}

/* ---- GitLab ---- */

/* The same finding has the same number in the next run: it is of the entry and the function. */
static json_t *finding(const struct gate_report *report, const struct gate_entry *entry,
                       const char *function, const char *path, uint32_t line) {
    char number[17];
    char *sentence = gate_sentence(report, entry), *text = NULL;
    if (!sentence || asprintf(&text, "%s: %s", entry->name, sentence) < 0)
        text = NULL;
    snprintf(number, sizeof number, "%016" PRIx64,
             (uint64_t)XXH3_64bits_withSeed(function, strlen(function),
                                            XXH3_64bits(entry->name, strlen(entry->name))));
    json_t *object =
        json_pack("{s:o, s:s, s:s, s:s, s:{s:o, s:{s:I}}}", "description", json_text(text),
                  "check_name", "culprit gate", "fingerprint", number, "severity", "major",
                  "location", "path", json_text(path), "lines", "begin", (json_int_t)line);
    free(sentence);
    free(text);
    return object;
}

static void add_findings(const struct gate_report *report, const struct gate_entry *entry,
                         json_t *list) {
    char path[PATH_MAX];
    uint32_t line;
    if (entry->verdict == GATE_PASSED || entry->verdict == GATE_WRITTEN)
        return;
    const size_t before = json_array_size(list);
    for (unsigned i = 0; entry->compared && i < entry->compare.told_count; i++) {
        const struct compared_change *change = entry->compare.told[i];
        if (gate_source(change, path, &line))
            json_array_append_new(list,
                                  finding(report, entry, compare_function(change), path, line));
    }
    if (json_array_size(list) == before) /* a finding must have a place */
        json_array_append_new(list, finding(report, entry, "", report->path, 1));
}

bool gate_report_code_quality(const struct gate_report *report, FILE *file, struct error *error) {
    json_t *list = json_array();
    for (size_t i = 0; i < report->count; i++)
        add_findings(report, &report->entries[i], list);
    return json_write(list, file, error);
}
