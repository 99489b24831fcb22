/* Samples in code that was compiled at run time and that nobody has named so far: their process
 * wrote its jitdump too late (Node writes it in pieces of 2 MB), or they were counted in the
 * kernel, without their times. When they are saved the dump tells more. The times of the samples
 * are gone: a place gets its name where no other function ever was. */
#include <stdlib.h>
#include <unistd.h>

#include "live/dumped_code.h"
#include "live/resolver_internal.h"
#include "util/array.h"

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for the names of compiled code");
}

/* The process that each node of the tree of calls is of. To be freed. NULL: out of memory. */
static uint32_t *processes_of(const struct resolver *resolver) {
    const struct call_tree *tree = &resolver->tree;
    uint32_t *processes = calloc(tree->count + 1, sizeof *processes);
    for (size_t i = 0; processes && i < tree->count; i++) {
        const struct store_call *call = &tree->calls[i];
        processes[i] = call->parent == STORE_CALL_TOP
                           ? resolver->slices.items[call->image - 1].process
                           : processes[call->parent];
    }
    return processes;
}

static bool is_anonymous(const struct store_call *call) {
    return call->parent != STORE_CALL_TOP && call->image == 1 + (int64_t)PLACE_NUMBER_ANONYMOUS;
}

/* *place, *offset: of an anonymous place. */
static bool name_place(struct resolver *resolver, struct dumped_code *dumped, uint32_t *place,
                       uint64_t *offset) {
    struct live_frame frame = {.place = PLACE_ANONYMOUS, .offset = *offset};
    if (!dumped_code_name_only(dumped, &frame))
        return false;
    if (frame.place != PLACE_CODE)
        return true;
    bool many;
    const uint32_t number = tracked_files_source(&resolver->files, frame.code, &many);
    live_frames_release(&frame, 1);
    if (number == UINT32_MAX)
        return many;
    *place = number;
    *offset = frame.offset;
    return true;
}

/* The table is not looked into any more before it is cleared: entries may lie where they are not
 * looked for. If the save fails what comes next stands beside them. */
static bool name_entries(struct resolver *resolver, uint32_t process, struct dumped_code *dumped) {
    const struct sample_table *table = &resolver->table;
    for (size_t i = 0; table->count && i < table->capacity; i++) {
        struct sample_entry *entry = &table->slots[i];
        if (entry->count && entry->place == PLACE_NUMBER_ANONYMOUS &&
            resolver->slices.items[entry->slice].process == process &&
            !name_place(resolver, dumped, &entry->place, &entry->offset))
            return false;
    }
    return true;
}

/* The same of the index of the tree. */
static bool name_calls(struct resolver *resolver, uint32_t process, const uint32_t *processes,
                       struct dumped_code *dumped) {
    for (size_t i = 0; i < resolver->tree.count; i++) {
        struct store_call *call = &resolver->tree.calls[i];
        uint32_t place = PLACE_NUMBER_ANONYMOUS;
        if (processes[i] != process || !is_anonymous(call))
            continue;
        if (!name_place(resolver, dumped, &place, &call->offset))
            return false;
        call->image = 1 + (int64_t)place;
    }
    return true;
}

static bool has_anonymous(const struct resolver *resolver, uint32_t process,
                          const uint32_t *processes) {
    const struct sample_table *table = &resolver->table;
    const struct call_tree *tree = &resolver->tree;
    return (table->count &&
            any_where(i, table->capacity,
                      table->slots[i].count && table->slots[i].place == PLACE_NUMBER_ANONYMOUS &&
                          resolver->slices.items[table->slots[i].slice].process == process)) ||
           any_where(i, tree->count, processes[i] == process && is_anonymous(&tree->calls[i]));
}

static bool name_process(struct resolver *resolver, uint32_t process, const uint32_t *processes) {
    const struct tracked_process *tracked = &resolver->processes.items[process];
    if (!tracked->dump[0] || !has_anonymous(resolver, process, processes))
        return true;
    struct dumped_code *dumped =
        dumped_code_open(&resolver->roots, tracked->key.pid, tracked->dump,
                         tracked->user == (uid_t)-1 ? geteuid() : tracked->user, tracked->command);
    const bool good =
        !dumped || (dumped_code_read(dumped) && name_entries(resolver, process, dumped) &&
                    name_calls(resolver, process, processes, dumped));
    dumped_code_free(dumped);
    return good;
}

bool resolver_name_compiled(struct resolver *resolver, struct error *error) {
    if (all_where(i, resolver->processes.count, !resolver->processes.items[i].dump[0]))
        return true;
    uint32_t *processes = processes_of(resolver);
    bool good = processes;
    for (uint32_t i = 0; good && i < resolver->processes.count; i++)
        good = name_process(resolver, i, processes);
    free(processes);
    return good || no_memory(error);
}
