/* A source that begins with what was kept of another in a file and goes on with that one. */
#pragma once

#include "trace/item.h"

/* `rest` is taken over when this succeeds; `drained`: it has nothing more, and ended with `exit`.
 */
bool resumed_source_open(const char *path, const struct item_source *rest, bool drained,
                         struct trace_exit exit, struct item_source *source, struct error *error);
