/* What comes before a region is known to be so only when the region is found. Until then the last
 * chunks of its thread are held, as many as its trace is to begin with; a chunk that is older than
 * those is in no trace, and is told at once. */
#include "trace/region_capture_parts.h"

#include <stdlib.h>

static struct held_chunks *held_of(const struct region_capture *capture,
                                   const struct region_thread *thread) {
    return &capture->held[thread - capture->windows.threads];
}

static bool tell(const struct region_capture *capture, const struct capture_region *region,
                 const struct item_data *data, struct error *error) {
    const struct kept_process *process = capture->processes[data->process].kept;
    return data->first_insn < region->told_first ||
           capture->options.before(capture->options.context, region, data, &process->code, error);
}

/* To all regions that are not yet found. */
static bool tell_oldest(const struct region_capture *capture, const struct region_thread *thread,
                        struct error *error) {
    const struct region_windows *windows = &capture->windows;
    const struct item_data *data = &held_of(capture, thread)->chunks[0].data;
    for (size_t i = thread->next; i < thread->end; i++) {
        const struct capture_region *region = &windows->regions[windows->order[i]];
        if (region->state == REGION_TOLD && !tell(capture, region, data, error))
            return false;
    }
    return true;
}

bool region_capture_hold(struct region_capture *capture, const struct region_thread *thread,
                         const struct item_data *data, struct error *error) {
    struct held_chunks *held = held_of(capture, thread);
    if (!held_chunks_add(held, data, capture->chunk_events))
        return region_capture_out_of_memory(error);
    while (held->insns - held->chunks[0].data.insn_count >= capture->options.written) {
        if (!tell_oldest(capture, thread, error))
            return false;
        held_chunks_drop(held);
    }
    return true;
}

void region_capture_hold_nothing(struct region_capture *capture,
                                 const struct region_thread *thread) {
    if (capture->held)
        held_chunks_clear(held_of(capture, thread));
}

bool region_capture_tell_held(const struct region_capture *capture,
                              const struct region_thread *thread,
                              const struct capture_region *region, const struct item_data *data,
                              struct error *error) {
    const struct held_chunks *held = held_of(capture, thread);
    for (size_t i = 0; i < held->count; i++)
        if (!tell(capture, region, &held->chunks[i].data, error))
            return false;
    return tell(capture, region, data, error);
}

bool region_capture_write_held(const struct region_capture *capture,
                               const struct region_thread *thread, struct capture_region *region,
                               struct region_writer *writer, struct error *error) {
    const struct held_chunks *held = held_of(capture, thread);
    for (size_t i = 0; i < held->count; i++) {
        const struct held_chunk *chunk = &held->chunks[i];
        if (chunk->data.first_insn < region->told_first)
            continue;
        if (chunk->data.first_insn < region->trace_first)
            region->trace_first = chunk->data.first_insn;
        if (!region_writer_data(writer, &chunk->data,
                                (struct chunk_events){chunk->events, chunk->event_count}, true,
                                error))
            return false;
    }
    return true;
}
