/* A region that is simulated again with idealisations: what goes on in the process that was forked
 * for it (region_forks.h). */
#include "simulate/region_forks.h"
#include "simulate/together_state.h"

/* In a process that was forked there is no thread beside this one, and nobody who wants to know
 * more than cycles. What the lanes so far were attached to stays as it is. */
static bool stand_alone(struct chip_run *chip, uint32_t ideal, struct error *error) {
    struct simulation_state *run = chip->run;
    struct simulation_options *options = &chip->sampling->idealised;
    *options = *run->options;
    options->ideal |= ideal;
    options->watcher.progress = NULL;
    options->observer_count = options->instruction_observer_count = options->profile_count = 0;
    run->options = options;
    run->pipeline = run->attribution = NULL;
    run->lanes = NULL;
    run->path_workers = NULL;
    run->graph = NULL;
    run->calls = NULL;
    run->data = NULL;
    run->slots = NULL;
    run->simulation->series = NULL;
    return (run->bus = tap_bus_new()) && (run->workers = workers_new(options, NULL, error));
}

/* The cores go on idealised. */
static bool idealise(struct chip_run *chip, uint32_t ideal, struct error *error) {
    struct simulation_state *run = chip->run;
    if (!stand_alone(chip, ideal, error))
        return false;
    shared_memory_idealise(chip->memory, core_memory_ideal(run->options->ideal));
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *guest = &chip->guests[chip->alive[i]];
        const struct lane *before = guest->lane;
        if (!before)
            continue;
        struct core_statistics so_far;
        core_statistics(before->core, &so_far);
        guest->dropped += so_far.instructions; /* the new core sees none of them */
        guest->lane = run->table[guest->thread] = NULL;
        if (!guest_make_core(chip, guest, error))
            return false;
        core_succeed(guest->lane->core, before->core);
    }
    return true;
}

bool chip_forks_begin(struct chip_run *chip, struct error *error) {
    struct region_forks *forks = chip->options->forks;
    const uint32_t ideal = forks ? region_forks_begin(forks, chip->sampling->cycles) : 0;
    return !ideal || idealise(chip, ideal, error);
}

void chip_forks_end(struct chip_run *chip, bool good) {
    if (chip->options->forks)
        region_forks_end(chip->options->forks, good && !chip->run->simulation->interrupted,
                         chip->sampling ? chip->sampling->cycles : 0);
}
