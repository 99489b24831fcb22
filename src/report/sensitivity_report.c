/* A sensitivity study as text and as one JSON object (docs/json.md). */
#include "report/sensitivity_report.h"

#include <math.h>

#include "report/json_values.h"
#include "util/text.h"

enum { NAME = 20, CELL = 10 };

/* ---- text ---- */

static void print_column_heads(const struct sensitivity *study, const char *what,
                               const struct page *page) {
    char head[512];
    const struct sensitivity_parameter *second = &study->parameters[1];
    if (study->parameter_count > 1) {
        snprintf(head, sizeof head, "%.200s, by %.200s", what, second->keys);
        fprintf(page->file, "\n%s\n", head);
        page_cell(page, "", NAME, TEXT_LEFT);
        for (uint32_t i = 0; i < second->count; i++)
            page_cell(page, second->values[i], CELL, TEXT_RIGHT);
        fputc('\n', page->file);
    } else {
        fprintf(page->file, "\n%s\n", what);
    }
}

static void print_cell(const struct sensitivity *study, bool speedup, uint32_t first,
                       uint32_t second, const struct page *page) {
    const struct multisim_run *run = sensitivity_run(study, first, second);
    char text[48] = "-";
    if (speedup && !isnan(sensitivity_speedup(study, first, second)))
        snprintf(text, sizeof text, "%s %%",
                 text_percent(sensitivity_speedup(study, first, second), 1).s);
    else if (!speedup && run->done)
        snprintf(text, sizeof text, "%s", text_count(run->cycles).s);
    page_cell(page, text, CELL, TEXT_RIGHT);
}

static void print_grid(const struct sensitivity *study, bool speedup, const char *what,
                       const struct page *page) {
    const struct sensitivity_parameter *first = &study->parameters[0];
    print_column_heads(study, what, page);
    for (uint32_t i = 0; i < first->count; i++) {
        fputc(' ', page->file);
        page_cell(page, first->values[i], NAME - 1, TEXT_LEFT);
        for (uint32_t k = 0; k < sensitivity_seconds(study); k++)
            print_cell(study, speedup, i, k, page);
        fputc('\n', page->file);
    }
}

void sensitivity_text(const struct sensitivity_report *report, const struct page *page) {
    FILE *file = page->file;
    const struct sensitivity *study = report->study;
    const struct sensitivity_parameter *first = &study->parameters[0];
    char line[1024], speedup[256];
    fputs(page->bold, file);
    page_clip(page, report->report.program, page->columns - 10);
    fprintf(file, "%s%s\n", page->plain, report->report.partial ? " (partial)" : "");
    fprintf(file, "%s instruction%s\n", text_count(report->instructions).s,
            text_plural(report->instructions));
    snprintf(line, sizeof line, "machine %s, with other values of %s", report->report.machine->name,
             first->keys);
    page_clip(page, line, page->columns);
    fputc('\n', file);
    report_text_chosen(&report->report.machine->chosen, page);
    print_grid(study, false, "cycles", page);
    snprintf(speedup, sizeof speedup, "speedup against the first, %.100s", first->values[0]);
    print_grid(study, true, speedup, page);
    report_text_foot(&report->report, page);
}

/* ---- JSON ---- */

static json_t *parameters_array(const struct sensitivity *study) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < study->parameter_count; i++) {
        const struct sensitivity_parameter *parameter = &study->parameters[i];
        json_array_append_new(
            array, json_pack("{s:o, s:o}", "keys", json_text(parameter->keys), "values",
                             json_texts((const char *const *)parameter->values, parameter->count)));
    }
    return array;
}

static json_t *runs_array(const struct sensitivity *study) {
    json_t *array = json_array();
    for (uint32_t k = 0; k < sensitivity_seconds(study); k++)
        for (uint32_t i = 0; i < study->parameters[0].count; i++) {
            const struct multisim_run *run = sensitivity_run(study, i, k);
            double speedup = sensitivity_speedup(study, i, k);
            json_t *values = json_array();
            json_array_append_new(values, json_text(study->parameters[0].values[i]));
            if (study->parameter_count > 1)
                json_array_append_new(values, json_text(study->parameters[1].values[k]));
            json_array_append_new(
                array,
                json_pack("{s:o, s:o, s:o}", "values", values, "cycles",
                          run->done ? json_count(run->cycles) : json_null(), "speedup_percent",
                          isnan(speedup) ? json_null() : json_real(100 * speedup)));
        }
    return array;
}

bool sensitivity_json(const struct sensitivity_report *report, FILE *file, struct error *error) {
    const struct report *head = &report->report;
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:o, s:f, s:o, s:b, s:I, s:o, s:o}", "verb", head->verb,
                  "program", json_text(head->program), "machine", json_text(head->machine->name),
                  "machine_chosen", json_chosen(head->machine), "clock_ghz",
                  head->machine->clock_ghz, "ideal", json_ideal(head->ideal), "partial",
                  (int)head->partial, "instructions", (json_int_t)report->instructions,
                  "parameters", parameters_array(report->study), "runs", runs_array(report->study));
    return json_write_report(object, head, file, error);
}
