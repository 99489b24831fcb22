/* The profilers that are compared with Oracle and with the golden reference (paper A §5, paper B
 * §5), each in a file of its own with a row in the table, all fed by the tap.
 *
 *     struct profile_group *group = profile_group_new(options, count, &error);
 *     struct profile_lane *lane = profile_lane_new(group);        one per core
 *     struct tap_worker worker = profile_lane_worker(lane);       tap_add_worker, the core runs
 *     profile_lane_free(lane);                                    when its tap has been flushed
 *     profile_group_finish(group, results, &error);
 *
 * Profiles that look at the same cycles in the same stage are a group, which finds each sampled
 * cycle once for all of them. All lanes of a group run on one executor's thread. The result does
 * not depend on how the lanes' buffers interleave, nor on which thread takes them, nor on the
 * groups. */
#pragma once

#include "attribute/attribute.h"
#include "attribute/commit_view.h"
#include "attribute/sampler.h"
#include "machine/machine.h"

/* A row of the table. A profiler either looks at commit, or tags a µop in the front end and returns
 * the sample when that µop commits. A tag belongs to a sequence number: when an ordering violation
 * squashes the µop, the µop with the same number is dispatched again and commits later. */
struct profiler {
    const char *name, *description;
    const char *section; /* where it is described */
    uint32_t events;     /* enum psv: what its samples tell of; 0: no cycle stacks */
    /* At commit: writes the µops that a sample in such a cycle names, oldest first, each having an
     * equal share. Returns how many, at most COMMIT_GROUP_MAX. 0: the sample names those of the
     * next commit, which is yet to come; the function is called again in that commit's cycle. NULL:
     * the profiler tags. */
    unsigned (*at_commit)(const struct commit_view *view, uint64_t *uops);
    /* Tagging: it tags the oldest µop of the first such record at or after the sampled cycle. */
    enum tap_kind tags; /* TAP_DISPATCH or TAP_FETCH */
    bool wide;          /* a sample has an address for every µop that can commit in a cycle */
    /* Bytes of hardware that it adds to a core; NULL: nothing but the tag's events, or the papers
     * do not tell. */
    uint32_t (*storage_bytes)(const struct machine_core *core);
};

extern const struct profiler *const profilers[];        /* NULL at the end; in the papers' order */
const struct profiler *profiler_find(const char *name); /* whatever its case; NULL: none */

/* Size of a sample as perf stores it, in words of 8 bytes: 40 bytes that tell core, process and
 * thread; the cycle; the address, or (wide) one for each of `commit_width` and the flags (paper A
 * §3.2: 56 and 88 bytes at width 4). Signatures go where the flags leave room (paper B §3: 88 bytes
 * with nine events), and into words of their own where they do not. */
uint32_t profiler_sample_bytes(const struct profiler *profiler, uint32_t commit_width);

/* Bytes of registers and of bits in the core's queues that its hardware takes. Paper A §3.2: TIP
 * 57 on a core that commits four; paper B §3: TEA 249 more on boom-tea, 306 with TIP; IBS, SPE and
 * RIS a bit for each event. 0: the papers do not say. */
uint32_t profiler_storage_bytes(const struct profiler *profiler, const struct machine_core *core);

struct profile_options {
    const struct profiler *profiler;
    struct sampler_options sampling;
    uint32_t commit_width; /* of the cores, µops */
};

/* Whether they may be in one group: with the same sampling, at commit or with the same tags. */
bool profiles_go_together(const struct profile_options *a, const struct profile_options *b);

struct profile_group;
struct profile_group *profile_group_new(const struct profile_options *options, uint32_t count,
                                        struct error *error);
void profile_group_free(struct profile_group *group);

struct profile_lane;
struct profile_lane *profile_lane_new(struct profile_group *group); /* NULL: out of memory */
struct tap_worker profile_lane_worker(struct profile_lane *lane);
/* Samples that still wait for a µop are lost. */
void profile_lane_free(struct profile_lane *lane);

struct profile_result {
    uint64_t period; /* cycles */
    uint64_t samples;
    uint64_t bytes; /* of sample data */
    uint64_t lost;  /* cycles that the lost samples stood for */
    /* 1/840 cycles that the samples stand for. Without events, all cells have signature 0. Owned by
     * the group. */
    const struct pics *pics;
};
/* Once all lanes are freed: one for each of the options. */
bool profile_group_finish(struct profile_group *group, struct profile_result *results,
                          struct error *error);
