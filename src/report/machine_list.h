/* What `culprit machines` lists: every machine, and which are the defaults on this host. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

/* As text or as one JSON object. A machine that cannot be read is told to `complain`, and the
 * others are listed: false all the same. False with an error: nothing more could be printed. */
bool machine_list_print(bool json, void (*complain)(const struct error *error), FILE *file,
                        struct error *error);
