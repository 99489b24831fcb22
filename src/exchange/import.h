/* What the readers of each format fill in. They set of the session what the file tells; start and
 * end are those of the file unless they do. */
#pragma once

#include "exchange/gathered.h"
#include "exchange/input.h"

enum { IMPORT_TEXT_BYTES = 256 };

struct import {
    struct gathered gathered;
    struct store_session session; /* strings as below, or static */
    char host[IMPORT_TEXT_BYTES], kernel[IMPORT_TEXT_BYTES], processor[IMPORT_TEXT_BYTES];
    uint64_t records, unplaced; /* see struct exchange_imported */
};

bool import_perf_script(struct input *input, struct import *import, struct error *error);
bool import_pprof(struct input *input, struct import *import, struct error *error);
