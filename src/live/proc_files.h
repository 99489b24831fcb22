/* What /proc tells of a process while it lives. Everything may be gone, or another process's, by
 * the time it is looked at: false is an ordinary answer. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "live/build_id.h"
#include "live/live.h"

/* Where the machine is looked at: tests have one of their own. */
struct live_roots {
    const char *proc;  /* "/proc" */
    const char *sys;   /* "/sys" */
    const char *files; /* in front of absolute paths: "" */
};

struct proc_process {
    char command[LIVE_COMMAND_BYTES];
    uint32_t parent;
    uint64_t start_ns;  /* since boot, rounded down to a tick, PROC_START_GRAIN_NS */
    uid_t user;         /* effective */
    uint32_t inner_pid; /* as its own namespace numbers it */
    bool kernel_thread;
    char executable[PATH_MAX]; /* "" where it is not to be had; without " (deleted)" */
};
enum { PROC_START_GRAIN_NS = 10000000 };

bool proc_process_read(const struct live_roots *roots, uint32_t pid, struct proc_process *process);

/* Whether a start in ns is the one that /proc tells, in ticks. 0: not known, which is any. */
static inline bool proc_same_start(uint64_t start_ns, uint64_t proc_start_ns) {
    return !start_ns || (start_ns + PROC_START_GRAIN_NS >= proc_start_ns &&
                         proc_start_ns + 2 * PROC_START_GRAIN_NS > start_ns);
}

/* The control group of a process, as a path below the root of its hierarchy: that of version 2, or
 * where that is the root itself the first of another hierarchy that is not. "" when there is no
 * telling. */
void proc_cgroup_read(const struct live_roots *roots, uint32_t pid, char cgroup[PATH_MAX]);

struct proc_mapping {
    uint64_t start, end, offset; /* of the file */
    bool executable;
    uint64_t device, inode; /* device as in live_file_key */
    char path[PATH_MAX];    /* "[vdso]", "" of anonymous memory, without " (deleted)" */
    bool deleted;
};

/* Of a file that may be executed. */
static inline bool proc_mapping_is_code(const struct proc_mapping *mapping) {
    return mapping->executable && mapping->inode && mapping->path[0] == '/';
}

/* One line of /proc/PID/maps. False: it is none. */
bool proc_mapping_parse(const char *line, struct proc_mapping *mapping);

/* The visitor's false ends the walk. False: there is no such process, or it is not ours. */
typedef bool proc_mapping_visitor(void *context, const struct proc_mapping *mapping);
bool proc_each_mapping(const struct live_roots *roots, uint32_t pid, proc_mapping_visitor *visit,
                       void *context);

/* Calls the visitor with the number of every process there is; its false ends the walk. */
typedef bool proc_pid_visitor(void *context, uint32_t pid);
bool proc_each_pid(const struct live_roots *roots, proc_pid_visitor *visit, void *context);

enum { PROC_ROOT_BYTES = 32 };

/* Whether the very file of this key is still at its path, looking through the eyes of `pid` if need
 * be; `root` is what to put in front of the path ("", "/proc/42/root"). *file becomes a descriptor
 * to read it, or −1 where that is forbidden. `build_id`: of a key without a device. */
bool proc_find_file(const struct live_roots *roots, uint32_t pid, const char *path,
                    const struct live_file_key *key, const struct build_id *build_id,
                    char root[PROC_ROOT_BYTES], int *file);

/* Opens what a process has mapped of this path and key, which works for deleted files as well,
 * though not for everybody; −1. `build_id`: of a key without a device. */
int proc_open_mapped(const struct live_roots *roots, uint32_t pid, const char *path,
                     const struct live_file_key *key, const struct build_id *build_id);
