/* Between regions a thread's cycle is its instructions times its pace; locks, waits and events are
 * those of the scheduler. */
#include "simulate/together_state.h"

#include <stdlib.h>
#include <string.h>

#include "simulate/together_windows.h"
#include "util/array.h"

/* ---- between regions ---- */

/* What lies between regions calls, returns and allocates, too. */
static bool follow_calls(struct chip_run *chip, struct guest *guest,
                         const struct trace_batch *piece, struct error *error) {
    return !chip->run->calls ||
           (guest_make_core(chip, guest, error) &&
            call_lane_see(guest->lane->calls, trace_code(guest->input.trace), piece, false, error));
}

bool chip_pass(struct chip_run *chip, struct guest *guest, const struct trace_batch *piece,
               struct error *error) {
    struct chip_sampling *sampling = chip->sampling;
    guest->clock += ((uint64_t)piece->insn_count * guest->pace + PACE_ONE / 2) / PACE_ONE + 1;
    if (chip->options->profile)
        return work_profile_piece(chip->options->profile, piece, error);
    work_meter_piece(&sampling->meter, piece);
    if (!follow_calls(chip, guest, piece, error))
        return false;
    if (chip->run->simulation->executed <= sampling->warm_from)
        return true;
    const struct core_input input = core_input_of(trace_code(guest->input.trace), piece);
    chip->run->simulation->warmed += piece->insn_count;
    return guest_make_core(chip, guest, error) && core_warm(guest->lane->core, &input, error);
}

/* ---- the schedule ---- */

static const struct planned_region *next_region(const struct chip_run *chip) {
    const struct together_plan *plan = chip->options->plan;
    const uint32_t next = chip->sampling->region;
    return plan && next < plan->count ? &plan->regions[next] : NULL;
}

static uint64_t weight_of(const struct chip_sampling *sampling,
                          const struct planned_region *region) {
    const double work = region->work ? (double)region->work : 1;
    const double times = ((double)region->stands_for + sampling->owed) / work;
    return times < 1 ? 1 : (uint64_t)(times + 0.5);
}

static bool begin_region(struct chip_run *chip, const struct planned_region *region,
                         struct error *error) {
    struct chip_sampling *sampling = chip->sampling;
    if (!chip_forks_begin(chip, error))
        return false;
    sampling->work_before = sampling->meter.work;
    const bool last = region->work_before + region->work >= chip->options->plan->work;
    sampling->target = last ? UINT64_MAX : sampling->meter.work + region->work;
    sampling->region_weight = weight_of(sampling, region);
    chip_region_mark(chip);
    return chip_window_begin(chip, sampling->region_weight, error);
}

/* A part of the region is over. */
static bool end_window(struct chip_run *chip, struct error *error) {
    struct chip_sampling *sampling = chip->sampling;
    if (!chip_window_end(chip, error))
        return false;
    sampling->region_cycles += sampling->window_cycles;
    return true;
}

static bool end_region(struct chip_run *chip, struct error *error) {
    struct chip_sampling *sampling = chip->sampling;
    const struct planned_region *region = next_region(chip);
    const double work = (double)(sampling->meter.work - sampling->work_before);
    sampling->owed += (double)region->stands_for - (double)sampling->region_weight * work;
    if (!end_window(chip, error))
        return false;
    chip_forks_end(chip, true);
    return chip_region_sample(chip, error);
}

/* Work does not tell of time in which none is done. Where that is long, as when a thread sleeps, it
 * is told by itself: a region is interrupted for it. */
bool chip_sampling_idle(struct chip_run *chip, uint64_t until, struct error *error) {
    enum { LEAST = 20000 }; /* cycles */
    struct chip_sampling *sampling = chip->sampling;
    if (!sampling || !chip->options->plan || until < chip->latest + LEAST)
        return true;
    const bool in_region = !sampling->fast;
    if ((in_region && !end_window(chip, error)) || !chip_window_begin(chip, 1, error))
        return false;
    chip->latest = until;
    return chip_window_end(chip, error) &&
           (!in_region || chip_window_begin(chip, sampling->region_weight, error));
}

bool chip_sampling_turn(struct chip_run *chip, struct error *error) {
    struct chip_sampling *sampling = chip->sampling;
    if (!sampling || !chip->options->plan)
        return true;
    if (!sampling->fast) {
        if (!chip_is_due(chip))
            return true;
        if (!end_region(chip, error))
            return false;
    }
    const struct planned_region *next = next_region(chip);
    if (!next) { /* threads go on, as there may be time in which none works */
        sampling->warm_from = sampling->target = UINT64_MAX;
        return true;
    }
    sampling->warm_from = next->before > chip->options->plan->warm_up
                              ? next->before - chip->options->plan->warm_up
                              : 0;
    sampling->target = next->work_before;
    return !chip_is_due(chip) || begin_region(chip, next, error);
}

void chip_sampling_process(struct chip_run *chip) {
    if (chip->sampling)
        chip->sampling->start = 0;
}

bool chip_sampling_process_end(struct chip_run *chip, struct error *error) {
    return !chip->sampling || chip->sampling->fast || end_region(chip, error);
}

/* ---- the whole ---- */

bool chip_sampling_begin(struct chip_run *chip, struct error *error) {
    const struct together_plan *plan = chip->options->plan;
    struct chip_sampling *sampling;
    if (!plan && !chip->options->profile)
        return true;
    if (!(sampling = chip->sampling = calloc(1, sizeof *sampling)))
        return error_set(error, "out of memory for regions");
    sampling->fast = true;
    sampling->target = UINT64_MAX;
    for (uint32_t i = 0; i < chip->thread_count; i++)
        chip->guests[i].pace = PACE_ONE;
    if (!plan)
        return true;
    sampling->units = calloc(PSV_COMBINATIONS, sizeof *sampling->units);
    sampling->samples = calloc((size_t)plan->count + 1, sizeof *sampling->samples);
    sampling->elapsed = calloc((size_t)plan->count + 1, sizeof *sampling->elapsed);
    sampling->counts_of_region = calloc(1, sizeof *sampling->counts_of_region);
    sampling->courses_of_region =
        calloc((size_t)chip->thread_count + 1, sizeof *sampling->courses_of_region);
    if (!sampling->units || !sampling->samples || !sampling->elapsed ||
        !sampling->counts_of_region || !sampling->courses_of_region ||
        !work_meter_init(&sampling->meter, trace_code(chip->run->trace), plan->flags,
                         chip->thread_count))
        return error_set(error, "out of memory for regions");
    return true;
}

/* Where threads lie in the program's time: by what had been executed when they came. */
static void place_threads(const struct chip_run *chip) {
    struct together_result *result = chip->result;
    const double executed = (double)chip->options->plan->instructions;
    for (uint32_t i = 0; i < result->thread_count; i++) {
        struct together_thread *thread = &result->threads[i];
        const uint64_t spent = sum_over(uint64_t, k, THREAD_STATES, thread->cycles[k]);
        const uint64_t latest = spent < result->cycles ? result->cycles - spent : 0;
        const double begin = (double)thread->begin / executed * (double)result->cycles;
        thread->begin = begin < (double)latest ? (uint64_t)begin : latest;
        thread->end = thread->begin + spent;
    }
}

/* Of a wait that no region saw the end of it is not known what ended it: its time goes to the
 * dearest of the waits that are else the same. */
static void join_waits(struct together_result *result) {
    size_t kept = 0;
    for (size_t i = 0; i < result->wait_count; i++) {
        const struct together_wait wait = result->waits[i];
        struct together_wait *like = NULL;
        for (size_t k = 0; k < result->wait_count && !wait.count; k++) {
            struct together_wait *other = &result->waits[k];
            if (other->count && other->address == wait.address && other->process == wait.process &&
                other->reason == wait.reason && other->waiter == wait.waiter &&
                (!like || other->cycles > like->cycles))
                like = other;
        }
        if (like)
            like->cycles += wait.cycles;
        else
            result->waits[kept++] = wait;
    }
    result->wait_count = kept;
}

void chip_sampling_finish(struct chip_run *chip) {
    struct chip_sampling *sampling = chip->sampling;
    struct simulation *simulation = chip->run->simulation;
    if (!sampling || !chip->options->plan)
        return;
    chip->result->cycles = sampling->cycles;
    chip->result->regions = sampling->region;
    chip->result->interval =
        simulation->interrupted
            ? -1
            : estimate_interval(sampling->elapsed, sampling->region, region_cycles, NULL);
    simulation->regions = (struct simulation_regions){.count = chip->options->plan->count,
                                                      .simulated = sampling->region,
                                                      .slices = chip->options->plan->slices,
                                                      .samples = sampling->samples};
    sampling->samples = NULL;
    if (!simulation->interrupted)
        simulation->executed = chip->options->plan->instructions;
    place_threads(chip);
    join_waits(chip->result);
}

void chip_sampling_free(struct chip_run *chip) {
    struct chip_sampling *sampling = chip->sampling;
    if (!sampling)
        return;
    work_meter_free(&sampling->meter);
    free(sampling->units);
    free(sampling->samples);
    free(sampling->elapsed);
    free(sampling->counts_of_region);
    free(sampling->courses_of_region);
    free(sampling);
    chip->sampling = NULL;
}
