/* The processes that samples come from, those that have ended too until their samples are saved. */
#pragma once

#include "live/live.h"
#include "live/names.h"
#include "live/proc_files.h"
#include "util/hash_index.h"

struct tracked_process {
    struct live_process_key key;
    uint32_t parent;
    uint32_t inner_pid; /* as its own namespace numbers it */
    uid_t user;         /* −1: not known */
    char command[LIVE_COMMAND_BYTES];
    const char *executable; /* interned; "" not known (yet) */
    const char *cgroup;     /* interned; "" not known */
    const char *dump;       /* the jitdump that it mapped last, interned; "" none */
    bool scanned;           /* found in /proc: the key's exec is not known, its start is in ticks */
    bool guessed;           /* the executable is the first file it was seen in */
    bool sought;            /* its dump was looked for since the last save */
    uint8_t gone;           /* at how many saves in a row it had ended */
};

struct tracked_processes {
    struct tracked_process *items;
    size_t count, capacity;
    struct hash_index index; /* by pid alone */
    struct names names;
    bool cgroups; /* control groups are looked up: the owner's to set */
};

void tracked_processes_free(struct tracked_processes *processes);

/* The number of a process that a collector announced; UINT32_MAX: out of memory. */
uint32_t tracked_processes_announce(struct tracked_processes *processes,
                                    const struct live_roots *roots,
                                    const struct live_process *process);
/* The number of a process that a sample refers to, announced or not; likewise. */
uint32_t tracked_processes_find(struct tracked_processes *processes, const struct live_roots *roots,
                                const struct live_process_key *key);
/* The number of a process that runs now; likewise. That it is not there any more is no failure:
 * then any other number.
 */
bool tracked_processes_scan(struct tracked_processes *processes, const struct live_roots *roots,
                            uint32_t pid);

/* A process was seen in this file: its executable, when nothing better is known. */
bool tracked_processes_seen_in(struct tracked_processes *processes, uint32_t number,
                               const char *path);

/* The same of the newest process of this number: it has the file mapped. */
bool tracked_processes_maps(struct tracked_processes *processes, uint32_t pid, const char *path);
/* Whether a file that the newest process of this number has mapped is a jitdump, which is noted
 * then. *good becomes false: out of memory. */
bool tracked_processes_dumps(struct tracked_processes *processes, uint32_t pid, const char *path,
                             bool *good);
/* Looks whether a process that was sampled in code without a file has a jitdump mapped: who counts
 * in the kernel tells only of files that are sampled. Once between two saves. */
bool tracked_processes_seek_dump(struct tracked_processes *processes,
                                 const struct live_roots *roots, uint32_t number);

/* The parent's pid of the newest process of this number; 0: not known. */
uint32_t tracked_processes_parent(const struct tracked_processes *processes, uint32_t pid);

/* Forgets those that had ended at the last save already, and renumbers the rest. */
void tracked_processes_forget(struct tracked_processes *processes, const struct live_roots *roots);

size_t tracked_processes_bytes(const struct tracked_processes *processes);
