/* Epochs of a store that are read together, and the events that they have: the head of every report
 * on profiles. Everything is copied from the store. */
#pragma once

#include <string.h>

#include "store/store.h"
#include "util/arena.h"

/* Of simulations that were saved: what they were estimated from (query/estimated.c). */
struct estimated {
    size_t epochs;            /* that are estimates; 0: none */
    struct store_estimate of; /* of one, its own. Of several all parts, the widest interval, and
                                 `simulated` is not known: negative */
    bool beside;              /* it is no estimate, but shown beside a set that is */
};
void estimated_add(struct estimated *estimated, const struct store_estimate *estimate);

/* An event of one name, of all epochs of a set. */
struct profile_event {
    const char *name;
    const char *stored_unit;
    const char *unit; /* as shown: "samples", "cycles" */
    double scale;     /* what a value in the store is multiplied by to be in `unit` */
    uint64_t period;  /* mean of all samples; 0: not known, or exact */
    const char *period_unit;
    bool precise;        /* in all epochs */
    bool periods_differ; /* between epochs, or within one */
    struct estimated estimated;
    double mean; /* where they do: each sample counts for its period in these, so that the
                    number of all is theirs; 0: samples count as they are */
};

/* What some hosts count in another unit than most, which cannot be added. */
enum { UNLIKE_NAMED = 3 };
struct unlike_event {
    const char *name, *unit, *kept_unit; /* as shown */
    size_t hosts;
    const char *named[UNLIKE_NAMED]; /* the first of them; NULL: no more */
};

struct profile_set {
    struct store *store; /* the caller's, open as long as the set */
    const char *label;   /* "epoch 3", "epochs 2..5", with several stores the file's name before */
    const char *command; /* NULL: they are of several */
    struct store_session *epochs; /* by their start */
    size_t epoch_count;
    int64_t *sessions;            /* their numbers */
    struct sample_choice choice;  /* of their samples; its strings are the caller's */
    struct profile_event *events; /* in the order in which epochs have them */
    size_t event_count;
    const struct event_unit *left_out; /* what is no part of it: `unlike` as the store has them */
    struct unlike_event *unlike;
    size_t left_out_count;
    bool nothing;              /* there is none: profile_set_read() has failed for that */
    size_t sums;               /* of the epochs: sums of days, in place of theirs */
    uint64_t epochs_in_all;    /* with those that are in sums */
    uint64_t hosts;            /* machines */
    uint64_t unknown, dropped; /* samples, of all epochs */
    double seconds;            /* that the epochs lasted together; simulated ones have no length */
    bool simulated;            /* all: there is no error of sampling */
    bool weighted;             /* some count more or less than once */
    struct arena arena;
};

/* `sessions` as store_choose_sessions() has them. Fails when an epoch is not there, and when two of
 * one host alone have an event of one name in units that cannot be added; of several hosts, what
 * fewer of them have is left out. profile_set_free() either way. */
bool profile_set_read(struct profile_set *set, struct store *store, const int64_t *sessions,
                      size_t count, bool name_file, struct error *error);
/* Of some of the set's sessions, what it has of them; it outlives the part. */
bool profile_set_read_part(struct profile_set *part, const struct profile_set *set,
                           const int64_t *sessions, size_t count, struct error *error);
/* What of its epochs, or of images, was passed over in the store so far (store_pass_over), one
 * after the other; *at is 0 at first. NULL: no more. */
const struct store_damage *profile_set_damage(const struct profile_set *set, size_t *at);

void profile_set_free(struct profile_set *set);

/* Of the samples only these from now on; the seconds are those in which they can have been taken.
 */
void profile_set_choose(struct profile_set *set, const struct sample_choice *choice);

/* How many epochs the set has of a machine, with those that are in sums. */
uint64_t profile_set_host_epochs(const struct profile_set *set, const char *host);

/* What a walk over the set's profiles of an event (NULL: of all) wants. Lives as long as the set.
 */
struct store_filter profile_set_filter(const struct profile_set *set, const char *event);

/* NULL, with an error that names those there are: the set has none of this name. NULL as name: the
 * first event. */
const struct profile_event *profile_set_event(const struct profile_set *set, const char *name,
                                              struct error *error);

/* Whether its values are cycles, or samples of cycles or of processor time: else of something that
 * happens, or waits. */
bool profile_event_is_time(const struct profile_event *event);

/* Whether an event's values are time that something lasted, and no samples of code. */
static inline bool profile_event_lasts(const struct profile_event *event) {
    return !strcmp(event->unit, "us");
}

/* A text that all epochs have, as their host; NULL: they differ. `member` is where it stands in a
 * session: offsetof(struct store_session, host). */
const char *profile_set_shared(const struct profile_set *set, size_t member);

/* Whether a process is the one named: by its command, or its executable's path or base name; NULL
 * as name: always. */
bool profile_process_is(const struct store_process *process, const char *name);
/* Whether a path is the one named, or ends in it. */
bool profile_path_is(const char *path, const char *name);
