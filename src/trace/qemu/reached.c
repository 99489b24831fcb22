/* Markers are handed out between the events that were queued before and after them. They are
 * reported as records, which may be read long before those events; so each waits here until a chunk
 * is taken that was queued later. The chunk of its own thread with the marker's block always is. */
#include <stdlib.h>
#include <string.h>

#include "trace/qemu/capture.h"

bool reached_note(struct capture *capture, uint32_t slot, const struct ring_reached *reached,
                  const uint8_t *cuts, size_t cuts_size) {
    if (reached->target != RING_NO_TARGET && reached->target >= capture->markers.target_count)
        return false;
    struct reached *noted = malloc(sizeof *noted + cuts_size);
    if (!noted) {
        capture->out_of_memory = true;
        return true;
    }
    *noted = (struct reached){.slot = slot,
                              .target = reached->target,
                              .position = reached->position,
                              .published = reached->published,
                              .cut_count = (uint32_t)(cuts_size / sizeof *noted->cuts)};
    memcpy(noted->cuts, cuts, cuts_size);
    struct reached **last = &capture->reached;
    while (*last)
        last = &(*last)->next;
    *last = noted;
    return true;
}

static void queue_markers(struct capture *capture, const struct reached *reached) {
    const struct markers *markers = &capture->markers;
    if (reached->target == RING_NO_TARGET)
        return;
    for (uint32_t i = markers->first[reached->target]; i < markers->first[reached->target + 1]; i++)
        capture_queue(capture, ITEM_MARKER)->marker =
            (struct item_marker){markers->order[i], reached->position};
}

void reached_queue(struct capture *capture, uint32_t slot, uint64_t published) {
    struct reached **at = &capture->reached;
    while (*at) {
        struct reached *reached = *at;
        if (reached->slot != slot || reached->published > published) {
            at = &reached->next;
            continue;
        }
        for (uint32_t i = 0; i < reached->cut_count; i++)
            chunks_cut(capture, slot, &reached->cuts[i]);
        queue_markers(capture, reached);
        *at = reached->next;
        free(reached);
    }
}

void reached_free(struct capture *capture) {
    while (capture->reached) {
        struct reached *reached = capture->reached;
        capture->reached = reached->next;
        free(reached);
    }
}
