/* What the parts of the resolver share. */
#pragma once

#include "live/resolver.h"
#include "live/sample_table.h"
#include "live/tracked_files.h"
#include "live/tracked_processes.h"

/* Places of samples: numbers of files, and these. */
enum place_number {
    PLACE_NUMBER_UNKNOWN = INT32_MAX - 3,
    PLACE_NUMBER_ANONYMOUS,
    PLACE_NUMBER_VDSO,
    PLACE_NUMBER_KERNEL
};

struct resolver {
    struct live_roots roots;
    struct tracked_processes processes;
    struct tracked_files files;
    struct sample_table table;
    uint64_t overflow[LIVE_EVENTS_MAX]; /* samples that the table had no room for */
    size_t event_count;
    bool has_kernel; /* samples of the kernel are in the table */
    bool hidden;     /* the kernel's symbols are needed, and not shown to us */
    uint64_t samples, unknown, kernel_samples;
};

/* As resolver_new(), of the machine as these roots show it (the caller's strings). */
struct resolver *resolver_new_in(const struct live_roots *roots, const struct live_event *events,
                                 size_t event_count, size_t entries, struct error *error);
