#include "simulate/together_windows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/counters.h"

static struct guest *alive_at(const struct chip_run *chip, uint32_t number) {
    return &chip->guests[chip->alive[number]];
}

/* The cycle that nothing has gone beyond. */
static uint64_t last_cycle(const struct chip_run *chip) {
    uint64_t last = chip->latest > chip->sampling->start ? chip->latest : chip->sampling->start;
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        const struct guest *guest = alive_at(chip, i);
        if (guest->life != GUEST_ALIVE)
            continue;
        const uint64_t cycle =
            guest->state == THREAD_RUNNING ? guest_cycle(chip, guest) : guest->since;
        last = cycle > last ? cycle : last;
    }
    return last;
}

/* A course of its own: each thread does from the first cycle on what it does now. */
static bool begin_course(struct chip_run *chip, uint64_t cycle, struct error *error) {
    course_free(chip->course);
    if (!(chip->course = course_new(chip->thread_count, 0)))
        return error_set(error, "out of memory for %" PRIu32 " threads", chip->thread_count);
    course_from(chip->course, cycle);
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        const struct guest *guest = alive_at(chip, i);
        if (guest->life != GUEST_ALIVE)
            continue;
        course_begin(chip->course, guest->thread, COURSE_NOBODY, cycle);
        course_change(chip->course, guest->thread, guest_activity(chip, guest), cycle);
    }
    return true;
}

static struct coherence_statistics coherence_of(const struct chip_run *chip) {
    static const struct coherence_statistics NONE;
    struct coherence_statistics sum = {0}, of_core;
    for (uint32_t core = 0; core < chip->cores; core++) {
        shared_memory_statistics(chip->memory, core, &of_core);
        counters_add(&sum, &of_core, &NONE, sizeof sum, 1);
    }
    return sum;
}

static struct core_totals totals_of(const struct simulation *simulation) {
    struct core_totals totals = {.instructions = simulation->instructions,
                                 .cycles = simulation->cycles};
    memcpy(totals.states, simulation->states, sizeof totals.states);
    return totals;
}

bool chip_window_begin(struct chip_run *chip, uint64_t weight, struct error *error) {
    struct chip_sampling *sampling = chip->sampling;
    const uint64_t start = last_cycle(chip);
    chip->latest = start;
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *guest = alive_at(chip, i);
        guest->run_insns = guest->run_cycles = 0;
        if (guest->life != GUEST_ALIVE || guest->state != THREAD_RUNNING)
            continue;
        if (!guest_make_core(chip, guest, error) || !run_lane_wait_until(guest->lane, start, error))
            return false;
    }
    sampling->fast = false;
    sampling->start = start;
    sampling->weight = chip->run->step.weight = weight;
    sampling->coherence_before = coherence_of(chip);
    return begin_course(chip, start, error);
}

/* ---- its end ---- */

static bool run_empty(struct chip_run *chip, struct error *error) {
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *guest = alive_at(chip, i);
        enum core_state state = CORE_PAUSED;
        if (guest->life != GUEST_ALIVE || guest->state != THREAD_RUNNING)
            continue;
        while (state != CORE_EMPTY)
            if ((state = core_run(guest->lane->core, NOT_YET, NOT_YET, true, error)) == CORE_FAILED)
                return false;
    }
    return true;
}

/* Of those that it has run for a while. */
static void take_pace(struct guest *guest) {
    enum { LEAST = 1000, SLOWEST = 100 };
    if (guest->run_insns < LEAST)
        return;
    const uint64_t pace = guest->run_cycles * PACE_ONE / guest->run_insns;
    guest->pace = (uint32_t)(pace < 1 ? 1 : pace > SLOWEST * PACE_ONE ? SLOWEST * PACE_ONE : pace);
}

/* Threads that go on: their time so far counts, and what they wait for. */
static bool close_states(struct chip_run *chip, uint64_t end, struct error *error) {
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *guest = alive_at(chip, i);
        if (guest->life != GUEST_ALIVE)
            continue;
        if ((guest->state == THREAD_LOCKED || guest->state == THREAD_WAITING ||
             guest->state == THREAD_SPINNING) &&
            !guest_note_wait(chip, guest, end, 0, false, error))
            return false;
        guest_spend(chip, guest, end);
        take_pace(guest);
        course_change(chip->course, guest->thread, COURSE_ABSENT, end);
        if (guest->state == THREAD_RUNNING)
            guest->clock = end;
    }
    return true;
}

struct passes {
    struct together_result *result;
    uint64_t weight;
};

static void pass_wait(void *context, uint32_t number, uint64_t cycles) {
    const struct passes *passes = context;
    struct together_wait *wait = &passes->result->waits[number];
    wait->passes += passes->weight;
    wait->path_cycles += passes->weight * cycles;
}

static void add_counts(struct course_counts *sum, const struct course_counts *part,
                       uint64_t weight) {
    for (unsigned i = 0; i <= COURSE_MOST; i++)
        for (unsigned k = 0; k <= COURSE_MOST; k++) {
            sum->joining[i][k] += weight * part->joining[i][k];
            sum->waiting[i][k].cycles += weight * part->waiting[i][k].cycles;
            for (unsigned what = 0; what < COURSE_JOIN; what++)
                sum->waiting[i][k].parts[what] += (double)weight * part->waiting[i][k].parts[what];
        }
}

static bool add_course(struct chip_run *chip, uint64_t end, struct error *error) {
    struct chip_sampling *sampling = chip->sampling;
    struct together_result *result = chip->result;
    struct passes passes = {result, sampling->weight};
    const struct course_path path = {.pass = pass_wait, .context = &passes};
    struct course_sum sum = {0};
    memset(sampling->counts_of_region, 0, sizeof *sampling->counts_of_region);
    memset(sampling->courses_of_region, 0,
           chip->thread_count * sizeof *sampling->courses_of_region);
    if (!course_end(chip->course, end, &path, sampling->counts_of_region,
                    sampling->courses_of_region, &sum))
        return error_set(error, "out of memory for what threads did when");
    add_counts(result->counts, sampling->counts_of_region, sampling->weight);
    for (uint32_t i = 0; i < chip->thread_count; i++) {
        const struct course_thread *part = &sampling->courses_of_region[i];
        struct course_thread *thread = &result->courses[i];
        thread->height += (double)sampling->weight * part->height;
        thread->active += sampling->weight * part->active;
        for (unsigned what = 0; what < COURSE_ACTIVITIES; what++)
            thread->critical[what] += sampling->weight * part->critical[what];
    }
    result->course.active += sampling->weight * sum.active;
    const uint64_t unknown = sum.unknown > sampling->start ? sum.unknown - sampling->start : 0;
    result->course.unknown += sampling->weight * unknown; /* the region's own */
    return true;
}

void chip_region_mark(struct chip_run *chip) {
    struct chip_sampling *sampling = chip->sampling;
    sampling->before = totals_of(chip->run->simulation);
    pics_by_signature(chip->run->total, sampling->units);
    sampling->region_cycles = 0;
}

bool chip_region_sample(struct chip_run *chip, struct error *error) {
    struct chip_sampling *sampling = chip->sampling;
    const struct simulation *simulation = chip->run->simulation;
    const struct planned_region *region = &chip->options->plan->regions[sampling->region];
    struct region_sample *sample = &sampling->samples[sampling->region];
    const struct core_totals now = totals_of(simulation), *before = &sampling->before;
    const uint64_t weight = sampling->region_weight;
    const uint64_t executed = (now.instructions - before->instructions) / weight;
    const uint64_t work = sampling->meter.work - sampling->work_before;
    uint64_t *units = calloc(PSV_COMBINATIONS, sizeof *units);
    if (!units)
        return error_set(error, "out of memory for regions");
    pics_by_signature(chip->run->total, units);
    *sample = (struct region_sample){.cluster = region->cluster,
                                     .instructions = executed ? executed : 1,
                                     .stands_for = (executed ? executed : 1) * weight,
                                     .cycles = (now.cycles - before->cycles) / weight};
    for (unsigned i = 0; i < STATE_COUNT; i++)
        sample->states[i] = (now.states[i] - before->states[i]) / weight;
    for (unsigned i = 0; i < PSV_COMBINATIONS; i++)
        sample->units[i] = (units[i] - sampling->units[i]) / weight;
    free(units);
    sampling->elapsed[sampling->region] =
        (struct region_sample){.cluster = region->cluster,
                               .instructions = work ? work : 1,
                               .stands_for = (work ? work : 1) * weight,
                               .cycles = sampling->region_cycles};
    sampling->region++;
    return true;
}

bool chip_window_end(struct chip_run *chip, struct error *error) {
    struct chip_sampling *sampling = chip->sampling;
    if (!run_empty(chip, error))
        return false;
    const uint64_t end = last_cycle(chip);
    chip->latest = end;
    if (!close_states(chip, end, error) || !add_course(chip, end, error) ||
        !run_collect(chip->run, error))
        return false;
    const struct coherence_statistics coherence = coherence_of(chip);
    counters_add(&chip->result->coherence, &coherence, &sampling->coherence_before,
                 sizeof coherence, sampling->weight);
    sampling->cycles += sampling->weight * (end - sampling->start);
    sampling->window_cycles = end - sampling->start;
    sampling->fast = true;
    sampling->start = end;
    sampling->weight = 0;
    return begin_course(chip, end, error);
}
