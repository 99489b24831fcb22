/* A machine that was asked for is loaded once and serves every architecture; its own check tells
 * what it cannot simulate. */
#include "machine/choice.h"

#include <stddef.h>

#include "machine/default.h"

static bool one_thread(const struct machine *machine, struct error *error) {
    return !machine_is_chip(machine) ||
           error_set(error,
                     "machine %.60s has %u cores of %u threads; this simulates one thread alone: "
                     "culprit throughput --check and culprit contend --check run such chips",
                     machine->name, machine->chip.cores, machine->chip.threads);
}

static void load(const struct machine_options *options, const char *name,
                 struct machine_candidate *candidate) {
    candidate->good = machine_load(name, &candidate->machine, &candidate->error);
    for (uint32_t i = 0; candidate->good && i < options->setting_count; i++)
        if (!machine_set(&candidate->machine, options->settings[i], &candidate->error))
            candidate->good = error_prefix(&candidate->error, "--set %s", options->settings[i]);
    if (candidate->good && options->setting_count)
        candidate->good = machine_check(&candidate->machine, &candidate->error);
    if (candidate->good && !options->chips)
        candidate->good = one_thread(&candidate->machine, &candidate->error);
}

static void copy_to_all(struct machine_candidate candidates[ISA_COUNT]) {
    for (int isa = 1; isa < ISA_COUNT; isa++)
        candidates[isa] = candidates[0];
}

/* What the user chose beforehand must load; so that a fault in it is told before a command starts.
 */
static bool load_defaults(struct machine_candidate candidates[ISA_COUNT],
                          const struct machine_options *options, struct error *error) {
    struct processor processor;
    struct machine_default chosen;
    processor_read(&processor);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        struct machine_candidate *candidate = &candidates[isa];
        if (options->everywhere)
            machine_default_everywhere((enum isa)isa, &chosen);
        else if (options->elsewhere)
            machine_default_elsewhere((enum isa)isa, options->elsewhere, &chosen);
        else if (!machine_default_of((enum isa)isa, &processor, &chosen, error))
            return false;
        load(options, chosen.name, candidate);
        candidate->machine.chosen = chosen.reason;
        if (!candidate->good && chosen.reason.by == MACHINE_BY_CALIBRATION) {
            *error = candidate->error;
            return false;
        }
    }
    return true;
}

bool machine_choice_load(struct machine_choice *choice, const struct machine_options *options,
                         struct error *error) {
    struct machine_candidate *candidates = choice->candidates;
    bool any = false;
    if (options->machine) {
        load(options, options->machine, &candidates[0]);
        copy_to_all(candidates);
    } else if (!load_defaults(candidates, options, error)) {
        return false;
    }
    for (int isa = 0; isa < ISA_COUNT; isa++)
        any |= candidates[isa].good;
    if (!any)
        *error = candidates[0].error;
    return any;
}

const struct machine *machine_choice_of(const struct machine_choice *choice, enum isa isa,
                                        struct error *error) {
    const struct machine_candidate *candidate = &choice->candidates[isa];
    if (candidate->good)
        return &candidate->machine;
    *error = candidate->error;
    return NULL;
}
