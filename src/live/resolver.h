/* From samples to profiles: gathers what collectors deliver, finds the images and processes behind
 * it, and merges it into a session of the store (DCPI §4.3). Memory is bounded: at most
 * `entries` different (process, image, offset, event). When half of them are there
 * resolver_full() asks to be saved; samples beyond all of them still count, as unknown ones. */
#pragma once

#include "live/live.h"
#include "live/slices.h"
#include "store/store.h"

struct resolver;

struct resolver_statistics {
    uint64_t samples; /* since the beginning */
    uint64_t unknown; /* of them in no known image, as far as is known: which image a sample lies in
                         may be found as late as it is saved */
    uint64_t kernel;  /* of them in the kernel */
    uint64_t stacks[LIVE_STACK_ENDS];  /* by how they ended */
    uint64_t lasting[LIVE_EVENTS_MAX]; /* ns of events that last, by event; not of `samples` */
    uint64_t coarse;                   /* of them beyond the limit of slices (slices.h) */
    uint64_t entries, entries_max;
    uint64_t processes, images; /* known now */
    uint64_t bytes;             /* of memory, about */
};

/* `events` as the collector has them. The kernel's symbols (/proc/kallsyms, /proc/modules) are read
 * when samples of it are saved. */
struct resolver *resolver_new(const struct live_event *events, size_t event_count, size_t entries,
                              struct error *error);
void resolver_free(struct resolver *resolver);

/* How samples are told apart in the epoch that begins now (default: not at all). */
void resolver_slice_by(struct resolver *resolver, const struct sample_slicing *by);

/* What a collector is to be given. */
struct live_sink resolver_sink(struct resolver *resolver);

/* Reads /proc for the processes that run now: what was started before the collector. */
bool resolver_scan(struct resolver *resolver, struct error *error);

/* From now on the names of what is sampled in files are kept with it, so that they last when the
 * files do not. `keep_readers`: what was read of a file stays in memory, for as long as it is
 * known; else it is read again when something new was sampled in it. */
void resolver_take_names(struct resolver *resolver, bool keep_readers);
/* Looks up what was sampled since the last time. Saving does so, too: the sooner, the fewer files
 * are gone. */
bool resolver_collect_names(struct resolver *resolver, struct error *error);

bool resolver_full(const struct resolver *resolver);

/* One line that says what cannot be found here and how it could be, as the kernel's symbols where
 * kernel.kptr_restrict hides them; NULL: all well. */
const char *resolver_note(const struct resolver *resolver);

/* Merges everything gathered into `session` in one transaction, and forgets it; events_ids[i] is
 * the number of event i in that session. On failure everything is kept and can be saved again.
 * Processes that have ended are forgotten afterwards. */
bool resolver_save(struct resolver *resolver, struct store *store, int64_t session,
                   const int64_t *event_ids, struct error *error);

void resolver_statistics(const struct resolver *resolver, struct resolver_statistics *statistics);

/* What this machine is, for a session: host, kernel, processor; kind, weight 1 and start now.
 * Strings live in `text`. */
struct live_host {
    char name[256], kernel[256], processor[256];
};
void live_host_read(struct live_host *host);
