/* A machine that was asked for is loaded once and serves every architecture; its own check tells
 * what it cannot simulate. */
#include "machine/choice.h"

#include <stddef.h>

static const char *const DEFAULT_MACHINES[ISA_COUNT] = {
    [ISA_X86_64] = "zen4", [ISA_RISCV64] = "boom-tea"};

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

bool machine_choice_load(struct machine_choice *choice, const struct machine_options *options,
                         struct error *error) {
    struct machine_candidate *candidates = choice->candidates;
    bool any = false;
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const char *name = options->machine ? options->machine : DEFAULT_MACHINES[isa];
        if (isa > 0 && options->machine)
            candidates[isa] = candidates[0];
        else
            load(options, name, &candidates[isa]);
        any |= candidates[isa].good;
    }
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
