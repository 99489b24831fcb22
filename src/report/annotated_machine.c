/* Which machine a profile is compared with. Epochs tell the kind of their processor, or only a name
 * as virtual machines have it, which stands for this host's when it is the same. */
#include <stdlib.h>
#include <string.h>

#include "report/annotated.h"

/* The name that a simulation was saved under: "zen4", "zen4, ideal dmiss". */
static bool load_own(struct annotate_machines *machines, const struct profile_set *set,
                     struct error *error) {
    char name[256];
    const char *processor = set->epochs[0].processor;
    for (size_t i = 1; i < set->epoch_count; i++)
        if (strcmp(set->epochs[i].processor, processor) != 0)
            return error_set(error, "%s: simulated on several machines (choose with --machine)",
                             set->label);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(processor, ","), processor);
    machines->own = true;
    return machine_load(name, &machines->one, error) ||
           error_prefix(error, "%s was simulated on machine %s (name its file with --machine)",
                        set->label, name);
}

/* Whether two are of one kind, or have one name where the kind of either is not told. */
static bool is_same(const struct processor *a, const struct processor *b) {
    if (*a->vendor && *b->vendor)
        return !strcmp(a->vendor, b->vendor) && a->family == b->family && a->model == b->model;
    return !strcmp(a->brand, b->brand);
}

bool annotate_processor_of(const struct profile_set *set, struct processor *processor,
                           struct error *error) {
    struct processor other;
    processor_parse(set->epochs[0].processor, processor);
    for (size_t i = 1; i < set->epoch_count; i++) {
        processor_parse(set->epochs[i].processor, &other);
        if (!is_same(processor, &other))
            return error_set(error,
                             "%s: sampled on several processors (choose epochs of one with "
                             "--epoch, or with --machine what all are compared with)",
                             set->label);
        if (*other.vendor)
            *processor = other;
    }
    return true;
}

bool annotate_is_here(const struct processor *processor) {
    struct processor here;
    processor_read(&here);
    return is_same(processor, &here);
}

static bool choose(struct annotate_machines *machines, const struct profile_set *set,
                   struct error *error) {
    struct processor processor;
    if (!annotate_processor_of(set, &processor, error))
        return false;
    const bool told = *processor.vendor || *processor.brand;
    const struct machine_options options = {
        .elsewhere = told && !annotate_is_here(&processor) ? &processor : NULL};
    if (!(machines->choice = calloc(1, sizeof *machines->choice)))
        return error_set(error, "out of memory for machines");
    if (!machine_choice_load(machines->choice, &options, error))
        return false;
    for (int isa = 0; isa < ISA_COUNT && !told; isa++) {
        struct machine_choice_reason *reason = &machines->choice->candidates[isa].machine.chosen;
        const struct machine_choice_reason known = *reason;
        snprintf(reason->why, sizeof reason->why,
                 "which processor ran this is not told, so it is as for this host: %.300s",
                 known.why);
    }
    return true;
}

const struct machine *annotate_machine_of(struct annotate_machines *machines,
                                          const struct profile_set *set, enum isa isa,
                                          struct error *error) {
    if (!machines->loaded && (machines->asked || set->simulated)) {
        if (!(machines->asked ? machine_load(machines->asked, &machines->one, error)
                              : load_own(machines, set, error)))
            return NULL;
        machines->loaded = true;
    }
    if (machines->loaded)
        return &machines->one;
    if (!machines->choice && !choose(machines, set, error))
        return NULL;
    return machine_choice_of(machines->choice, isa, error);
}
