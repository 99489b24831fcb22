/* Slices: samples that the store tells apart beyond the names of their processes, by process id,
 * thread, processor, control group and time, so that each may be looked at alone. Their number in
 * an epoch is bounded: every 1024 of them double the steps of time; beyond the limit process id,
 * thread and processor are no longer told apart, and such samples are counted. */
#pragma once

#include "live/live.h"
#include "util/hash_index.h"

struct sample_slicing {
    bool pid, thread, processor, cgroup;
    uint64_t step_ns; /* of time; 0: it is not told apart */
};

/* Parses "pid,thread,cpu,cgroup,time=1s", any of them, or "none". */
bool sample_slicing_parse(const char *text, struct sample_slicing *slicing, struct error *error);

struct sample_slice {
    uint32_t process;           /* a number of the owner's */
    uint32_t thread, processor; /* of a sample; 0: not told apart */
    bool coarse;                /* beyond the limit */
    int64_t begin, end;         /* ns since 1970; 0: not told apart */
};

enum { SLICES_MOST = 16384, SLICES_LENGTHEN = 1024 };

struct slices { /* all zero: nothing is told apart */
    struct sample_slicing by;
    uint64_t step_ns;    /* of time, now */
    uint64_t saved;      /* rows of the store that slices of this epoch take */
    uint64_t lengthened; /* how often the steps were */
    struct sample_slice *items;
    size_t count, capacity;
    struct hash_index index;
    uint64_t coarse; /* samples beyond the limit, since the beginning; of waits none */
};

/* What is told apart in the epoch that begins now. */
void slices_begin(struct slices *slices, const struct sample_slicing *by);
/* How long from a time on a slice lasts: ns; UINT64_MAX: time is not told apart. */
uint64_t slices_left(const struct slices *slices, int64_t time);
/* The number of the slice of a sample of this process; UINT32_MAX: out of memory. */
uint32_t slices_find(struct slices *slices, uint32_t process, const struct live_sample *sample);
void slices_clear(struct slices *slices); /* of what was saved */
void slices_free(struct slices *slices);
size_t slices_bytes(const struct slices *slices);
