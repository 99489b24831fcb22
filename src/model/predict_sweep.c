#include "model/predict_sweep.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

static const char *const NAMES[AXIS_COUNT] = {"rob", "mshr", "latency", "prefetch"};
static const char *const KEYS[AXIS_COUNT] = {"rob", "mshrs", "latency", "prefetcher"};

const char *predict_axis_name(enum predict_axis axis) {
    return NAMES[axis];
}

static bool is_word(const char *word, const char *text, size_t length) {
    return strlen(word) == length && !strncmp(word, text, length);
}

/* A figure has its name here, or that of its key in a machine file. */
static bool find_axis(const char *name, size_t length, enum predict_axis *axis,
                      struct error *error) {
    for (int i = 0; i < AXIS_COUNT; i++)
        if (is_word(NAMES[i], name, length) || is_word(KEYS[i], name, length)) {
            *axis = (enum predict_axis)i;
            return true;
        }
    return error_set(error, "%.*s: what varies is one of rob, mshr, latency and prefetch",
                     length < 40 ? (int)length : 40, name);
}

/* Of those before the last, the one that is the same as it; NULL: none is. */
static const char *same_as_last(const struct sweep_axis *axis) {
    const uint32_t last = axis->count - 1;
    const uint32_t i =
        index_where(k, last, machine_same_value(axis->values[k], axis->values[last]));
    return i < last ? axis->values[i] : NULL;
}

/* "64,128,256" up to a space or the end. */
static bool add_values(struct sweep_axis *axis, const char *text, size_t length,
                       struct error *error) {
    const char *name = NAMES[axis->axis];
    while (true) {
        const char *comma = memchr(text, ',', length);
        const size_t size = comma ? (size_t)(comma - text) : length;
        if (size == 0)
            return error_set(error, "%s: a value is missing", name);
        if (size >= sizeof axis->values[0])
            return error_set(error, "%s=%.15s...: no such value", name, text);
        if (axis->count == SWEEP_VALUES)
            return error_set(error, "%s: at most %d values", name, SWEEP_VALUES);
        memcpy(axis->values[axis->count], text, size);
        axis->values[axis->count++][size] = '\0';
        const char *same = same_as_last(axis);
        if (same)
            return error_set(error, "%s: %s is there twice", name, same);
        if (!comma)
            return true;
        text += size + 1;
        length -= size + 1;
    }
}

static const char SPACE[] = " \t\n";

/* All but words and what separates them would also spoil the line of an error. */
static bool check_text(const char *text, struct error *error) {
    if (!text[strspn(text, SPACE)])
        return error_set(error, "what varies is missing (FIGURE=VALUE,...)");
    for (; *text; text++)
        if (!isgraph((unsigned char)*text) && !strchr(SPACE, *text))
            return error_set(error, "a character that cannot be printed");
    return true;
}

bool predict_sweep_add(struct predict_sweep *sweep, const char *text, struct error *error) {
    if (!check_text(text, error))
        return false;
    for (text += strspn(text, SPACE); *text; text += strspn(text, SPACE)) {
        const size_t length = strcspn(text, SPACE);
        const char *equals = memchr(text, '=', length);
        enum predict_axis which = AXIS_ROB;
        if (!find_axis(text, equals ? (size_t)(equals - text) : length, &which, error))
            return false;
        if (!equals)
            return error_set(error, "%s: values are missing (%s=VALUE,...)", NAMES[which],
                             NAMES[which]);
        for (uint32_t i = 0; i < sweep->axes; i++)
            if (sweep->axis[i].axis == which)
                return error_set(error, "%s: it varies already", NAMES[which]);
        struct sweep_axis *axis = &sweep->axis[sweep->axes++];
        *axis = (struct sweep_axis){.axis = which};
        if (!add_values(axis, equals + 1, length - (size_t)(equals + 1 - text), error))
            return false;
        text += length;
    }
    return true;
}

static uint32_t scaled(uint32_t value, uint32_t to, uint32_t from) {
    const uint64_t grown = ((uint64_t)value * to + from - 1) / from;
    return grown < 4096 ? (uint32_t)grown : 4096;
}

static bool set_rob(struct machine *machine, const char *value, struct error *error) {
    const uint32_t before = machine->core.rob;
    char assignment[64];
    snprintf(assignment, sizeof assignment, "core.rob=%s", value);
    if (!machine_set(machine, assignment, error))
        return false;
    struct machine_core *core = &machine->core;
    for (uint32_t i = 0; i < machine->queue_count; i++)
        machine->queues[i].entries = scaled(machine->queues[i].entries, core->rob, before);
    core->load_queue = scaled(core->load_queue, core->rob, before);
    core->store_queue = scaled(core->store_queue, core->rob, before);
    /* Registers beyond the 32 of the architecture are what a window needs. */
    if (core->int_registers > 32)
        core->int_registers = 32 + scaled(core->int_registers - 32, core->rob, before);
    if (core->fp_registers > 32)
        core->fp_registers = 32 + scaled(core->fp_registers - 32, core->rob, before);
    return true;
}

static bool set_value(struct machine *machine, enum predict_axis axis, const char *value,
                      struct error *error) {
    static const char *const KEYS[AXIS_COUNT] = {"core.rob", "l1d.mshrs", "dram.latency",
                                                 "l1d.prefetcher"};
    char assignment[64];
    if (axis == AXIS_ROB)
        return set_rob(machine, value, error);
    snprintf(assignment, sizeof assignment, "%s=%s", KEYS[axis], value);
    if (!machine_set(machine, assignment, error))
        return false;
    if (axis == AXIS_MSHR)
        machine->l2.mshrs = machine->llc.mshrs = 0;
    if (axis == AXIS_LATENCY)
        machine->dram.banked = false;
    if (axis == AXIS_PREFETCH) {
        machine->l1d.second_prefetcher = machine->l1d.third_prefetcher = PREFETCH_NONE;
        machine_without_prefetchers(&machine->l2);
        machine_without_prefetchers(&machine->llc);
    }
    return true;
}

bool predict_sweep_build(const struct predict_sweep *sweep, const struct machine *machine,
                         struct machine **machines, uint32_t *count, struct error *error) {
    uint32_t total = 1;
    for (uint32_t i = 0; i < sweep->axes; i++)
        if ((total *= sweep->axis[i].count) > SWEEP_MACHINES)
            return error_set(error, "more than %d machines", SWEEP_MACHINES);
    struct machine *made = calloc(total, sizeof *made);
    if (!made)
        return error_set(error, "out of memory for %u machines", total);
    for (uint32_t number = 0; number < total; number++) {
        made[number] = *machine;
        uint32_t left = number;
        for (uint32_t i = sweep->axes; i-- > 0;) {
            const struct sweep_axis *axis = &sweep->axis[i];
            const char *value = axis->values[left % axis->count];
            left /= axis->count;
            if (!set_value(&made[number], axis->axis, value, error)) {
                free(made);
                return error_prefix(error, "%s=%s", NAMES[axis->axis], value);
            }
        }
        if (!machine_check(&made[number], error)) {
            free(made);
            return false;
        }
    }
    *machines = made;
    *count = total;
    return true;
}
