/* What `culprit record` tells: the summary of a recording. */
#pragma once

#include <stdio.h>

#include "live/recording.h"
#include "report/page.h"

/* `store`: what the next command has to name; NULL: the default one. */
bool recording_text(const struct recording *recording, const char *store, const struct page *page,
                    struct error *error);
bool recording_json(const struct recording *recording, FILE *file, struct error *error);
