/* What would be saved of the elapsed time of a program with threads if a cause were gone: part of
 * the report of `explain`, in place of what_if.h. */
#pragma once

#include <jansson.h>

#include "report/threads_report.h"
#include "simulate/thread_what_if.h"

/* Nothing when nothing saves 1 % of the time. */
void thread_what_ifs_text(const struct threads_report *threads, const struct page *page);
/* A new value; null when nothing was asked for (docs/json.md). NULL: out of memory. */
json_t *thread_what_ifs_json(const struct threads_report *threads);
