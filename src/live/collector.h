/* Samples of the whole machine, aggregated in the kernel (DCPI §4.2): a BPF program on a perf event
 * on every processor counts (process, address, event) in a table of that processor; the place of an
 * address is found when it is first inserted. Nothing is lost silently: what found no room is
 * counted. Needs CAP_BPF and CAP_PERFMON (and CAP_SYS_PTRACE for /proc of others), or root. */
#pragma once

#include "live/live.h"

struct collector;

struct collector_options {
    const struct live_event *events; /* copied */
    size_t event_count;
    uint32_t entries; /* of the table of each processor; 0: a default */
    bool empty; /* a program that does nothing in place of ours: what the bare interrupt costs */
};

struct collector_statistics {
    uint64_t samples;                  /* interrupts taken, all processors, since the beginning; but
                                          not those in which the kernel runs no BPF program: in the
                                          middle of another, or of a change to a map of theirs */
    uint64_t hits;                     /* of them found in the table */
    uint64_t inserted;                 /* of them new in the table */
    uint64_t searched;                 /* of the places looked up, those that took the lock of the
                                          process's mappings: all before Linux 6.4, else few */
    uint64_t unresolved;               /* user addresses in no mapping: PLACE_UNKNOWN */
    uint64_t evicted;                  /* entries that went to the overflow buffer before a drain */
    uint64_t dropped;                  /* samples lost for want of room */
    uint64_t program_ns, program_runs; /* time in the BPF program, when the kernel counts it
                                          (kernel.bpf_stats_enabled); else 0 */
    uint64_t bytes;                    /* of kernel memory */
    uint32_t processors;
};

/* Starts sampling. The error names the missing capability or sysctl. */
struct collector *collector_new(const struct collector_options *options, struct error *error);
void collector_free(struct collector *collector);

/* A descriptor to poll for reading: an overflow buffer has passed half, drain soon. */
int collector_descriptor(const struct collector *collector);

/* Delivers and forgets everything that was counted so far. Sampling goes on meanwhile; a sample is
 * delivered exactly once. */
bool collector_drain(struct collector *collector, const struct live_sink *sink,
                     struct error *error);

/* Samples at these events' periods from now on; they are its events but for that. */
void collector_set_periods(struct collector *collector, const struct live_event *events);

/* How long each event was enabled and counted so far, on all processors; `times` has room for all.
 */
struct live_event_times;
void collector_times(struct collector *collector, struct live_event_times *times);

void collector_statistics(const struct collector *collector,
                          struct collector_statistics *statistics);
