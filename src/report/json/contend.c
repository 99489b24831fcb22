/* Contention as one JSON object (docs/json.md). */
#include "report/contend_report.h"
#include "report/json_values.h"

static json_t *misses_object(const struct contend_program *program) {
    const struct contend_misses *alone = &program->alone, *beside = &program->beside;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "misses_per_instruction",
                     json_number(alone->shared), "extra_misses_per_instruction",
                     json_number(beside->shared - alone->shared), "l1d_misses_per_instruction",
                     json_number(alone->l1d), "extra_l1d_misses_per_instruction",
                     json_number(beside->l1d - alone->l1d), "cpi_alone", json_number(alone->cycles),
                     "cpi_beside", json_number(beside->cycles));
}

static json_t *program_object(const struct contend_report *report, uint32_t number) {
    const struct contend_program *program = &report->programs[number],
                                 *checked = contend_checked(report, number);
    return json_pack("{s:o, s:I, s:o, s:o, s:o}", "program", json_text(report->labels[number]),
                     "copies", (json_int_t)program->copies, "accesses_per_instruction",
                     json_number(program->accesses), "predicted", misses_object(program),
                     "simulated", checked ? misses_object(checked) : json_null());
}

bool contend_json(const struct contend_report *report, FILE *file, struct error *error) {
    static const char *const MODELS[] = {"measured", "binomial", "inductive", "prior"};
    const struct report *head = &report->report;
    const struct contention_options *contention = &report->options->contention;
    json_t *programs = json_array();
    for (uint32_t i = 0; i < report->program_count; i++)
        json_array_append_new(programs, program_object(report, i));
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:b, s:I, s:s, s:s, s:I, s:b, s:o, s:o, s:o}", "verb", head->verb,
        "program", json_text(head->program), "machine", json_text(head->machine->name), "partial",
        (int)head->partial, "threads", (json_int_t)report->thread_count, "cache",
        contend_cache_name(report), "model", MODELS[contention->model], "groups",
        (json_int_t)contention->groups, "checked", report->check != NULL, "simulated_instructions",
        report->check ? json_count(report->check->instructions) : json_null(), "simulation_seconds",
        report->check ? json_number(report->check->seconds) : json_null(), "programs", programs);
    return json_write_report(object, head, file, error);
}
