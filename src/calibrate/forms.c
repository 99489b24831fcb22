/* Latencies and throughput of instruction forms, of those first that programs execute most
 * (executed_forms.def, made by experiments/forms.py). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/form_kernels.h"
#include "calibrate/form_table.h"
#include "calibrate/parts.h"

/* EXECUTED_FORM(its text, share of executed instructions in millionths) */
static const struct executed_form {
    const char *text;
    uint32_t share;
} EXECUTED[] = {
#define EXECUTED_FORM(text, share) {text, share},
#include "calibrate/executed_forms.def"
};
enum { EXECUTED_COUNT = sizeof EXECUTED / sizeof *EXECUTED, QUICK_FORMS = 200 };

struct forms_run {
    struct kernel_list kernels;
    struct form_probes probes;
    struct form_table *table;
    unsigned refused[FORM_REASONS];
    double refused_share[FORM_REASONS];
    double transfer; /* cycles of a move between the register files; NAN: not measured */
};

/* ---- what is asked ---- */

static void ask(struct forms_run *run, const struct executed_form *executed) {
    const char *end;
    const insn_form form = form_parse(executed->text, &end);
    struct form_uses uses;
    const enum form_reason reason = form_examine(form, &uses);
    if (reason != FORM_MEASURABLE) {
        run->refused[reason]++;
        run->refused_share[reason] += executed->share / 1e4;
        return;
    }
    struct form_table *table = run->table;
    table->forms[table->count] = (struct calibrated_form){.form = form,
                                                          .latency = NAN,
                                                          .least_latency = NAN,
                                                          .address = NAN,
                                                          .flags = NAN,
                                                          .throughput = NAN,
                                                          .share = executed->share,
                                                          .state = HOST_MEASURED};
    form_kernels_add(&run->kernels, &run->probes, (uint32_t)table->count++, form, &uses);
}

static void say_refused(struct forms_run *run) {
    size_t length = 0;
    for (unsigned reason = FORM_MEASURABLE + 1; reason < FORM_REASONS; reason++)
        if (run->refused[reason])
            length += (size_t)snprintf(
                run->table->refused + length, sizeof run->table->refused - length,
                "%s%u %s (%.2f %%)", length ? ", " : "", run->refused[reason],
                form_reason_text((enum form_reason)reason), run->refused_share[reason]);
}

/* ---- what came of it ---- */

static void note_failure(struct calibrated_form *form, const struct host_result *result) {
    if (form->state != HOST_MEASURED)
        return;
    form->state = result->state;
    snprintf(form->note, sizeof form->note, "%.79s",
             result->state == HOST_NOT_RUN    ? "not reached"
             : result->state == HOST_UNSTABLE ? "disturbed too often"
                                              : result->failure);
}

static void more(double *of, double cycles) {
    *of = isnan(*of) || cycles > *of ? cycles : *of;
}

static void less(double *of, double cycles) {
    *of = isnan(*of) || cycles < *of ? cycles : *of;
}

static void take(const struct forms_run *run, const struct form_probe *probe) {
    const struct host_result *result = &run->kernels.results[probe->kernel];
    struct calibrated_form *form = &run->table->forms[probe->form];
    if (result->state != HOST_MEASURED || (probe->transfers && isnan(run->transfer))) {
        note_failure(form, result);
        return;
    }
    const double cycles = form_probe_cycles(probe, result->cycles, run->transfer);
    form->spread = fmax(form->spread, result->spread / probe->copies);
    if (probe->kind == PROBE_ADDRESS) {
        more(&form->address, cycles);
    } else if (probe->kind == PROBE_FLAGS) {
        more(&form->flags, cycles);
    } else if (probe->kind == PROBE_DATA) {
        more(&form->latency, cycles);
        less(&form->least_latency, cycles);
    } else {
        less(&form->throughput, cycles);
    }
}

static void take_all(struct forms_run *run) {
    const struct host_result *transfer = &run->kernels.results[run->probes.items[0].kernel];
    run->transfer =
        transfer->state == HOST_MEASURED ? transfer->cycles / run->probes.items[0].copies / 2 : NAN;
    for (size_t i = 1; i < run->probes.count; i++)
        take(run, &run->probes.items[i]);
    for (size_t i = 0; i < run->table->count; i++) {
        struct calibrated_form *form = &run->table->forms[i];
        if (isnan(form->latency)) /* it writes flags alone */
            form->latency = form->least_latency = form->flags;
    }
}

static void tell(struct calibration *calibration, const struct forms_run *run) {
    const struct form_table *table = run->table;
    struct finding measured = {.what = "instruction forms", .unit = "forms"};
    struct finding share = {.what = "their share of executed instructions", .unit = "%"};
    struct finding transfer = {.what = "move from or to a vector register",
                               .unit = "cycles",
                               .note = "half of there and back, of a general register"};
    double shares = 0;
    for (size_t i = 0; i < table->count; i++) {
        const bool has = !isnan(table->forms[i].throughput);
        measured.value += has;
        shares += has ? table->forms[i].share / 1e4 : 0;
    }
    if (table->refused[0])
        snprintf(measured.note, sizeof measured.note, "not measured: %.140s", table->refused);
    share.value = shares;
    calibration_found(calibration, &measured);
    calibration_found(calibration, &share);
    if (finding_rests_on(&transfer, &run->kernels.results[run->probes.items[0].kernel], 1)) {
        transfer.value = run->transfer;
        transfer.spread /= 2.0 * run->probes.items[0].copies;
    }
    calibration_found(calibration, &transfer);
}

static bool run(struct calibration *calibration, struct error *error) {
    struct forms_run run = {.table = &calibration->forms};
    const size_t count =
        calibration->meter->quick && EXECUTED_COUNT > QUICK_FORMS ? QUICK_FORMS : EXECUTED_COUNT;
    form_table_free(run.table);
    run.table->forms = calloc(count, sizeof *run.table->forms);
    bool good = run.table->forms || error_set(error, "out of memory for instruction forms");
    if (good)
        form_kernels_transfer(&run.kernels, &run.probes);
    for (size_t i = 0; good && i < count; i++)
        ask(&run, &EXECUTED[i]);
    if (good && run.probes.out_of_memory)
        good = error_set(error, "out of memory for instruction forms");
    say_refused(&run);
    good = good && calibration_measure_fastest(calibration, &run.kernels, error);
    if (good) {
        take_all(&run);
        tell(calibration, &run);
    }
    kernel_list_free(&run.kernels);
    free(run.probes.items);
    return good;
}

static const char *const KEYS[] = {NULL}; /* a table of its own (form_table.h) */
const struct calibrate_part calibrate_forms = {
    .name = "forms",
    .measures = "latency and throughput of instructions, the most executed first",
    .keys = KEYS,
    .run = run};
