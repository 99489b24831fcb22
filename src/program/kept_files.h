/* Files that ran and are kept open, so that their names can still be read when they were removed or
 * replaced meanwhile. Several threads may use one. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_file;

struct kept_files { /* as KEPT_FILES_NONE at first */
    pthread_mutex_t lock;
    struct kept_file *items;
    size_t count, capacity;
};
#define KEPT_FILES_NONE                                                                            \
    { .lock = PTHREAD_MUTEX_INITIALIZER }

enum { KEPT_FILES_MOST = 256, KEPT_FILE_PATH_BYTES = 32 };

/* Keeps a file under the path and build id (size 0: it has none) that it ran as. Takes the
 * descriptor, and closes it where it is not needed: one is kept already, or there are
 * KEPT_FILES_MOST, or a quarter of those that this process may have open. `files` NULL: keeps
 * nothing. */
void kept_files_keep(struct kept_files *files, const char *path, const uint8_t *build_id,
                     size_t build_id_size, int descriptor);

/* Where the kept file is opened anew: "/proc/self/fd/7", good until kept_files_free(). False: none
 * is kept. `files` NULL: likewise. */
bool kept_files_find(struct kept_files *files, const char *path, const uint8_t *build_id,
                     size_t build_id_size, char found[KEPT_FILE_PATH_BYTES]);

void kept_files_free(struct kept_files *files);
