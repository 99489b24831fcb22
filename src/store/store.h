/* The profile database (DCPI §4.3.3): one SQLite file in WAL mode, which may be read while it is
 * written and stays readable whenever the writer dies. docs/store-format.md describes its tables
 * and blobs.
 *
 *     session (an epoch, a command recorded, a simulation) ──┬── process ──┐
 *     image (build id, path), shared by all sessions ────────┴─────────────┴── profile: of one
 *     event, a blob of (offset, signature) → value
 *     calls: of one process and event, a calling context tree
 *
 * Values of several profiles may be added: counts of samples, or of cycles in 1/840. One thread at
 * a time may use a struct store; each process opens its own. Errors name the file. A damaged
 * database is an error, never a crash: blobs are decoded with all bounds checked. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/code_symbol.h"
#include "program/elf_image.h"
#include "store/estimate.h"
#include "util/error.h"
#include "util/key_numbers.h"

struct store;

enum store_access {
    STORE_READ,  /* fails when there is no such file; works for users who cannot write there */
    STORE_WRITE, /* made when there is none; older versions are migrated */
    STORE_INIT   /* Inside of the room: on a server, whatever is there (server.h) */
};

/* $CULPRIT_STORE; else of root /var/lib/culprit/profiles.db (STORE_READ: of others too, when they
 * have none of their own); else $XDG_DATA_HOME/culprit/profiles.db, ~/.local/share without it. */
bool store_default_path(char path[PATH_MAX], enum store_access access, struct error *error);

/* A file, or an address of PostgreSQL (address.h), where nothing is made or migrated: server.h.
 * Folders that are missing are made for STORE_WRITE. NULL: cannot be opened, is no store, damaged,
 * or of a newer version than this culprit knows. */
struct store *store_open(const char *path, enum store_access access, struct error *error);
/* Likewise; `path` NULL: the default store. */
struct store *store_open_default(const char *path, enum store_access access, struct error *error);
void store_close(struct store *store);
const char *store_path(const struct store *store); /* of an address: without a password */

/* Of a server, which many hosts write: from now on rows that cannot be read are left out, and
 * noted. Of a file, and without this, they are errors. */
void store_pass_over(struct store *store);
/* What was left out so far, each epoch once, the first thousand. */
struct store_damage {
    int64_t epoch;   /* 0: symbols, or an image */
    char whose[256]; /* the host, or the path of the image */
    char why[256];   /* of the first row */
};
const struct store_damage *store_damage(const struct store *store, size_t *count);

/* From another thread: what it waits for from a server fails. */
void store_interrupt(struct store *store);
/* Bytes of the file, and those of them that nothing uses (see store_compact). */
bool store_size(struct store *store, uint64_t *bytes, uint64_t *unused, struct error *error);

/* All that is added in between becomes visible, and survives a crash, at once or not at all. Once
 * anything in between has failed (a full disk), nothing of it is kept: store_commit fails too, and
 * the store can be used on. Without a begin each function is its own transaction. Another writer
 * waits meanwhile, ten seconds at most: keep them short. */
bool store_begin(struct store *store, struct error *error);
bool store_commit(struct store *store, struct error *error);
void store_rollback(struct store *store); /* also when there is nothing to roll back */

/* ---- sessions ---- */

enum session_kind {
    SESSION_LIVE,
    SESSION_SIMULATED,
    SESSION_IMPORTED,
    SESSION_SUM, /* of a day's live ones: see day_sums.h. Walks of all sessions leave it out */
    SESSION_KINDS
};
const char *session_kind_name(enum session_kind kind); /* "live", "simulated", "imported", "sum" */

/* Strings are never NULL when read; NULL is "" when written. */
struct store_session {
    int64_t id;
    enum session_kind kind;
    const char *name;      /* a command, "daemon", the file imported */
    const char *host;      /* name of the machine, "" of simulations */
    const char *kernel;    /* release, as uname -r */
    const char *processor; /* model name; of a simulation the machine's name */
    double weight;         /* what its values are multiplied by in sums: of a region; else 1 */
    int64_t start, end;    /* ns since 1970 UTC; end 0: not ended: it goes on, or its writer died */
    uint64_t unknown;      /* samples in no known image */
    uint64_t dropped;      /* samples that were taken and lost */
    int64_t saved; /* when it was last written, ns since 1970 UTC: how far a session reaches that
                      has not ended; never set back. Kept by store_update_session; 0 when added:
                      now */
};

/* What the values of an event count, and how it was sampled. */
struct store_event {
    int64_t id;              /* in its session */
    const char *name;        /* "cycles", "cpu-clock", "imiss"; of simulations "cycles" */
    const char *unit;        /* of one value: "samples", "1/840 cycles" */
    uint64_t period;         /* mean distance of samples in `period_unit`; 0: not known, or exact */
    const char *period_unit; /* "cycles", "ns", "events" */
    bool precise; /* PEBS, IBS, or simulated: the address is that of the instruction itself */
    struct store_estimate estimate; /* of a simulation */
};

/* The new session's number in *id. */
bool store_add_session(struct store *store, const struct store_session *session, int64_t *id,
                       struct error *error);
bool store_add_event(struct store *store, int64_t session, const struct store_event *event,
                     int64_t *id, struct error *error);
/* Writes end, unknown and dropped, and that it was saved now. */
bool store_update_session(struct store *store, const struct store_session *session,
                          struct error *error);
/* Gives it another weight. */
bool store_weigh_session(struct store *store, int64_t session, double weight, struct error *error);
bool store_remove_session(struct store *store, int64_t session, struct error *error);

typedef bool store_session_visitor(void *context, const struct store_session *session,
                                   const struct store_event *events, size_t event_count);
/* By their start. The visitor's false ends the walk, which is no error. */
bool store_each_session(struct store *store, store_session_visitor *visit, void *context,
                        struct error *error);
/* The same of sums alone, without their events, and of those that are named, of any kind: of
 * numbers that are not there nothing is visited. */
bool store_each_sum(struct store *store, store_session_visitor *visit, void *context,
                    struct error *error);
bool store_each_named_session(struct store *store, const int64_t *sessions, size_t count,
                              store_session_visitor *visit, void *context, struct error *error);
/* Those that reach behind `since` and began before `until`, ns since 1970; and those of which there
 * can be no sums of days (day_sums_have()). */
bool store_each_session_between(struct store *store, int64_t since, int64_t until,
                                store_session_visitor *visit, void *context, struct error *error);
bool store_each_session_without_days(struct store *store, store_session_visitor *visit,
                                     void *context, struct error *error);

/* For lists: the sum of an event's values over the session, not weighted, and the bytes that they
 * take. */
bool store_event_total(struct store *store, int64_t session, int64_t event, uint64_t *total,
                       uint64_t *bytes, struct error *error);

/* ---- images and processes ---- */

enum image_kind {
    IMAGE_FILE,
    IMAGE_KERNEL,
    IMAGE_MODULE,
    IMAGE_VDSO,
    IMAGE_JIT,
    IMAGE_UNKNOWN,
    IMAGE_SOURCE, /* a source file whose functions an interpreter runs: see source_place.h */
    IMAGE_KINDS
};

struct store_image {
    int64_t id;
    enum image_kind kind;
    const char
        *path; /* as its process saw it: "/usr/bin/gzip", "[kernel]", "[vdso]", "[jit] node 42",
                  "[unknown]" */
    uint8_t build_id[BUILD_ID_MAX];
    size_t build_id_size; /* 0: none */
    const char
        *root; /* where a file in another mount namespace was seen from: "/proc/42/root"; "" */
};

/* Symbols that cannot be read from the file later: of the kernel, of modules, of JIT code, and of
 * files of another machine, whose profile was imported. Offsets are those of the profile: of kernel
 * and modules from their first byte of text, of JIT code addresses. image_names.h looks up both. */
/* The number of an image; the same for the same kind, path, build id and root. Images that no
 * profile refers to may be removed: ask again in each transaction. */
bool store_image(struct store *store, const struct store_image *image, int64_t *id,
                 struct error *error);
/* Replaces what symbols the image has; sorted by start. */
bool store_set_symbols(struct store *store, int64_t image, const struct code_symbol *symbols,
                       size_t count, struct error *error);
/* For freeing with store_free_symbols; no symbols: true and *count 0. */
bool store_get_symbols(struct store *store, int64_t image, struct code_symbol **symbols,
                       size_t *count, struct error *error);
void store_free_symbols(struct code_symbol *symbols, size_t count);

/* Processes of one name and executable: short-lived ones by the thousand are one row. A row may be
 * of a slice of their samples, which is told apart from the others. */
struct store_process {
    int64_t id;
    const char *command;    /* name, as in ps -o comm */
    const char *executable; /* path; "" of kernel threads, and where it is not known */
    struct store_slice {
        uint32_t pid, thread; /* as the initial namespace numbers them; 0: not told apart */
        uint32_t processor;   /* 1 + its number; 0: not told apart */
        const char *cgroup;   /* below the root of control groups: "/system.slice/cron.service";
                                 "": not told apart */
        int64_t begin, end;   /* ns since 1970 UTC between which it was sampled; both 0: not told
                                 apart */
    } slice;
};

/* The number of the row that is alike in all but the number. */
bool store_process(struct store *store, int64_t session, const struct store_process *process,
                   int64_t *id, struct error *error);

/* ---- profiles ---- */

struct store_value {
    uint64_t offset;    /* in the image's file; see struct code_symbol for what is no file */
    uint32_t signature; /* performance signature of a simulated cycle; 0 of live samples */
    uint64_t value;
};

/* Adds to what the profile holds. `values` sorted by offset and signature, no pair twice. */
bool store_add_values(struct store *store, int64_t session, int64_t process, int64_t image,
                      int64_t event, const struct store_value *values, size_t count,
                      struct error *error);

/* Of a session, samples of which the middle lies between; `until` 0: however late. */
struct store_span {
    int64_t session, since, until;
};

/* Which slices of the samples are wanted; 0, NULL: all. */
struct sample_choice {
    uint32_t pid, thread, processor; /* as in struct store_slice */
    const char *cgroup;              /* "/system.slice", and what lies below; "cron.service", by the
                                        names on its path */
    int64_t since, until;            /* ns since 1970: of which the middle lies between */
    const char *build;               /* that their processes ran: see build_choice.h */
    /* What the above comes to in a store, once sessions are chosen (session_choice.h). */
    const struct store_span *spans; /* by session: in place of since and until, of those in it */
    size_t span_count;
    const struct key_numbers *processes; /* numbers of their rows */
};
bool sample_choice_any(const struct sample_choice *choice); /* whether it leaves something out */
/* Samples of which is not told apart what is chosen by are not admitted; of time those of a whole
 * session are. */
bool sample_choice_admits(const struct sample_choice *choice, const struct store_session *session,
                          const struct store_process *process);

/* An event as some sessions count it. */
struct event_unit {
    const char *name, *unit;
};

bool event_units_have(const struct event_unit *units, size_t count,
                      const struct store_event *event);

/* Which profiles a walk visits. */
struct store_filter {
    const int64_t *sessions; /* NULL: all */
    size_t session_count;
    const char *event;                 /* NULL: all */
    const struct event_unit *left_out; /* but these */
    size_t left_out_count;
    const struct sample_choice *choice; /* NULL: all */
    bool totals_alone;                  /* no values are wanted */
    /* Whose values are wanted: other profiles are visited with their total alone, which is much
     * faster. NULL: all. */
    bool (*wants_values)(void *context, const struct store_image *image);
    void *context;
};

struct store_profile {
    const struct store_session *session;
    const struct store_event *event;
    const struct store_image *image;
    const struct store_process *process;
    uint64_t total;                   /* of all values */
    const struct store_value *values; /* sorted */
    size_t count;                     /* 0: they were not wanted */
};

/* Of these sessions many walks will be over some: what they are is read once, and kept until
 * store_drop_sessions(). */
bool store_hold_sessions(struct store *store, const int64_t *sessions, size_t count,
                         struct error *error);
void store_drop_sessions(struct store *store);

typedef bool store_profile_visitor(void *context, const struct store_profile *profile);
/* By the sessions' start, within a session by image, then process, then event. What the visitor is
 * given lives during the call only, but for image, which lives until the store is closed. The
 * visitor may call this room's functions that read. Its false ends the walk, which is no error. */
bool store_each_profile(struct store *store, const struct store_filter *filter,
                        store_profile_visitor *visit, void *context, struct error *error);

/* ---- calls ---- */

/* A node of a calling context tree: a place, and the chain of calls that led to it. Of a caller the
 * place lies within the instruction that called (its return address less 1). */
#define STORE_CALL_TOP UINT32_MAX
struct store_call {
    uint32_t parent; /* index of the caller, which stands before it; STORE_CALL_TOP: the outermost
                        frame of a stack, or an enum store_cut */
    int64_t image;   /* number; 0: an enum store_cut */
    uint64_t offset; /* as in struct store_value */
    uint64_t value;  /* of samples in this place itself */
};

/* Stacks whose outermost frames are not known stand below a node of image 0, whose offset says
 * why. */
enum store_cut {
    STORE_TRUNCATED = 1, /* deeper than what was copied, or than the most frames */
    STORE_FAILED         /* no rule for a frame, or one that cannot be true */
};

/* What of a place's values has events, in a simulation, stands below it in a node of image 0, whose
 * offset is this and the performance signature. Nothing stands below that. */
#define STORE_CALL_EVENTS (UINT64_C(1) << 16)
static inline bool store_call_is_events(const struct store_call *call) {
    return !call->image && call->offset & STORE_CALL_EVENTS;
}

enum {
    STORE_CALLS_MAX = 1 << 20
}; /* nodes of one tree; what finds no room counts for its caller */

/* Adds to what the tree of these processes holds. False as well when a parent does not stand before
 * its child. */
bool store_add_calls(struct store *store, int64_t session, int64_t process, int64_t event,
                     const struct store_call *calls, size_t count, struct error *error);

struct store_call_tree {
    const struct store_session *session;
    const struct store_event *event;
    const struct store_process *process;
    const struct store_call *calls;
    size_t count;
};

typedef bool store_call_tree_visitor(void *context, const struct store_call_tree *tree);
/* The trees of sessions and event of the filter, as store_each_profile() does. */
bool store_each_call_tree(struct store *store, const struct store_filter *filter,
                          store_call_tree_visitor *visit, void *context, struct error *error);

typedef bool store_image_visitor(void *context, const struct store_image *image);
/* All of them. The visitor's false ends the walk, which is no error. */
bool store_each_image(struct store *store, store_image_visitor *visit, void *context,
                      struct error *error);
/* An image by its number, which lives until the store is closed; NULL with an error. */
const struct store_image *store_image_of(struct store *store, int64_t id, struct error *error);

/* ---- upkeep ---- */

/* Makes one session of several of one kind, host and weight, all ended: the earliest, which then
 * reaches over all. Events that were sampled differently stay apart. */
bool store_merge_sessions(struct store *store, const int64_t *sessions, size_t count,
                          struct error *error);

/* Adds what a session has of processes in slices to what it has of them without: of all of a slice
 * its control group stays told apart. Much smaller, where there were many. */
bool store_forget_slices(struct store *store, int64_t session, struct error *error);
/* Whether a session tells anything but control groups apart. */
bool store_has_slices(struct store *store, int64_t session, bool *has, struct error *error);

struct store_retention {
    int64_t before; /* sessions that ended before it (ns since 1970), or were last saved before it
                       and never ended, are removed; 0: none for age */
    uint64_t bytes; /* the oldest ended ones are, until the store would take at most this when
                       compacted; 0: no limit */
    const int64_t *kept; /* sessions that stay: still written, or waiting to be sent */
    size_t kept_count;
};
/* Removes sessions, then images and symbols that nothing refers to. How many sessions went, in
 * *removed. */
bool store_prune(struct store *store, const struct store_retention *retention, uint64_t *removed,
                 struct error *error);

/* Gives unused space back to the file system. Sizes before and after in bytes. */
bool store_compact(struct store *store, uint64_t *before, uint64_t *after, struct error *error);

/* Copies sessions (NULL: all) with all that belongs to them into another store, where they get
 * numbers of their own: export and import. */
bool store_copy_sessions(struct store *to, struct store *from, const int64_t *sessions,
                         size_t count, struct error *error);

/* Adds up sessions of another store as one, which has weight 1: of each, its values times its
 * weight, to whole numbers. `as` says what the new one is, `estimate` what its events are estimated
 * from; its number in *id. */
bool store_sum_sessions(struct store *to, struct store *from, const int64_t *sessions, size_t count,
                        const struct store_session *as, const struct store_estimate *estimate,
                        int64_t *id, struct error *error);

/* Whether there is a file that can be read, but is no whole database: not one of a newer version,
 * nor one that is locked or on a full disk. Reads all of it. */
bool store_is_damaged(const char *path);

/* Reads everything; the first thing found wrong is the error. */
bool store_check(struct store *store, struct error *error);
