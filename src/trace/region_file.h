/* Regions of a trace file, each into a trace of its own: where they are is known, so that no marker
 * has to be found. */
#pragma once

#include "trace/region_capture.h"

/* As region_capture_start(), for the file at `path` in place of a command: a region is [first,
 * first + instructions) of its thread, to the thread's end when it has no end marker. */
struct region_capture *region_capture_file(const struct region_capture_options *options,
                                           struct capture_region *regions, size_t count,
                                           const char *path, struct error *error);
