/* A block is known by the branch that ends it. */
#include "simulate/work_profile.h"

#include <stdlib.h>
#include <string.h>

#include "simulate/work_meter.h"
#include "util/array.h"

struct thread {
    uint32_t since;     /* instructions since its last branch */
    uint64_t *executed; /* in this slice, by branch: instructions of the blocks that it ends */
    uint32_t *touched;  /* those branches of which it is not 0 */
    size_t touched_count, touched_capacity;
};

struct work_profile {
    struct work_profile_settings settings;
    const struct code *code;
    struct work_meter meter;
    struct thread *threads;
    uint32_t thread_count, insn_count;
    struct bbv_set vector;
    struct projection vectors;
    struct work_slice *slices;
    size_t slice_count, slice_capacity;
    struct work_slice open;
    uint64_t instructions; /* of complete slices */
};

struct work_profile *work_profile_new(const struct work_profile_settings *settings,
                                      const struct code *code, const uint8_t *flags,
                                      uint32_t threads) {
    struct work_profile *profile = calloc(1, sizeof *profile);
    if (!profile)
        return NULL;
    profile->settings = *settings;
    profile->code = code;
    profile->insn_count = code->insn_count;
    profile->threads = calloc((size_t)threads + 1, sizeof *profile->threads);
    profile->thread_count = threads;
    projection_init(&profile->vectors, settings->dimensions, settings->seed);
    if (work_meter_init(&profile->meter, code, flags, threads) && profile->threads)
        return profile;
    work_profile_free(profile);
    return NULL;
}

void work_profile_free(struct work_profile *profile) {
    if (!profile)
        return;
    for (uint32_t i = 0; profile->threads && i < profile->thread_count; i++) {
        free(profile->threads[i].executed);
        free(profile->threads[i].touched);
    }
    free(profile->threads);
    work_meter_free(&profile->meter);
    free(profile->slices);
    bbv_set_free(&profile->vector);
    projection_free(&profile->vectors);
    free(profile);
}

/* ---- slices ---- */

/* Each thread's blocks have ids of their own. */
static bool add_thread(struct work_profile *profile, uint32_t number, struct error *error) {
    struct thread *thread = &profile->threads[number];
    for (size_t i = 0; i < thread->touched_count; i++) {
        const uint32_t branch = thread->touched[i];
        const uint32_t id = branch + 1 + number * (profile->insn_count + 1);
        if (!bbv_set_block(&profile->vector, id ? id : 1, thread->executed[branch], error))
            return false;
        thread->executed[branch] = 0;
    }
    thread->touched_count = 0;
    return true;
}

/* Slices twice as long, half as many. */
static void merge_slices(struct work_profile *profile) {
    size_t merged = 0;
    for (size_t i = 0, count; i < profile->slice_count; i += count, merged++) {
        struct work_slice slice = profile->slices[i];
        count = i + 1 < profile->slice_count ? 2 : 1;
        if (count == 2) {
            slice.instructions += profile->slices[i + 1].instructions;
            slice.work += profile->slices[i + 1].work;
        }
        profile->slices[merged] = slice;
        projection_merge(&profile->vectors, merged, i, count);
    }
    profile->slice_count = profile->vectors.count = merged;
    profile->settings.slice *= 2;
}

/* `next`: work so far that belongs to the next slice. */
static bool end_slice(struct work_profile *profile, uint32_t next, struct error *error) {
    const uint64_t end = profile->meter.work - next;
    profile->open.work = end - profile->open.work_before;
    bbv_set_clear(&profile->vector);
    for (uint32_t i = 0; i < profile->thread_count; i++)
        if (!add_thread(profile, i, error))
            return false;
    if (!profile->vector.entry_count && !bbv_set_block(&profile->vector, 1, 1, error))
        return false;
    if (!array_push(profile->slices, profile->slice_capacity, profile->slice_count, profile->open))
        return error_set(error, "out of memory for %zu slices", profile->slice_count);
    profile->instructions += profile->open.instructions;
    profile->open = (struct work_slice){.before = profile->instructions, .work_before = end};
    if (!bbv_set_slice(&profile->vector, error) ||
        !projection_add(&profile->vectors, &profile->vector, 0, error))
        return false;
    if (profile->slice_count >= profile->settings.most_slices)
        merge_slices(profile);
    return true;
}

/* ---- instructions ---- */

static bool count_block(const struct work_profile *profile, struct thread *thread, uint32_t branch,
                        uint32_t insns) {
    if (!insns)
        return true;
    if (!thread->executed &&
        !(thread->executed = calloc((size_t)profile->insn_count + 1, sizeof *thread->executed)))
        return false;
    if (!thread->executed[branch] &&
        !array_push(thread->touched, thread->touched_capacity, thread->touched_count, branch))
        return false;
    thread->executed[branch] += insns;
    return true;
}

/* The iteration of a loop that this branch closes did nothing but wait. */
static void take_back(struct thread *thread, uint32_t branch, uint32_t waited) {
    if (thread->executed)
        thread->executed[branch] -=
            waited < thread->executed[branch] ? waited : thread->executed[branch];
}

/* An interpreter that jumps from one instruction's code to the next may come to no head for long.
 */
enum { LONGEST = 2 }; /* slices in place of one */

static uint64_t enough(const struct work_profile *profile, bool at_head) {
    const uint64_t slice = at_head ? profile->settings.slice : LONGEST * profile->settings.slice;
    return profile->open.work_before + slice;
}

static bool see(struct work_profile *profile, const struct trace_batch *piece,
                const struct dynamic_insn *insn, struct error *error) {
    struct thread *thread = &profile->threads[piece->thread];
    struct work_thread *metered = &profile->meter.threads[piece->thread];
    const uint32_t branch = metered->branch;
    const struct work_step step = work_meter_see(&profile->meter, metered, piece, insn);
    if (step.waited)
        take_back(thread, branch - 1, step.waited);
    if (profile->meter.work >= enough(profile, step.head) && !end_slice(profile, step.works, error))
        return false;
    profile->open.instructions += !(insn->flags & DYN_FAULT);
    thread->since += step.works;
    if (!(profile->meter.flags[insn->insn] & WORK_ENDS))
        return true;
    const uint32_t insns = thread->since;
    thread->since = 0;
    return count_block(profile, thread, insn->insn, insns) ||
           error_set(error, "out of memory for the profile of the run");
}

/* Plain instructions before the slice has enough: how many. */
static uint32_t see_plain(struct work_profile *profile, const struct trace_batch *piece,
                          uint32_t first) {
    struct work_meter *meter = &profile->meter;
    struct work_thread *metered = &meter->threads[piece->thread];
    const uint64_t end = enough(profile, false), next = meter->work + 1;
    if (metered->branch || next >= end)
        return 0;
    const uint32_t count = work_meter_plain(meter, metered, piece, first, end - next);
    profile->open.instructions += count;
    for (uint32_t i = first; i < first + count && !piece->all_completed; i++)
        profile->open.instructions -= (piece->insns[i].flags & DYN_FAULT) != 0;
    profile->threads[piece->thread].since += count;
    return count;
}

bool work_profile_piece(struct work_profile *profile, const struct trace_batch *piece,
                        struct error *error) {
    for (uint32_t i = 0; i < piece->insn_count;) {
        i += see_plain(profile, piece, i);
        if (i < piece->insn_count && !see(profile, piece, &piece->insns[i++], error))
            return false;
    }
    return true;
}

bool work_profile_finish(struct work_profile *profile, struct work_slices *slices,
                         struct error *error) {
    if (profile->open.instructions && !end_slice(profile, 0, error))
        return false;
    *slices = (struct work_slices){.vectors = &profile->vectors,
                                   .slices = profile->slices,
                                   .count = profile->slice_count,
                                   .instructions = profile->instructions};
    for (size_t i = 0; i < profile->slice_count; i++)
        slices->work += profile->slices[i].work;
    return true;
}
