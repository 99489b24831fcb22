/* The critical path of a program with threads (simulate/thread_path.h), for icost --critical: by
 * thread and wait, and the instructions that it goes through. */
#pragma once

#include <jansson.h>

#include "report/report.h"
#include "simulate/thread_path.h"

struct thread_path_report {
    const struct thread_path *path;
    struct report report; /* whose cycles are those of the path, and the threads together */
};

/* Refers to the path and program. thread_path_report_free() either way. */
bool thread_path_report_build(const struct thread_path *path, const struct machine *machine,
                              uint32_t top, struct program *program,
                              struct thread_path_report *report, struct error *error);
void thread_path_report_free(struct thread_path_report *report);

void thread_path_text(const struct thread_path_report *report, const struct page *page);
/* A new value, null where it is not known (docs/json.md). NULL: out of memory. */
json_t *thread_path_json(const struct thread_path_report *report);
