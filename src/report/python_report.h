/* The part of a report that is about Python. */
#pragma once

#include "query/python_rows.h"
#include "report/report.h"

/* Tables of lines and of functions; nothing when no Python was run, or nobody looked. */
void python_report_draw(const struct report *report, const struct page *page);
