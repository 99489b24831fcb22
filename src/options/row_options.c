#include "options/row_options.h"

#include "options/options.h"

#define REQUEST struct row_options
static const struct option_row OPTIONS[] = {
    HEADING(2, "Which rows:"),
    CHOICE(
        "by", "GRAIN", by,
        "procedure (default), image, build, line, process, pid, thread, cpu, cgroup, host, epoch",
        profile_by_names),
    LIST("event", "NAME", events, event_count,
         "Of this event; where several are shown it may be repeated, and rows are sorted by the "
         "first"),
    IMAGE_ROW(image),
    {0}};

const struct option_group rows_group = {.options = OPTIONS};
