/* The files that samples lie in: where they are, and which they are by their build ids, found while
 * some process has them mapped. */
#pragma once

#include "live/proc_files.h"
#include "live/sampled_names.h"
#include "util/arena.h"
#include "util/hash_index.h"

struct tracked_file {
    struct live_file_key key;
    char *path; /* malloc'ed; "" not known; ends in " (deleted)" when neither the build id is known
                   nor the file at its path any more is this one: so that nobody takes another file
                   for it */
    struct build_id build_id;
    char root[PROC_ROOT_BYTES]; /* in front of the path, where it is seen through a process only */
    uint32_t seen_in;           /* a process */
    struct sampled_names names; /* of what was sampled in it */
    struct program *reader;     /* of these; NULL: not kept, or not needed yet */
    int kept;     /* open, until its names are read, should it be removed; −1: not */
    bool sampled; /* since the last save */
    uint8_t idle; /* at how many saves in a row it was not sampled */
};

struct tracked_files {
    struct tracked_file *items;
    size_t count, capacity;
    struct hash_index index;
    size_t path_bytes;
    size_t kept, kept_most; /* files that are open */
};

/* Finds who can see the file: the process itself, then its parents. */
struct tracked_processes;

void tracked_files_free(struct tracked_files *files);

/* The number of a file that a collector announced; UINT32_MAX: out of memory. */
uint32_t tracked_files_announce(struct tracked_files *files, const struct live_roots *roots,
                                const struct tracked_processes *processes,
                                const struct live_file *announced);
/* The number of a file in which a process was sampled, announced or not; likewise. */
uint32_t tracked_files_find(struct tracked_files *files, const struct live_roots *roots,
                            const struct tracked_processes *processes,
                            const struct live_file_key *key, uint32_t pid);

/* What stands in place of a device in the key of the source of a live_code. */
#define LIVE_DEVICE_SOURCE (UINT64_MAX - 1)

/* The number of the source of a function, whose name is kept; UINT32_MAX: out of memory, or there
 * are too many, as *many says. */
uint32_t tracked_files_source(struct tracked_files *files, const struct live_code *code,
                              bool *many);

/* The descriptor kept of a file, now the caller's; −1. */
int tracked_files_take_kept(struct tracked_files *files, struct tracked_file *file);

static inline bool tracked_file_is_source(const struct tracked_file *file) {
    return file->key.device == LIVE_DEVICE_SOURCE;
}

static inline bool tracked_file_is_known(const struct tracked_file *file) {
    return file->path[0] || file->build_id.size;
}

/* Looks for files that are not known yet in the maps of all processes. */
bool tracked_files_search(struct tracked_files *files, const struct live_roots *roots);

/* After a save: forgets what has not been sampled for long, when there are many, and renumbers the
 * rest. */
void tracked_files_forget(struct tracked_files *files);

size_t tracked_files_bytes(const struct tracked_files *files);
