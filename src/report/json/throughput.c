/* A prediction of throughput as one JSON object (docs/json.md). */
#include <math.h>

#include "report/json_values.h"
#include "report/throughput_report.h"

static const char *const MODEL_KEYS[THROUGHPUT_MODELS] = {[THROUGHPUT_SUM_OF_CYCLES] =
                                                              "sum_of_cycles",
                                                          [THROUGHPUT_SUM_OF_IPCS] = "sum_of_ipcs",
                                                          [THROUGHPUT_BERNOULLI] = "bernoulli",
                                                          [THROUGHPUT_MARKOV] = "markov",
                                                          [THROUGHPUT_MEAN_VALUE] = "mean_value"};

static const char *const STALL_KEYS[SUSPENSIONS] = {[SUSPENDED_LONG] = "long_operation",
                                                    [SUSPENDED_L2_HIT] = "l2_hit",
                                                    [SUSPENDED_L2_MISS] = "l2_miss",
                                                    [SUSPENDED_FETCH] = "fetch",
                                                    [SUSPENDED_TRANSLATION] = "translation",
                                                    [SUSPENDED_BRANCH] = "branch",
                                                    [SUSPENDED_SYSTEM] = "system"};

static const char *const CONTENTION_KEYS[] = {[CONTENTION_MEASURED] = "measured",
                                              [CONTENTION_BINOMIAL] = "binomial",
                                              [CONTENTION_INDUCTIVE] = "inductive",
                                              [CONTENTION_PRIOR] = "prior"};

static json_t *ipcs(const double *ipc) {
    json_t *object = json_object();
    for (int model = 0; model < THROUGHPUT_MODELS; model++)
        json_object_set_new(object, MODEL_KEYS[model], json_number(ipc[model]));
    return object;
}

static json_t *mean_errors(const struct throughput_report *report) {
    json_t *object = json_object();
    for (int model = 0; model < THROUGHPUT_MODELS; model++)
        json_object_set_new(object, MODEL_KEYS[model],
                            json_number(100 * throughput_mean_error(report, model)));
    return object;
}

static json_t *core_object(const struct throughput_report *report, uint32_t core) {
    const struct throughput_core *is = &report->result->by_core[core];
    return json_pack("{s:I, s:o, s:o, s:o, s:o}", "core", (json_int_t)core, "ipc", ipcs(is->ipc),
                     "p", json_number(is->p), "latency_cycles", json_number(is->latency),
                     "simulated_ipc",
                     json_number(report->simulated ? report->simulated->by_core[core] : NAN));
}

static json_t *stalls_object(const struct throughput_thread *thread) {
    json_t *object = json_object();
    for (int cause = 0; cause < SUSPENSIONS; cause++)
        json_object_set_new(object, STALL_KEYS[cause],
                            json_pack("{s:o, s:o}", "events",
                                      json_number(thread->stalls[cause].events), "cycles",
                                      json_number(thread->stalls[cause].cycles)));
    return object;
}

static json_t *misses_object(double l1d_alone, double l1d_extra, double l2_alone, double l2_extra) {
    return json_pack("{s:o, s:o, s:o, s:o}", "l1d_misses_alone", json_number(l1d_alone),
                     "l1d_misses_extra", json_number(l1d_extra), "l2_misses_alone",
                     json_number(l2_alone), "l2_misses_extra", json_number(l2_extra));
}

static json_t *thread_object(const struct throughput_report *report, uint32_t h) {
    const struct throughput_thread *is = &report->result->by_thread[h];
    json_t *object = misses_object(is->l1d_alone, is->extra_l1d, is->l2_alone, is->extra_l2);
    json_object_set_new(object, "core", json_integer(h / report->result->threads));
    json_object_set_new(object, "program", json_integer(throughput_program(report, h)));
    json_object_set_new(object, "ipc_alone", json_number(is->ipc_alone));
    json_object_set_new(object, "ipc_own_core", json_number(is->ipc));
    json_object_set_new(object, "ipc", json_number(is->ipc_shared));
    for (int level = 0; level < LOCALITY_CORE; level++) {
        char key[32];
        snprintf(key, sizeof key, "%s_misses_extra", locality_core_names[level]);
        json_object_set_new(object, key, json_number(is->extra_core[level]));
    }
    json_object_set_new(object, "stalls", stalls_object(is));
    if (report->simulated) {
        const struct throughput_checked *of = &report->simulated->by_thread[h];
        json_t *simulated = misses_object(of->l1d_alone, of->extra_l1d, of->l2_alone, of->extra_l2);
        json_object_set_new(simulated, "ipc_alone", json_number(of->ipc_alone));
        json_object_set_new(simulated, "ipc", json_number(of->ipc));
        json_object_set_new(object, "simulated", simulated);
    }
    return object;
}

static void set_chip(const struct throughput_report *report, json_t *object) {
    const struct throughput_result *result = report->result;
    json_t *cores = json_array(), *threads = json_array();
    for (uint32_t core = 0; core < result->cores; core++)
        json_array_append_new(cores, core_object(report, core));
    for (uint32_t h = 0; h < result->cores * result->threads; h++)
        json_array_append_new(threads, thread_object(report, h));
    json_object_set_new(object, "ipc", ipcs(result->ipc));
    json_object_set_new(object, "simulated_ipc",
                        json_number(report->simulated ? report->simulated->ipc : NAN));
    json_object_set_new(object, "cores", cores);
    json_object_set_new(object, "threads", threads);
}

static json_t *place(const struct throughput_point *point) {
    return json_pack("{s:I, s:I}", "cores", (json_int_t)point->cores, "threads",
                     (json_int_t)point->threads);
}

static json_t *best(const struct throughput_search *search, bool simulated) {
    const struct throughput_point *point = throughput_best(search, simulated);
    return point ? place(point) : json_null();
}

static void set_search(const struct throughput_report *report, json_t *object) {
    json_t *chips = json_array();
    for (uint32_t i = 0; i < report->search->count; i++) {
        const struct throughput_point *point = &report->search->points[i];
        json_t *chip = place(point);
        json_object_set_new(chip, "ipc", ipcs(point->ipc));
        json_object_set_new(chip, "simulated_ipc", json_number(point->simulated));
        json_array_append_new(chips, chip);
    }
    json_object_set_new(object, "chips", chips);
    json_object_set_new(object, "best", best(report->search, false));
    json_object_set_new(object, "simulated_best", best(report->search, true));
}

static json_t *options_object(const struct throughput_options *options) {
    return json_pack("{s:s, s:i, s:i, s:s, s:s}", "model",
                     CONTENTION_KEYS[options->contention.model], "groups",
                     (int)options->contention.groups, "rounds", (int)options->rounds, "latency",
                     throughput_latency_names[options->latency], "speeds",
                     throughput_speeds_names[options->speeds]);
}

bool throughput_json(const struct throughput_report *report, FILE *file, struct error *error) {
    const struct report *head = &report->report;
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:f, s:f, s:f, s:o, s:o, s:o}", "verb",
        head->verb, "program", json_text(head->program), "machine", json_text(head->machine->name),
        "partial", (int)head->partial, "checked", (int)report->checked, "options",
        options_object(report->options), "programs",
        json_texts(report->labels, report->program_count), "mean_error_percent",
        report->checked ? mean_errors(report) : json_null(), "profile_seconds",
        report->profile_seconds, "model_seconds", report->model_seconds, "simulation_seconds",
        report->simulation_seconds, "speedup", json_number(throughput_speedup(report)), "notes",
        json_notes(head), "next", json_text(head->next));
    if (object && report->search)
        set_search(report, object);
    else if (object)
        set_chip(report, object);
    return json_write(object, file, error);
}
