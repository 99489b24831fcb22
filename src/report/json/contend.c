/* Contention as one JSON object (docs/json.md). */
#include <jansson.h>
#include <math.h>

#include "report/contend_report.h"
#include "util/text.h"

static json_t *string(const char *text) {
    char clean[4096];
    return text ? json_string(text_clean(clean, sizeof clean, text)) : json_null();
}

static json_t *real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *misses_object(const struct contend_program *program) {
    const struct contend_misses *alone = &program->alone, *beside = &program->beside;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "misses_per_instruction",
                     real(alone->shared), "extra_misses_per_instruction",
                     real(beside->shared - alone->shared), "l1d_misses_per_instruction",
                     real(alone->l1d), "extra_l1d_misses_per_instruction",
                     real(beside->l1d - alone->l1d), "cpi_alone", real(alone->cycles), "cpi_beside",
                     real(beside->cycles));
}

static json_t *program_object(const struct contend_report *report, uint32_t number) {
    const struct contend_program *program = &report->programs[number],
                                 *checked = contend_checked(report, number);
    return json_pack("{s:o, s:I, s:o, s:o, s:o}", "program", string(report->labels[number]),
                     "copies", (json_int_t)program->copies, "accesses_per_instruction",
                     real(program->accesses), "predicted", misses_object(program), "simulated",
                     checked ? misses_object(checked) : json_null());
}

bool contend_json(const struct contend_report *report, FILE *file, struct error *error) {
    static const char *const MODELS[] = {"measured", "binomial", "inductive", "prior"};
    const struct report *head = &report->report;
    const struct contention_options *contention = &report->options->contention;
    json_t *programs = json_array(), *notes = json_array();
    for (uint32_t i = 0; i < report->program_count; i++)
        json_array_append_new(programs, program_object(report, i));
    for (uint32_t i = 0; i < head->note_count; i++)
        json_array_append_new(notes, string(head->notes[i]));
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:b, s:I, s:s, s:s, s:I, s:b, s:o, s:o, s:o, s:o, s:o}", "verb",
        head->verb, "program", string(head->program), "machine", string(head->machine->name),
        "partial", (int)head->partial, "threads", (json_int_t)report->thread_count, "cache",
        contend_cache_name(report), "model", MODELS[contention->model], "groups",
        (json_int_t)contention->groups, "checked", report->check != NULL, "simulated_instructions",
        report->check ? json_integer((json_int_t)report->check->instructions) : json_null(),
        "simulation_seconds", report->check ? real(report->check->seconds) : json_null(),
        "programs", programs, "notes", notes, "next", string(head->next));
    /* That it could not be written is told when the file is closed. */
    bool good =
        object &&
        (json_dumpf(object, file, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 || ferror(file));
    json_decref(object);
    fputc('\n', file);
    return good || error_set(error, "out of memory for the report");
}
