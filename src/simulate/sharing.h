/* Runs programs side by side on the chip of a machine (core/multithreaded/chip.h): a trace file per
 * hardware thread, begun again at its end, until every one has run to its end once. A program is
 * run alone by leaving the other threads idle. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/multithreaded/chip.h"
#include "simulate/selection.h"
#include "util/watcher.h"

struct sharing_options {
    const struct machine *machine; /* of cores as a chip has them */
    const char *const *traces;     /* path per hardware thread, cores × threads; NULL: it is idle.
                                      Of a trace of several guest threads the
                                      selected one, or the first. Files: they are read again */
    struct selection selection;    /* of each; a program is what it selects */
    struct watcher watcher;        /* told the instructions of first runs */
};

struct sharing_result {
    uint32_t threads;                     /* cores × threads */
    struct chip_thread_statistics *first; /* per hardware thread: first run of its program */
    struct chip_thread_statistics *all;   /* until the last had run once: throughput */
    uint64_t cycles;                      /* until then, or a little later */
    double seconds;                       /* processor time */
    bool interrupted;
};

/* Any machine that machine_check_chip() takes. Errors: traces of different ISAs, an empty one, one
 * without addresses. sharing_free() either way. */
bool sharing_run(const struct sharing_options *options, struct sharing_result *result,
                 struct error *error);
void sharing_free(struct sharing_result *result);
