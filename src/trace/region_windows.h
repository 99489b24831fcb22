/* Which chunks of a thread belong into the traces of which regions, decided from what is known when
 * a chunk comes: the markers that were reached up to its end, and where the others are expected.
 * No input or output here. */
#pragma once

#include "trace/region_capture.h"

struct region_thread {
    uint32_t thread;
    size_t first, end; /* its regions: order[first .. end − 1] */
    size_t next;       /* those before are finished */
    bool seen;
    uint64_t position;   /* instructions read of it */
    uint64_t last_first; /* expected position of the region that started last; 0: none has */
    int64_t drift;       /* its skew */
};

struct region_windows {
    struct capture_region *regions; /* the caller's */
    size_t count;
    const struct capture_image *images;
    size_t image_count;
    uint64_t warm_up;
    bool told;        /* what comes before regions is; their traces begin when they are found */
    uint64_t written; /* with `told`: instructions before a region that its trace holds */
    uint32_t *order;  /* numbers of regions, by thread and place */
    struct region_thread *threads;
    size_t thread_count;
    size_t open, complete, failed;
};

/* Fails when regions of a thread overlap, or too many traces would be written at once. */
bool region_windows_init(struct region_windows *windows, struct error *error);
void region_windows_free(struct region_windows *windows);

/* NULL: no region lies in it. */
struct region_thread *region_windows_thread(struct region_windows *windows, uint32_t thread);
/* Instructions that no region wants, at the beginning of each thread. */
uint64_t region_windows_skip(const struct region_windows *windows);

/* The only thread with regions still to come, when nothing of it is wanted for some while: until
 * *until. NULL: something is. */
struct region_thread *region_windows_idle(struct region_windows *windows, uint64_t *until);

/* A region's marker was reached, at an instruction of its thread whose chunk was not yet judged. */
void region_windows_started(struct region_windows *windows, size_t number, uint64_t position);
void region_windows_ended(struct region_windows *windows, size_t number, uint64_t position);

/* What to do with a chunk [first, last) of the region's thread. */
enum window {
    WINDOW_LATER, /* nothing, nor for the regions behind it */
    WINDOW_PASS,  /* nothing */
    WINDOW_HOLD,  /* it comes before the region, which is not yet found */
    WINDOW_OPEN,  /* begin its trace, with this chunk */
    WINDOW_WRITE  /* to its trace */
};
enum window region_windows_judge(struct region_windows *windows, size_t number, uint64_t first,
                                 uint64_t last);
/* The chunk was written. True: the region is complete. */
bool region_windows_written(struct region_windows *windows, size_t number, uint64_t last);
/* The region's thread ended. True: the region, which is open, is complete. */
bool region_windows_thread_ended(struct region_windows *windows, size_t number);
/* Nothing more comes of the command. */
void region_windows_command_ended(struct region_windows *windows, size_t number);

void region_windows_fail(struct region_windows *windows, size_t number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline bool region_is_finished(const struct capture_region *region) {
    return region->state == REGION_COMPLETE || region->state == REGION_FAILED;
}
