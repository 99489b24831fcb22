/* The table of formats. */
#include "report/run_format.h"

#include <string.h>

#include "util/text.h"

static const struct run_format FORMATS[] = {
    {"gem5-stats", "less", "stats.txt", false, gem5_stats_write},
    {"chrome-trace", "open in ui.perfetto.dev:", ".trace.json", true, trace_events_write},
};
enum { FORMATS_COUNT = sizeof FORMATS / sizeof *FORMATS };

const struct run_format *run_format_find(const char *name) {
    for (unsigned i = 0; i < FORMATS_COUNT; i++)
        if (!strcmp(FORMATS[i].name, name))
            return &FORMATS[i];
    return NULL;
}

const struct run_format *run_format_of_file(const char *path) {
    for (unsigned i = 0; i < FORMATS_COUNT; i++)
        if (text_ends_with(path, FORMATS[i].ending))
            return &FORMATS[i];
    return NULL;
}
