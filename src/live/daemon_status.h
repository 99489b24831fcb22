/* What a running daemon tells of itself: answered on a socket in its run folder, one JSON object
 * for each connection (docs/json.md), so that asking costs the daemon nothing when nobody asks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

#define DAEMON_SOCKET "daemon.sock"
/* Who connects there gets the answer when the daemon ends. */
#define DAEMON_LAST_SOCKET "daemon.last.sock"

struct daemon_status {
    pid_t pid;
    char store[4096];
    char sampling[256];  /* live_events_describe() */
    uint32_t processors; /* sampled */
    double uptime;       /* seconds */
    double rate;   /* samples per second that are asked for now, of each processor that is busy */
    double budget; /* share of the busy time that sampling may cost; 0: any */
    double cost;   /* share that it did; < 0: not measured, or not yet */
    double interrupt_seconds; /* of one sample, in that; < 0: not measured */
    int64_t epoch;            /* session in the store; 0: nothing merged yet */
    double epoch_seconds;     /* since it began */

    uint64_t samples, hits, evicted, dropped; /* in the kernel, since the daemon began */
    uint64_t attributed, unknown, kernel;     /* of the samples drained so far */
    uint64_t stacks_whole, stacks_truncated, stacks_failed; /* by how their callers ended */
    uint64_t python_samples, python_whole, python_partial;  /* as struct python_statistics */
    uint64_t entries, entries_max; /* waiting to be merged; samples with the same place */
    uint64_t unwritten; /* samples that are not in the store yet, without those dropped */
    uint64_t processes, images;

    uint64_t drains, merges, failed_merges;
    double last_drain, last_merge; /* seconds ago; < 0: not yet */
    char problem[1024];            /* why the last merge failed; empty: it did not */

    char push[4096];    /* address that epochs are sent to; empty: they are not */
    uint64_t push_sent; /* since it began */
    uint64_t push_waiting, push_waiting_bytes, push_given_up;
    double last_push;        /* seconds ago; < 0: not yet */
    char push_problem[1024]; /* why they cannot be sent; empty: they can */

    double processor_seconds; /* of the daemon's own work, since it began */
    double program_seconds; /* in the BPF program, all processors; < 0: the kernel does not count */
    uint64_t resident_bytes, kernel_bytes, store_bytes;
};

/* A socket that listens at `path` (a stale one is replaced); −1 on failure. */
int daemon_status_listen(const char *path, struct error *error);
/* Answers one connection that waits, without waiting for who asked. False: none waits. */
bool daemon_status_answer(int socket, const struct daemon_status *status);

/* The answer of the daemon at `path`, to be freed. NULL: none runs there, or it does not answer
 * within a few seconds. */
char *daemon_status_ask(const char *path, struct error *error);
/* The same in two steps: a connection to close, −1 on failure; what comes from it. */
int daemon_status_connect(const char *path, struct error *error);
char *daemon_status_receive(int connection, int patience_ms, struct error *error);
/* Parses an answer. */
bool daemon_status_read(const char *json, struct daemon_status *status, struct error *error);
