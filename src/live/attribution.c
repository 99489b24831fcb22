/* Takes what collectors deliver. Processes and files are looked at when they first appear, most
 * likely while they are there; places in the kernel and in code made at run time are left as
 * addresses until they are saved (attribution_save.c). */
#include "live/attribution.h"

#include <stdlib.h>
#include <string.h>

#include "live/attribution_internal.h"
#include "live/kernel_map.h"

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for the samples gathered");
}

struct attribution *attribution_new_in(const struct live_roots *roots,
                                       const struct live_event *events, size_t event_count,
                                       size_t entries, struct error *error) {
    struct attribution *attribution = calloc(1, sizeof *attribution);
    if (event_count > LIVE_EVENTS_MAX || entries > PLACE_NUMBER_UNKNOWN) {
        free(attribution);
        error_set(error, "too many events or entries to gather samples of");
        return NULL;
    }
    if (!attribution || !sample_table_init(&attribution->table, entries)) {
        free(attribution);
        no_memory(error);
        return NULL;
    }
    attribution->roots = *roots;
    attribution->event_count = event_count;
    bool kernel = false;
    for (size_t i = 0; i < event_count; i++)
        kernel |= events[i].kernel;
    attribution->hidden = kernel && kernel_map_is_hidden(roots);
    return attribution;
}

struct attribution *attribution_new(const struct live_event *events, size_t event_count,
                                    size_t entries, struct error *error) {
    const struct live_roots roots = {.proc = "/proc", .sys = "/sys", .files = ""};
    return attribution_new_in(&roots, events, event_count, entries, error);
}

void attribution_free(struct attribution *attribution) {
    if (!attribution)
        return;
    tracked_processes_free(&attribution->processes);
    tracked_files_free(&attribution->files);
    sample_table_free(&attribution->table);
    free(attribution);
}

static bool take_process(void *context, const struct live_process *process, struct error *error) {
    struct attribution *attribution = context;
    return tracked_processes_announce(&attribution->processes, &attribution->roots, process) !=
               UINT32_MAX ||
           no_memory(error);
}

static bool take_file(void *context, const struct live_file *file, struct error *error) {
    struct attribution *attribution = context;
    uint32_t number = tracked_files_announce(&attribution->files, &attribution->roots,
                                             &attribution->processes, file);
    return (number != UINT32_MAX &&
            tracked_processes_maps(&attribution->processes, file->seen_in, file->path)) ||
           no_memory(error);
}

/* UINT32_MAX: out of memory. */
static uint32_t place_of(struct attribution *attribution, const struct live_sample *sample,
                         uint32_t process) {
    switch (sample->place) {
    case PLACE_KERNEL:
        return PLACE_NUMBER_KERNEL;
    case PLACE_ANONYMOUS:
        return PLACE_NUMBER_ANONYMOUS;
    case PLACE_VDSO:
        return PLACE_NUMBER_VDSO;
    case PLACE_FILE:
        break;
    default:
        return PLACE_NUMBER_UNKNOWN;
    }
    uint32_t file = tracked_files_find(&attribution->files, &attribution->roots,
                                       &attribution->processes, &sample->file, sample->process.pid);
    if (file == UINT32_MAX || !tracked_processes_seen_in(&attribution->processes, process,
                                                         attribution->files.items[file].path))
        return UINT32_MAX;
    return file;
}

static bool take_sample(void *context, const struct live_sample *sample, struct error *error) {
    struct attribution *attribution = context;
    if (!sample->count || sample->event >= attribution->event_count)
        return true;
    struct sample_entry entry = {
        .offset = sample->offset, .count = sample->count, .event = sample->event};
    entry.process =
        tracked_processes_find(&attribution->processes, &attribution->roots, &sample->process);
    if (entry.process == UINT32_MAX)
        return no_memory(error);
    entry.place = place_of(attribution, sample, entry.process);
    if (entry.place == UINT32_MAX)
        return no_memory(error);
    bool known = entry.place != PLACE_NUMBER_UNKNOWN;
    if (!sample_table_add(&attribution->table, &entry)) {
        attribution->overflow[sample->event] += sample->count;
        known = false;
    }
    attribution->samples += sample->count;
    attribution->unknown += known ? 0 : sample->count;
    if (entry.place == PLACE_NUMBER_KERNEL) {
        attribution->kernel_samples += sample->count;
        attribution->has_kernel = true;
    }
    return true;
}

struct live_sink attribution_sink(struct attribution *attribution) {
    return (struct live_sink){
        .context = attribution, .process = take_process, .file = take_file, .sample = take_sample};
}

struct scan {
    struct attribution *attribution;
    uint32_t pid;
    bool good;
};

/* A file that is mapped executable now and sampled later may be deleted in between. */
static bool scan_mapping(void *context, const struct proc_mapping *mapping) {
    struct scan *scan = context;
    struct attribution *attribution = scan->attribution;
    if (!mapping->executable || !mapping->inode || mapping->path[0] != '/')
        return true;
    struct live_file file = {
        .key = {.device = mapping->device, .inode = mapping->inode},
        .path = mapping->path,
        .seen_in = scan->pid,
    };
    scan->good = tracked_files_announce(&attribution->files, &attribution->roots,
                                        &attribution->processes, &file) != UINT32_MAX;
    return scan->good;
}

static bool scan_process(void *context, uint32_t pid) {
    struct scan *scan = context;
    struct attribution *attribution = scan->attribution;
    scan->pid = pid;
    scan->good = tracked_processes_scan(&attribution->processes, &attribution->roots, pid);
    if (scan->good)
        proc_each_mapping(&attribution->roots, pid, scan_mapping, scan);
    return scan->good;
}

bool attribution_scan(struct attribution *attribution, struct error *error) {
    struct scan scan = {.attribution = attribution, .good = true};
    if (!proc_each_pid(&attribution->roots, scan_process, &scan))
        return error_errno(error, "%s: cannot read which processes there are",
                           attribution->roots.proc);
    return scan.good || no_memory(error);
}

bool attribution_full(const struct attribution *attribution) {
    return attribution->table.count >= attribution->table.most / 2;
}

const char *attribution_note(const struct attribution *attribution) {
    return attribution->hidden
               ? "the kernel's functions are not named: their addresses are hidden (set "
                 "kernel.kptr_restrict to 1 or less and give culprit CAP_SYSLOG)"
               : NULL;
}

void attribution_statistics(const struct attribution *attribution,
                            struct attribution_statistics *statistics) {
    const struct sample_table *table = &attribution->table;
    *statistics = (struct attribution_statistics){
        .samples = attribution->samples,
        .unknown = attribution->unknown,
        .kernel = attribution->kernel_samples,
        .entries = table->count,
        .entries_max = table->most,
        .processes = attribution->processes.count,
        .images = attribution->files.count,
        .bytes = sizeof *attribution + table->capacity * sizeof *table->slots +
                 tracked_processes_bytes(&attribution->processes) +
                 tracked_files_bytes(&attribution->files)};
}
