/* Markers in culprit's process: given to the plugin at the start, and translated back when a thread
 * reaches one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/process_match.h"
#include "trace/qemu/images.h"
#include "trace/qemu/ring.h"
#include "trace/trace.h"
#include "util/error.h"

struct markers {
    const struct capture_image *images; /* the caller's */
    size_t image_count;
    uint32_t *order; /* numbers of the caller's markers, by target */
    uint32_t *first; /* of each target in order[], and one more */
    uint32_t target_count;
    struct process_match processes;
};

/* Writes the tables that the plugin reads. Fails when there are too many of them. */
bool markers_start(struct markers *markers, const struct capture_markers *wanted,
                   struct ring_control *control, struct error *error);
void markers_free(struct markers *markers);

/* `image` of the sites in a mapping (of no file: image NULL), or RING_UNMARKED. */
uint32_t markers_image(const struct markers *markers, const struct image *image);
