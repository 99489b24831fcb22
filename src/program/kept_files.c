#include "program/kept_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "program/elf_image.h"
#include "util/array.h"

struct kept_file {
    char *path;
    uint8_t build_id[BUILD_ID_MAX];
    size_t build_id_size;
    int descriptor;
};

/* NULL: none. */
static const struct kept_file *find(const struct kept_files *files, const char *path,
                                    const uint8_t *build_id, size_t size) {
    for (size_t i = 0; i < files->count; i++) {
        const struct kept_file *file = &files->items[i];
        if (file->build_id_size == size && !strcmp(file->path, path) &&
            (!size || !memcmp(file->build_id, build_id, size)))
            return file;
    }
    return NULL;
}

static bool has_room(const struct kept_files *files) {
    struct rlimit limit;
    return files->count < KEPT_FILES_MOST && !getrlimit(RLIMIT_NOFILE, &limit) &&
           files->count < limit.rlim_cur / 4;
}

/* False: it was not needed, or memory is out. */
static bool add(struct kept_files *files, const char *path, const uint8_t *build_id, size_t size,
                int descriptor) {
    if (size > BUILD_ID_MAX || find(files, path, build_id, size) || !has_room(files) ||
        !array_room(files->items, files->capacity, files->count + 1))
        return false;
    struct kept_file *file = &files->items[files->count];
    *file =
        (struct kept_file){.path = strdup(path), .build_id_size = size, .descriptor = descriptor};
    if (!file->path)
        return false;
    if (size)
        memcpy(file->build_id, build_id, size);
    files->count++;
    return true;
}

void kept_files_keep(struct kept_files *files, const char *path, const uint8_t *build_id,
                     size_t build_id_size, int descriptor) {
    bool added = false;
    if (files) {
        pthread_mutex_lock(&files->lock);
        added = add(files, path, build_id, build_id_size, descriptor);
        pthread_mutex_unlock(&files->lock);
    }
    if (!added)
        close(descriptor);
}

bool kept_files_find(struct kept_files *files, const char *path, const uint8_t *build_id,
                     size_t build_id_size, char found[KEPT_FILE_PATH_BYTES]) {
    if (!files)
        return false;
    pthread_mutex_lock(&files->lock);
    const struct kept_file *file = find(files, path, build_id, build_id_size);
    if (file)
        snprintf(found, KEPT_FILE_PATH_BYTES, "/proc/self/fd/%d", file->descriptor);
    pthread_mutex_unlock(&files->lock);
    return file;
}

void kept_files_free(struct kept_files *files) {
    for (size_t i = 0; i < files->count; i++) {
        close(files->items[i].descriptor);
        free(files->items[i].path);
    }
    free(files->items);
    files->items = NULL;
    files->count = files->capacity = 0;
}
