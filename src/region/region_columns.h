/* Inside of the region room: the columns of a list of regions, which regions_read.c and
 * regions_write.c share. See regions.h. */
#pragma once

enum region_column {
    COMMENT,
    PROCESS,
    THREAD,
    ID,
    SLICE,
    START_ICOUNT,
    END_ICOUNT,
    START_MARKER, /* image, build id, offset, count */
    END_MARKER = START_MARKER + 4,
    LENGTH = END_MARKER + 4,
    WEIGHT,
    MULTIPLIER,
    CHOSEN_COLUMNS, /* of a list whose regions were not captured yet */
    TRACE = CHOSEN_COLUMNS,
    TRACE_START,
    TRACE_END,
    SKEW,
    COLUMNS
};

extern const char *const region_columns[COLUMNS];
