/* Which rows of a profile: the options of verbs that show profiles of the store. */
#pragma once

#include "options/option.h"
#include "query/profile_table.h"

enum { PROFILE_OPTIONS_EVENTS = 16 };

struct row_options {
    enum profile_by by;
    const char *events[PROFILE_OPTIONS_EVENTS];
    size_t event_count; /* 0: all, or the first */
    const char *image;
};
extern const struct option_group rows_group; /* --by, --event, --image */
