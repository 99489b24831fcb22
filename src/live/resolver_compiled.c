/* Samples in code that was compiled at run time and that nobody has named so far: their process
 * wrote its jitdump too late (Node writes it in pieces of 2 MB), or they were counted in the
 * kernel, without their times. When they are saved the dump tells more. The times of the samples
 * are gone: a place gets its name where no other function ever was. */
#include <stdlib.h>
#include <unistd.h>

#include "live/dumped_code.h"
#include "live/resolver_internal.h"
#include "util/array.h"

struct naming {
    struct resolver *resolver;
    uint32_t *process_of; /* that each node of the tree of calls is of */
    bool *anonymous;      /* of each process: places of it have no name */
};

static uint32_t process_of_entry(const struct naming *naming, const struct sample_entry *entry) {
    return naming->resolver->slices.items[entry->slice].process;
}

static bool is_anonymous_entry(const struct sample_entry *entry) {
    return entry->count && entry->place == PLACE_NUMBER_ANONYMOUS;
}

static bool is_anonymous_call(const struct store_call *call) {
    return call->parent != STORE_CALL_TOP && call->image == 1 + (int64_t)PLACE_NUMBER_ANONYMOUS;
}

static void look(struct naming *naming) {
    const struct resolver *resolver = naming->resolver;
    const struct sample_table *table = &resolver->table;
    const struct call_tree *tree = &resolver->tree;
    for (size_t i = 0; table->count && i < table->capacity; i++)
        if (is_anonymous_entry(&table->slots[i]))
            naming->anonymous[process_of_entry(naming, &table->slots[i])] = true;
    for (size_t i = 0; i < tree->count; i++) {
        const struct store_call *call = &tree->calls[i];
        naming->process_of[i] = call->parent == STORE_CALL_TOP
                                    ? resolver->slices.items[call->image - 1].process
                                    : naming->process_of[call->parent];
        naming->anonymous[naming->process_of[i]] |= is_anonymous_call(call);
    }
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
static bool name_entries(const struct naming *naming, uint32_t process,
                         struct dumped_code *dumped) {
    const struct sample_table *table = &naming->resolver->table;
    for (size_t i = 0; table->count && i < table->capacity; i++) {
        struct sample_entry *entry = &table->slots[i];
        if (is_anonymous_entry(entry) && process_of_entry(naming, entry) == process &&
            !name_place(naming->resolver, dumped, &entry->place, &entry->offset))
            return false;
    }
    return true;
}

/* The same of the index of the tree. */
static bool name_calls(const struct naming *naming, uint32_t process, struct dumped_code *dumped) {
    const struct call_tree *tree = &naming->resolver->tree;
    for (size_t i = 0; i < tree->count; i++) {
        struct store_call *call = &tree->calls[i];
        uint32_t place = PLACE_NUMBER_ANONYMOUS;
        if (naming->process_of[i] != process || !is_anonymous_call(call))
            continue;
        if (!name_place(naming->resolver, dumped, &place, &call->offset))
            return false;
        call->image = 1 + (int64_t)place;
    }
    return true;
}

static bool name_process(const struct naming *naming, uint32_t process) {
    const struct resolver *resolver = naming->resolver;
    const struct tracked_process *tracked = &resolver->processes.items[process];
    if (!tracked->dump[0] || !naming->anonymous[process])
        return true;
    struct dumped_code *dumped =
        dumped_code_open(&resolver->roots, tracked->key.pid, tracked->dump,
                         tracked->user == (uid_t)-1 ? geteuid() : tracked->user, tracked->command);
    const bool good =
        !dumped || (dumped_code_read(dumped) && name_entries(naming, process, dumped) &&
                    name_calls(naming, process, dumped));
    dumped_code_free(dumped);
    return good;
}

bool resolver_name_compiled(struct resolver *resolver, struct error *error) {
    const struct tracked_processes *processes = &resolver->processes;
    if (all_where(i, processes->count, !processes->items[i].dump[0]))
        return true;
    struct naming naming = {.resolver = resolver,
                            .process_of =
                                calloc(resolver->tree.count + 1, sizeof *naming.process_of),
                            .anonymous = calloc(processes->count + 1, sizeof *naming.anonymous)};
    bool good = naming.process_of && naming.anonymous;
    if (good)
        look(&naming);
    for (uint32_t i = 0; good && i < processes->count; i++)
        good = name_process(&naming, i);
    free(naming.process_of);
    free(naming.anonymous);
    return good || error_set(error, "out of memory for the names of compiled code");
}
