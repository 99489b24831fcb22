/* What `culprit stat` tells of the runs of a command. */
#pragma once

#include "live/usage.h"
#include "report/page.h"
#include "util/error.h"

/* `name`: the command as typed. */
bool usage_text(const struct usages *usages, const char *name, const struct page *page,
                struct error *error);
/* What to do next with the command. */
bool usage_next_text(const char *name, const struct page *page, struct error *error);
/* docs/json.md */
bool usage_json(const struct usages *usages, const char *name, FILE *file, struct error *error);
