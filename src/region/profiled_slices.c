/* A thread has, by id of block, how often each was executed until the open slice began, and within
 * it. Where a slice begins, the first gives the marker: the executions of all blocks that contain
 * its first instruction. */
#include "region/profiled_slices.h"

#include <stdlib.h>

#include "util/array.h"
#include "util/order.h"

bool profile_out_of_memory(struct profile *profile) {
    return error_set(profile->error, "out of memory for the profile");
}

static int compare_ids(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return ascending(a, b);
}

static bool reserve_ids(struct profile *profile, struct profiled *thread, uint32_t id) {
    return (array_zeroed_room(thread->before, thread->capacity, id) &&
            array_zeroed_room(thread->within, thread->within_capacity, id)) ||
           profile_out_of_memory(profile);
}

bool slice_begin(struct profile *profile, struct profiled *thread, uint32_t number, uint32_t id) {
    const struct profile_site *site = profile_code_site(&profile->code, id);
    const struct slice_block *place = &profile_code_at(&profile->code, id)->place;
    if (!site || !reserve_ids(profile, thread, id))
        return profile_out_of_memory(profile);
    uint64_t count = 1;
    for (size_t i = 0; i < site->count; i++)
        if (site->ids[i] <= thread->capacity)
            count += thread->before[site->ids[i] - 1];
    thread->open = true;
    counts_plan(&thread->pace, profile->options->size, 0);
    thread->place = (struct slice_place){.process = thread->process,
                                         .thread = number,
                                         .first = thread->position,
                                         .start = {place->image, place->offset, count}};
    return true;
}

bool slice_add(struct profile *profile, struct profiled *thread, uint32_t id, uint64_t times) {
    uint64_t insns;
    if (id > thread->capacity && !reserve_ids(profile, thread, id))
        return false;
    uint64_t *within = thread->within + id - 1;
    if (!*within) {
        if (!array_push(thread->touched, thread->touched_capacity, thread->touched_count, id))
            return profile_out_of_memory(profile);
    }
    uint32_t insn_count = profile_code_at(&profile->code, id)->place.insn_count;
    if (__builtin_mul_overflow(times, insn_count, &insns) ||
        __builtin_add_overflow(thread->position, insns, &thread->position))
        return counts_make_no_sense(profile->error);
    *within += times;
    return true;
}

bool slice_miss(struct profile *profile, struct profiled *thread, uint32_t id, uint64_t insns) {
    uint64_t counted =
        id <= thread->within_capacity
            ? thread->within[id - 1] * profile_code_at(&profile->code, id)->place.insn_count
            : 0;
    if (insns > counted - missed_of(&thread->missed, id))
        return counts_make_no_sense(profile->error);
    if (!missed_add(&thread->missed, id, insns))
        return profile_out_of_memory(profile);
    thread->position -= insns;
    return true;
}

bool profile_write_code(struct profile *profile, uint32_t id) {
    const struct profile_code *code = &profile->code;
    struct slice_writer *table = &profile->files.table;
    for (; profile->blocks_written < id; profile->blocks_written++) {
        const struct slice_block *block =
            &profile_code_at(code, profile->blocks_written + 1)->place;
        for (; block->image != MARKER_NO_IMAGE && profile->images_written <= block->image;
             profile->images_written++)
            if (!slice_writer_image(table, profile->images_written,
                                    code->images + profile->images_written, profile->error))
                return false;
        if (!slice_writer_block(table, profile->blocks_written + 1, block, profile->error))
            return false;
    }
    return true;
}

bool slice_end(struct profile *profile, struct profiled *thread) {
    size_t count = thread->touched_count;
    if (!array_room(profile->entries, profile->entry_capacity, count + 1))
        return profile_out_of_memory(profile);
    if (count)
        qsort(thread->touched, count, sizeof *thread->touched, compare_ids);
    for (size_t i = 0; i < count; i++) {
        uint32_t id = thread->touched[i];
        uint64_t times = thread->within[id - 1];
        profile->entries[i] =
            (struct slice_entry){id, times * profile_code_at(&profile->code, id)->place.insn_count -
                                         missed_of(&thread->missed, id)};
        thread->before[id - 1] += times;
        thread->within[id - 1] = 0;
    }
    thread->touched_count = 0;
    thread->missed.count = 0;
    bool filled = thread->open && thread->position > thread->place.first;
    thread->open = false;
    if (!filled)
        return true;
    thread->place.instructions = thread->position - thread->place.first;
    profile->result->slices++;
    profile->result->instructions += thread->place.instructions;
    if (thread->place.thread == 0 && !profile_write_code(profile, profile->entries[count - 1].id))
        return false;
    /* bbv_profile() frees the entries. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    return slice_files_put(&profile->files, &thread->place, profile->entries, count,
                           profile->error);
}

bool profiled_end(struct profile *profile, struct profiled *thread) {
    if (thread->ended || !thread->known)
        return true;
    thread->ended = true;
    bool good = slice_end(profile, thread);
    if (profile->options->counts_path)
        good &=
            execution_leave(&profile->counts, &thread->execution) || profile_out_of_memory(profile);
    free(thread->before);
    free(thread->within);
    free(thread->touched);
    free(thread->missed.items);
    thread->missed = (struct missed_blocks){0};
    thread->before = thread->within = NULL;
    thread->touched = NULL;
    thread->capacity = thread->within_capacity = thread->touched_capacity = 0;
    return good;
}
