#include "query/procedure_profile.h"

#include <stdlib.h>
#include <string.h>

#include "attribute/attribute.h"
#include "tap/tap.h"
#include "util/array.h"
#include "util/order.h"

struct reading {
    struct procedure_profile *profile;
    const struct image_profiles *of;
    const struct profile_event *event;
    const struct procedure_extent *extent;
    double clock_ghz;
    double samples, sampled_cycles; /* of the event: they give the mean period */
    size_t part_capacity;
};

/* ---- which array an event fills ---- */

/* Cycles, or times, that one value stands for. */
static double scale_of(const struct reading *reading, const struct store_event *event) {
    if (!strcmp(event->unit, "1/840 cycles"))
        return 1.0 / CYCLE_UNITS;
    if (strcmp(event->unit, "samples") != 0 || !event->period)
        return 1;
    if (!strcmp(event->period_unit, "ns"))
        return (double)event->period * reading->clock_ghz;
    return (double)event->period;
}

static double **array_of(struct procedure_profile *profile, const char *name) {
    if (!strcmp(name, "executions"))
        return &profile->executions;
    if (!strcmp(name, stall_event_name(EVENT_TAKEN)))
        return &profile->taken;
    for (int event = 0; event < PROCEDURE_EVENTS; event++)
        if (!strcmp(name, stall_event_name((enum stall_event)event)))
            return &profile->events[event];
    for (int cause = STALL_NONE + 1; cause < STALL_CAUSES; cause++)
        if (!strncmp(name, "stall:", 6) &&
            !strcmp(name + 6, stall_cause_key((enum stall_cause)cause)))
            return &profile->stalls[cause];
    return NULL;
}

/* ---- values ---- */

static void add_values(const struct reading *reading, const struct store_profile *stored,
                       double scale, double *array) {
    const struct procedure_extent *extent = reading->extent;
    for (size_t i = image_profiles_from(stored, extent->offset); i < stored->count; i++) {
        uint64_t offset = stored->values[i].offset - extent->offset;
        if (offset >= extent->size)
            return;
        array[offset] += scale * (double)stored->values[i].value;
    }
}

static bool add_parts(struct reading *reading, const struct store_profile *stored, double scale) {
    struct procedure_profile *profile = reading->profile;
    const struct procedure_extent *extent = reading->extent;
    for (size_t i = image_profiles_from(stored, extent->offset); i < stored->count; i++) {
        const struct store_value *value = &stored->values[i];
        if (value->offset - extent->offset >= extent->size)
            return true;
        if (!array_push(profile->parts, reading->part_capacity, profile->part_count,
                        (struct signature_part){(uint32_t)(value->offset - extent->offset),
                                                value->signature & (PSV_COMBINATIONS - 1),
                                                scale * (double)value->value}))
            return false;
    }
    return true;
}

static bool add_main_event(struct reading *reading, const struct store_profile *stored) {
    struct procedure_profile *profile = reading->profile;
    double weight = stored->session->weight, scale = weight * scale_of(reading, stored->event);
    double shown = weight * reading->event->scale;
    if (reading->event->mean)
        shown *= (double)stored->event->period / reading->event->mean;
    bool units = !strcmp(stored->event->unit, "1/840 cycles");
    profile->total += shown * (double)stored->total;
    if (strcmp(stored->image->path, reading->extent->path) != 0)
        return true;
    if (!image_profiles_is_build(reading->of, stored->image)) {
        profile->other_builds += shown * (double)stored->total;
        return true;
    }
    /* Cycles of a profiler that samples are counted as many as a sample stands for. */
    double period = units ? stored->event->period ? (double)stored->event->period : 1
                          : scale_of(reading, stored->event);
    reading->sampled_cycles += scale * (double)stored->total;
    reading->samples += scale * (double)stored->total / period;
    add_values(reading, stored, scale, profile->cycles);
    add_values(reading, stored, shown, profile->values);
    return !units || add_parts(reading, stored, scale);
}

/* False: out of memory. */
static bool add_profile(struct reading *reading, const struct store_profile *stored) {
    struct procedure_profile *profile = reading->profile;
    if (!profile_process_is(stored->process, reading->extent->process))
        return true;
    if (!strcmp(stored->event->name, reading->event->name))
        return add_main_event(reading, stored);
    double **array = array_of(profile, stored->event->name);
    if (!array || !image_profiles_is_build(reading->of, stored->image))
        return true;
    if (!*array && !(*array = calloc(profile->size, sizeof **array)))
        return false;
    add_values(reading, stored, stored->session->weight * scale_of(reading, stored->event), *array);
    return true;
}

/* ---- the whole ---- */

ORDER(by_place, struct signature_part, ascending(a->offset, b->offset) ?: ascending(a->psv, b->psv))

ORDER(by_cycles, struct signature_part, ascending(a->offset, b->offset) ?: descending(a->cycles, b->cycles) ?:
           ascending(a->psv, b->psv))

/* Parts of several processes and epochs become one for each place and signature. */
static void order_parts(struct procedure_profile *profile) {
    size_t kept = 0;
    if (!profile->part_count)
        return;
    qsort(profile->parts, profile->part_count, sizeof *profile->parts, by_place);
    for (size_t i = 0; i < profile->part_count; i++)
        if (kept && by_place(&profile->parts[kept - 1], &profile->parts[i]) == 0)
            profile->parts[kept - 1].cycles += profile->parts[i].cycles;
        else
            profile->parts[kept++] = profile->parts[i];
    profile->part_count = kept;
    qsort(profile->parts, kept, sizeof *profile->parts, by_cycles);
}

const struct signature_part *procedure_profile_parts(const struct procedure_profile *profile,
                                                     uint32_t offset, size_t *count) {
    const struct signature_part *parts = profile->parts;
    size_t first = first_where(i, profile->part_count, parts[i].offset >= offset);
    *count = first_where(i, profile->part_count, parts[i].offset > offset) - first;
    return parts + first;
}

bool procedure_profile_read(struct procedure_profile *profile, const struct image_profiles *of,
                            const struct profile_event *event,
                            const struct procedure_extent *extent, double clock_ghz,
                            struct error *error) {
    *profile = (struct procedure_profile){.size = extent->size, .period = 1};
    struct reading reading = {
        .profile = profile, .of = of, .event = event, .extent = extent, .clock_ghz = clock_ghz};
    profile->values = calloc(extent->size, sizeof *profile->values);
    profile->cycles = calloc(extent->size, sizeof *profile->cycles);
    bool good = profile->values && profile->cycles;
    for (size_t i = 0; good && i < of->count; i++)
        good = add_profile(&reading, &of->profiles[i]);
    if (!good)
        return error_set(error, "out of memory for the profile");
    for (size_t i = 0; i < profile->size; i++) {
        profile->sum += profile->values[i];
        profile->sum_cycles += profile->cycles[i];
    }
    for (int cause = 0; cause < STALL_CAUSES; cause++)
        profile->has_stalls |= profile->stalls[cause] != NULL;
    if (reading.samples > 0)
        profile->period = reading.sampled_cycles / reading.samples;
    order_parts(profile);
    return true;
}

void procedure_profile_free(struct procedure_profile *profile) {
    free(profile->values);
    free(profile->cycles);
    free(profile->executions);
    free(profile->taken);
    free(profile->parts);
    for (int event = 0; event < PROCEDURE_EVENTS; event++)
        free(profile->events[event]);
    for (int cause = 0; cause < STALL_CAUSES; cause++)
        free(profile->stalls[cause]);
    *profile = (struct procedure_profile){0};
}
