/* Regions from any source of items, which tells of the markers itself: what region_capture_start()
 * is made of, and how tests feed it by hand. */
#pragma once

#include "trace/item.h"
#include "trace/region_capture.h"

/* Takes over the source (closes it also on failure). Its markers: of each region the start and,
 * unless it ends with its thread, the end. */
struct region_capture *region_capture_from(const struct region_capture_options *options,
                                           struct capture_region *regions, size_t count,
                                           const struct item_source *source, struct error *error);
