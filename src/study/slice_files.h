/* `sim --slices`: where slices end, and the file that records go to. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "simulate/slicing.h"
#include "util/error.h"
#include "util/output.h"

enum { SLICES_DEFAULT_SIZE = 10000000 };

struct slices_request {
    const char *path; /* NULL: slices are not recorded */
    uint64_t size;    /* instructions; 0: as `like` has them, or SLICES_DEFAULT_SIZE */
    const char *like; /* a table of slices (region/slices.h); NULL: none */
};

struct slices {
    struct output file;
    struct slicing slicing;
    struct slice_end *ends; /* own */
};

/* Reads the table and makes the file. slices_discard() in any case. */
bool slices_open(struct slices *slices, const struct slices_request *request, struct error *error);
bool slices_write(struct slices *slices, const struct slice_record *records, size_t count,
                  struct error *error);
void slices_discard(struct slices *slices);
