#include "region/region_traces.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct capture_marker marker_of(const struct region_marker *marker) {
    return (struct capture_marker){
        .image = marker->image, .offset = marker->offset, .count = marker->count};
}

static bool describe_processes(struct region_traces *traces) {
    const struct region_list *list = traces->list;
    if (!region_list_has_origins(list))
        return true;
    traces->processes = calloc(list->process_count + 1, sizeof *traces->processes);
    if (!traces->processes)
        return false;
    for (; traces->process_count < list->process_count; traces->process_count++) {
        const struct slice_process *process = &list->processes[traces->process_count];
        traces->processes[traces->process_count] =
            (struct capture_process){.executable = process->executable,
                                     .command = process->command,
                                     .forker = process->forker,
                                     .fork = process->fork,
                                     .generation = process->generation};
    }
    return true;
}

static bool describe(struct region_traces *traces) {
    const struct region_list *list = traces->list;
    traces->regions = calloc(list->region_count + 1, sizeof *traces->regions);
    traces->images = calloc(list->image_count + 1, sizeof *traces->images);
    traces->paths = calloc(list->region_count + 1, sizeof *traces->paths);
    if (!traces->regions || !traces->images || !traces->paths || !describe_processes(traces))
        return false;
    for (size_t i = 0; i < list->image_count; i++) {
        const struct region_image *image = &list->images[i];
        traces->images[i] =
            (struct capture_image){.path = image->path, .build_id_size = image->build_id_size};
        memcpy(traces->images[i].build_id, image->build_id, sizeof image->build_id);
    }
    for (size_t i = 0; i < list->region_count; i++) {
        struct region *region = &list->regions[i];
        if (asprintf(&traces->paths[i], "%s.r%" PRIu32 ".ctrace", traces->options.prefix,
                     region->id) < 0) {
            traces->paths[i] = NULL;
            return false;
        }
        free(region->trace);
        region->trace = NULL;
        traces->regions[i] = (struct capture_region){.id = region->id,
                                                     .process = region->process,
                                                     .thread = region->thread,
                                                     .ordinal = region_list_ordinal(list, region),
                                                     .first = region->first,
                                                     .instructions = region->instructions,
                                                     .start = marker_of(&region->start),
                                                     .end = marker_of(&region->end),
                                                     .path = traces->paths[i]};
    }
    return true;
}

static void on_complete(void *context, const struct capture_region *captured) {
    struct region_traces *traces = context;
    size_t number = (size_t)(captured - traces->regions);
    struct region *region = &traces->list->regions[number];
    region->trace = strdup(file_name(captured->path));
    region->trace_start = region_trace_start(captured);
    region->trace_end = region_trace_end(captured);
    region->skew = region_skew(captured);
    if (traces->options.complete && region->trace)
        traces->options.complete(traces->options.context, number);
}

static void on_progress(void *context, const struct region_capture_progress *sofar) {
    struct region_traces *traces = context;
    if (traces->options.progress)
        traces->options.progress(traces->options.context, sofar);
}

static bool has_children(const struct region_list *list) {
    return any_where(i, list->region_count, list->regions[i].process);
}

bool region_traces_start(struct region_traces *traces, struct region_list *list,
                         const struct region_traces_options *options, int *exec_status,
                         struct error *error) {
    *exec_status = 125;
    *traces = (struct region_traces){.list = list, .options = *options};
    if (!describe(traces))
        return error_set(error, "out of memory for %zu regions", list->region_count);
    struct region_capture_options what = {.capture = options->capture,
                                          .images = traces->images,
                                          .image_count = list->image_count,
                                          .processes = traces->processes,
                                          .process_count = traces->process_count,
                                          .list_command = list->command,
                                          .warm_up = options->warm_up,
                                          .other_threads = options->other_threads,
                                          .compress = options->compress,
                                          .progress = on_progress,
                                          .complete = on_complete,
                                          .context = traces};
    what.capture.follow |= has_children(list);
    traces->capture =
        region_capture_start(&what, traces->regions, list->region_count, exec_status, error);
    return traces->capture != NULL;
}

bool region_traces_run(struct region_traces *traces, struct error *error) {
    return region_capture_run(traces->capture, error);
}

void region_traces_close(struct region_traces *traces) {
    region_capture_close(traces->capture);
    array_free_each(traces->paths, traces->list->region_count);
    free(traces->images);
    free(traces->processes);
    free(traces->regions);
    *traces = (struct region_traces){0};
}

static bool cut_ending(char *name, const char *ending) {
    size_t length = strlen(name), size = strlen(ending);
    bool has = length > size && strcmp(name + length - size, ending) == 0;
    if (has)
        name[length - size] = 0;
    return has;
}

char *region_traces_prefix(const char *list) {
    const char *slash = strrchr(list, '/');
    char *name = strdup(slash ? slash + 1 : list);
    if (name) {
        cut_ending(name, ".csv");
        cut_ending(name, ".regions");
    }
    return name;
}
