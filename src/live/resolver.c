/* Takes what collectors deliver. Processes and files are looked at when they first appear, most
 * likely while they are there; places in the kernel and in code made at run time are left as
 * addresses until they are saved (resolver_save.c). */
#include "live/resolver.h"

#include <stdlib.h>
#include <string.h>

#include "live/kernel_map.h"
#include "live/resolver_internal.h"

enum { TREE_NODES_MAX = 1 << 20 };

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for the samples gathered");
}

struct resolver *resolver_new_in(const struct live_roots *roots, const struct live_event *events,
                                 size_t event_count, size_t entries, struct error *error) {
    struct resolver *resolver = calloc(1, sizeof *resolver);
    if (event_count > LIVE_EVENTS_MAX || entries > PLACE_NUMBER_UNKNOWN) {
        free(resolver);
        return error_null(error, "too many events or entries to gather samples of");
    }
    if (!resolver || !(resolver->known_stacks = calloc(KNOWN_STACKS, sizeof(struct known_stack))) ||
        !sample_table_init(&resolver->table, entries)) {
        if (resolver)
            free(resolver->known_stacks);
        free(resolver);
        no_memory(error);
        return NULL;
    }
    resolver->roots = *roots;
    resolver->tree.most = TREE_NODES_MAX;
    resolver->event_count = event_count;
    bool kernel = false;
    for (size_t i = 0; i < event_count; i++)
        kernel |= events[i].kernel;
    resolver->hidden = kernel && kernel_map_is_hidden(roots);
    return resolver;
}

struct resolver *resolver_new(const struct live_event *events, size_t event_count, size_t entries,
                              struct error *error) {
    const struct live_roots roots = {.proc = "/proc", .sys = "/sys", .files = ""};
    return resolver_new_in(&roots, events, event_count, entries, error);
}

void resolver_free(struct resolver *resolver) {
    if (!resolver)
        return;
    tracked_processes_free(&resolver->processes);
    tracked_files_free(&resolver->files);
    slices_free(&resolver->slices);
    sample_table_free(&resolver->table);
    call_tree_free(&resolver->tree);
    free(resolver->known_stacks);
    sampled_names_free(&resolver->vdso_names);
    if (resolver->vdso_reader)
        program_free(resolver->vdso_reader);
    free(resolver);
}

void resolver_slice_by(struct resolver *resolver, const struct sample_slicing *by) {
    slices_begin(&resolver->slices, by);
    resolver->processes.cgroups = by->cgroup;
}

static bool take_process(void *context, const struct live_process *process, struct error *error) {
    struct resolver *resolver = context;
    return tracked_processes_announce(&resolver->processes, &resolver->roots, process) !=
               UINT32_MAX ||
           no_memory(error);
}

static bool take_file(void *context, const struct live_file *file, struct error *error) {
    struct resolver *resolver = context;
    bool good = true;
    if (tracked_processes_dumps(&resolver->processes, file->seen_in, file->path, &good))
        return good || no_memory(error);
    uint32_t number =
        tracked_files_announce(&resolver->files, &resolver->roots, &resolver->processes, file);
    return (number != UINT32_MAX &&
            tracked_processes_maps(&resolver->processes, file->seen_in, file->path)) ||
           no_memory(error);
}

/* UINT32_MAX: out of memory. */
static uint32_t place_of(struct resolver *resolver, const struct live_frame *frame, uint32_t pid) {
    uint32_t number;
    bool many;
    switch (frame->place) {
    case PLACE_KERNEL:
        return PLACE_NUMBER_KERNEL;
    case PLACE_ANONYMOUS:
        return PLACE_NUMBER_ANONYMOUS;
    case PLACE_VDSO:
        return PLACE_NUMBER_VDSO;
    case PLACE_CODE:
        number = tracked_files_source(&resolver->files, frame->code, &many);
        return many ? (uint32_t)PLACE_NUMBER_UNKNOWN : number;
    case PLACE_FILE:
        break;
    default:
        return PLACE_NUMBER_UNKNOWN;
    }
    return tracked_files_find(&resolver->files, &resolver->roots, &resolver->processes,
                              &frame->file, pid);
}

/* From the outermost frame to the sampled one. */
static bool find_node(struct resolver *resolver, const struct live_sample *sample, uint32_t slice,
                      uint32_t place, uint32_t *found) {
    struct call_tree *tree = &resolver->tree;
    uint32_t node;
    if (!call_tree_node(tree, STORE_CALL_TOP, 1 + (int64_t)slice,
                        tree_top(sample->event, sample->end), &node))
        return false;
    for (size_t i = sample->caller_count; i-- > 0;) {
        const struct live_frame *caller = &sample->callers[i];
        uint32_t called_from = place_of(resolver, caller, sample->process.pid);
        if (called_from == UINT32_MAX ||
            !call_tree_node(tree, node, 1 + (int64_t)called_from, caller->offset, &node))
            return false;
        resolver->has_kernel |= called_from == PLACE_NUMBER_KERNEL;
    }
    return call_tree_node(tree, node, 1 + (int64_t)place, sample->at.offset, found);
}

static bool add_calls(struct resolver *resolver, const struct live_sample *sample, uint32_t slice,
                      uint32_t place) {
    struct call_tree *tree = &resolver->tree;
    struct known_stack *known = &resolver->known_stacks[sample->alike & (KNOWN_STACKS - 1)];
    uint32_t node;
    if (sample->alike && known->alike == sample->alike && known->slice == slice &&
        known->event == sample->event)
        node = known->node;
    else if (!find_node(resolver, sample, slice, place, &node))
        return false;
    else if (sample->alike)
        *known = (struct known_stack){sample->alike, slice, sample->event, node};
    if (node != STORE_CALL_TOP)
        tree->calls[node].value += sample->count;
    return true;
}

/* *found: the place is known, and there was room. */
static bool gather(struct resolver *resolver, const struct live_sample *sample, bool *found,
                   struct error *error) {
    struct sample_entry entry = {
        .offset = sample->at.offset, .count = sample->count, .event = sample->event};
    const uint32_t process =
        tracked_processes_find(&resolver->processes, &resolver->roots, &sample->process);
    if (process == UINT32_MAX ||
        (entry.slice = slices_find(&resolver->slices, process, sample)) == UINT32_MAX)
        return no_memory(error);
    entry.place = place_of(resolver, &sample->at, sample->process.pid);
    if (entry.place == UINT32_MAX ||
        (sample->at.place == PLACE_ANONYMOUS &&
         !tracked_processes_seek_dump(&resolver->processes, &resolver->roots, process)) ||
        (sample->at.place == PLACE_FILE &&
         !tracked_processes_seen_in(&resolver->processes, process,
                                    resolver->files.items[entry.place].path)) ||
        (sample->end != LIVE_STACK_NONE && !add_calls(resolver, sample, entry.slice, entry.place)))
        return no_memory(error);
    const bool room = sample_table_add(&resolver->table, &entry);
    if (!room)
        resolver->overflow[sample->event] += sample->count;
    resolver->has_kernel |= entry.place == PLACE_NUMBER_KERNEL;
    *found = room && entry.place != PLACE_NUMBER_UNKNOWN;
    return true;
}

/* What lasts is of every step of time that it reaches into. */
static bool gather_lasting(struct resolver *resolver, const struct live_sample *sample,
                           struct error *error) {
    struct live_sample piece = *sample;
    bool found;
    for (uint64_t left = sample->count; left; left -= piece.count) {
        const uint64_t step = slices_left(&resolver->slices, piece.time);
        piece.count = left < step ? left : step;
        if (!gather(resolver, &piece, &found, error))
            return false;
        piece.time += (int64_t)piece.count;
    }
    resolver->lasting[sample->event] += sample->count;
    return true;
}

static bool take_sample(void *context, const struct live_sample *sample, struct error *error) {
    struct resolver *resolver = context;
    bool found;
    if (!sample->count || sample->event >= resolver->event_count)
        return true;
    if (sample->lasts)
        return gather_lasting(resolver, sample, error);
    if (!gather(resolver, sample, &found, error))
        return false;
    resolver->samples += sample->count;
    resolver->unknown += found ? 0 : sample->count;
    resolver->kernel_samples += sample->at.place == PLACE_KERNEL ? sample->count : 0;
    resolver->stacks[sample->end] += sample->end != LIVE_STACK_NONE ? sample->count : 0;
    return true;
}

struct live_sink resolver_sink(struct resolver *resolver) {
    return (struct live_sink){
        .context = resolver, .process = take_process, .file = take_file, .sample = take_sample};
}

struct scan {
    struct resolver *resolver;
    uint32_t pid;
    bool good;
};

/* A file that is mapped executable now and sampled later may be deleted in between. */
static bool scan_mapping(void *context, const struct proc_mapping *mapping) {
    struct scan *scan = context;
    struct resolver *resolver = scan->resolver;
    if (!proc_mapping_is_code(mapping))
        return true;
    struct live_file file = {
        .key = {.device = mapping->device, .inode = mapping->inode},
        .path = mapping->path,
        .seen_in = scan->pid,
    };
    if (tracked_processes_dumps(&resolver->processes, scan->pid, file.path, &scan->good))
        return scan->good;
    scan->good = tracked_files_announce(&resolver->files, &resolver->roots, &resolver->processes,
                                        &file) != UINT32_MAX;
    return scan->good;
}

static bool scan_process(void *context, uint32_t pid) {
    struct scan *scan = context;
    struct resolver *resolver = scan->resolver;
    scan->pid = pid;
    scan->good = tracked_processes_scan(&resolver->processes, &resolver->roots, pid);
    if (scan->good)
        proc_each_mapping(&resolver->roots, pid, scan_mapping, scan);
    return scan->good;
}

bool resolver_scan(struct resolver *resolver, struct error *error) {
    struct scan scan = {.resolver = resolver, .good = true};
    if (!proc_each_pid(&resolver->roots, scan_process, &scan))
        return error_errno(error, "%s: cannot read which processes there are",
                           resolver->roots.proc);
    return scan.good || no_memory(error);
}

bool resolver_full(const struct resolver *resolver) {
    return resolver->table.count >= resolver->table.most / 2 ||
           resolver->tree.count >= resolver->tree.most / 2;
}

const char *resolver_note(const struct resolver *resolver) {
    return resolver->hidden
               ? "the kernel's functions are not named: their addresses are hidden (set "
                 "kernel.kptr_restrict to 1 or less and give culprit CAP_SYSLOG)"
               : NULL;
}

void resolver_statistics(const struct resolver *resolver, struct resolver_statistics *statistics) {
    const struct sample_table *table = &resolver->table;
    *statistics = (struct resolver_statistics){
        .samples = resolver->samples,
        .unknown = resolver->unknown,
        .kernel = resolver->kernel_samples,
        .coarse = resolver->slices.coarse,
        .entries = table->count,
        .entries_max = table->most,
        .processes = resolver->processes.count,
        .images = resolver->files.count,
        .bytes = sizeof *resolver + table->capacity * sizeof *table->slots +
                 slices_bytes(&resolver->slices) + tracked_processes_bytes(&resolver->processes) +
                 tracked_files_bytes(&resolver->files) + call_tree_bytes(&resolver->tree)};
    memcpy(statistics->lasting, resolver->lasting, sizeof statistics->lasting);
    memcpy(statistics->stacks, resolver->stacks, sizeof statistics->stacks);
}
