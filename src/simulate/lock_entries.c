#include "simulate/lock_entries.h"

#include <stdlib.h>

#include "program/lock_routines.h"
#include "util/array.h"

static enum lock_entry entry_of(const char *symbol) {
    const struct lock_routine routine = lock_routine_of(symbol);
    const bool lock = routine.object == LOCK_OF_MUTEX || routine.object == LOCK_OF_SPIN_LOCK ||
                      routine.object == LOCK_OF_READ_WRITE_LOCK;
    if (routine.action == LOCK_WAIT)
        return ENTRY_CONDITION;
    if (routine.action == LOCK_SIGNAL || routine.action == LOCK_BROADCAST)
        return ENTRY_SIGNAL;
    if (routine.action == LOCK_MEET)
        return ENTRY_BARRIER;
    if (routine.action == LOCK_RELEASE && lock)
        return ENTRY_UNLOCK;
    if (routine.action != LOCK_ACQUIRE || !lock)
        return ENTRY_NONE;
    if (routine.may_fail && routine.object == LOCK_OF_SPIN_LOCK)
        return ENTRY_TRY_SPIN;
    if (routine.may_fail)
        return !routine.shared ? ENTRY_TRY : routine.at_once ? ENTRY_TRY_READ : ENTRY_READ_BY_TIME;
    return routine.shared ? ENTRY_READ_LOCK : ENTRY_LOCK;
}

struct start {
    uint32_t image;
    uint16_t flags;        /* an enum lock_entry, or what else its routine is */
    uint64_t offset, size; /* of the instructions that have them */
};

struct lock_entries {
    struct program *program;
    struct start *starts;
    size_t start_count, start_capacity;
    uint32_t images_known, insns_known;
    uint16_t *flags;
    size_t capacity;
    bool failed;
};

struct lock_entries *lock_entries_new(struct error *error) {
    struct lock_entries *entries = calloc(1, sizeof *entries);
    if (entries && (entries->program = program_new_local()))
        return entries;
    free(entries);
    return error_null(error, "out of memory for symbols");
}

void lock_entries_free(struct lock_entries *entries) {
    if (!entries)
        return;
    program_free(entries->program);
    free(entries->starts);
    free(entries->flags);
    free(entries);
}

struct search {
    struct lock_entries *entries;
    uint32_t image;
};

static uint16_t flags_of_routine(const char *symbol) {
    return lock_routine_is_internal(symbol)     ? LOCK_INTERNAL
           : lock_routine_is_monitor(symbol)    ? LOCK_MONITOR
           : lock_routine_is_for_caller(symbol) ? LOCK_FOR_CALLER
                                                : entry_of(symbol);
}

static bool note_start(void *context, const struct program_function *function) {
    const struct search *search = context;
    struct lock_entries *entries = search->entries;
    const uint16_t flags = function->name ? flags_of_routine(function->name) : ENTRY_NONE;
    if (!flags)
        return true;
    if (!array_room(entries->starts, entries->start_capacity, entries->start_count + 1)) {
        entries->failed = true;
        return false;
    }
    entries->starts[entries->start_count++] = (struct start){
        search->image, flags, function->file_offset, flags & LOCK_ENTRY ? 1 : function->size};
    return true;
}

static void learn_image(struct lock_entries *entries, const struct code_image *image,
                        uint32_t number) {
    if (image->kind != CODE_IMAGE_FILE)
        return;
    const uint32_t known =
        program_add_image(entries->program, image->path, image->build_id, image->build_id_size);
    struct search search = {entries, number};
    program_each_function(entries->program, known, note_start, &search);
}

static uint16_t flags_of(const struct lock_entries *entries, const struct static_insn *insn) {
    uint16_t flags =
        (insn->flags & INSN_ATOMIC ? LOCK_ATOMIC : 0) |
        (insn->branch == BRANCH_RETURN ? LOCK_RETURN : 0) |
        (insn->branch == BRANCH_CALL || insn->branch == BRANCH_INDIRECT_CALL ? LOCK_CALL : 0);
    for (size_t i = 0; i < entries->start_count; i++)
        if (insn->offset - entries->starts[i].offset < entries->starts[i].size &&
            entries->starts[i].image == insn->image)
            flags |= entries->starts[i].flags;
    return flags;
}

const uint16_t *lock_entries_of(struct lock_entries *entries, const struct code *code) {
    for (; entries->images_known < code->image_count; entries->images_known++)
        learn_image(entries, &code->images[entries->images_known], entries->images_known);
    if (entries->failed ||
        !array_zeroed_room(entries->flags, entries->capacity, (size_t)code->insn_count + 1))
        return NULL;
    for (; entries->insns_known < code->insn_count; entries->insns_known++)
        entries->flags[entries->insns_known] =
            flags_of(entries, &code->insns[entries->insns_known]);
    return entries->flags;
}
