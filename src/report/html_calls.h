/* Who called whom in two runs, for a page (docs/html.md). */
#pragma once

#include "query/call_difference.h"
#include "report/html.h"

/* One object, the data "calls", where there is a page and the calls of both are known. False: out
 * of memory. */
bool html_calls_write(struct html *html, const struct call_difference *difference,
                      struct error *error);
