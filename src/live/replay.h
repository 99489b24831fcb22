/* From perf's records in the order of their time to what a live_sink takes: follows forks, execs
 * and mappings, so that an address is looked up in the map that was valid when the sample was
 * taken. */
#pragma once

#include "live/live.h"
#include "live/perf_record.h"
#include "live/python_frames.h"
#include "live/unwinder.h"
#include "live/waits.h"

struct replay;

struct replay_statistics {
    uint64_t samples;
    uint64_t processes;  /* that are followed now */
    uint64_t lost_tasks; /* of them, of what is told of processes and threads, as far as is known */
    uint64_t lost;       /* records that found no room: most of them samples */
};

/* `sink` is copied. `unwinder` finds the callers of samples that came with their stacks, and
 * `python` those in Python; both must outlive this; NULL: no callers, none in Python. NULL: out of
 * memory. */
struct replay *replay_new(const struct live_sink *sink, struct unwinder *unwinder,
                          struct python_frames *python);
void replay_free(struct replay *replay);

/* From now on waits of threads are timed. `sampled`: the number of the event of which a sample is
 * that of a thread about to leave its processor. False: out of memory. */
bool replay_time_waits(struct replay *replay, const struct waits_options *options);
/* A thread that runs already, or waits since then; of a process that was attached. */
bool replay_assume_wait(struct replay *replay, uint32_t pid, uint32_t thread, uint64_t time,
                        struct error *error);
/* No more records come: what still waits is delivered up to this time. */
bool replay_finish(struct replay *replay, uint64_t time, struct error *error);

/* A process that runs already, as /proc tells. False: the sink failed, or it is not there. */
bool replay_attach(struct replay *replay, uint32_t pid, struct error *error);

/* `event`: the collector's number of the event, for a sample. False: the sink failed. */
bool replay_record(struct replay *replay, const struct perf_record *record, uint32_t event,
                   struct error *error);

/* The program that walks stacks has met a file that is mapped in this process, and has no rows of
 * it yet. False: out of memory. */
bool replay_unknown(struct replay *replay, uint32_t pid, const struct walk_unknown *unknown,
                    struct error *error);

/* Those processes that began while all was followed, had not ended by the last record, and are
 * still there: how many, and the numbers of the first `most`. */
size_t replay_running(const struct replay *replay, uint32_t *pids, size_t most);

void replay_statistics(const struct replay *replay, struct replay_statistics *statistics);
