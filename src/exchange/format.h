/* Inside of the exchange room: the formats, a row each. */
#pragma once

#include "exchange/exchange.h"
#include "exchange/export.h"
#include "exchange/import.h"

struct exchange_row {
    const char *name;
    const char *viewer; /* a command that shows a file, which it takes last */
    bool (*write)(struct export *export);
    bool (*read)(struct input *input, struct import *import, struct error *error); /* or NULL */
    const char *ending; /* of files' names that are of this format; NULL: none */
    bool columns;       /* of a simulation it has several values: instructions beside cycles */
};
extern const struct exchange_row exchange_formats[EXCHANGE_FORMATS];
