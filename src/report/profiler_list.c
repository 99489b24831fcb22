#include "report/profiler_list.h"

#include "attribute/profiler.h"

void profiler_list_text(FILE *file) {
    for (const struct profiler *const *row = profilers; *row; row++) {
        const struct profiler *profiler = *row;
        fprintf(file, "%-9s %s\n%-9s %s", profiler->name, profiler->description, "",
                profiler->section);
        if (profiler->events)
            fprintf(file, "; tells of");
        for (unsigned event = 0; event < PSV_BITS; event++)
            if (profiler->events & 1u << event)
                fprintf(file, " %s", psv_name(event));
        fputc('\n', file);
    }
}
