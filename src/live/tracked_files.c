/* A file is looked at once, when it first appears; later only while it is not known. */
#include "live/tracked_files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "live/tracked_processes.h"
#include "program/code_identity.h"
#include "util/array.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    MANY_FILES = 8192,       /* beyond this those that are idle are forgotten */
    SOURCES_MAX = 1 << 16,   /* beyond this, of all files, no more */
    FUNCTIONS_MAX = 1 << 16, /* named in one source */
    IDLE_SAVES = 2,          /* how long a file must have been idle for that */
    ANCESTORS_MAX = 8,       /* through whose eyes a file is looked for */
};

/* Generations are left out: not everyone knows them. */
static uint64_t hash_of(const struct live_file_key *key) {
    uint64_t words[2] = {key->device, key->inode};
    return XXH3_64bits(words, sizeof words);
}

int tracked_files_take_kept(struct tracked_files *files, struct tracked_file *file) {
    const int descriptor = file->kept;
    files->kept -= descriptor >= 0;
    file->kept = -1;
    return descriptor;
}

static void free_file(struct tracked_files *files, struct tracked_file *file) {
    const int descriptor = tracked_files_take_kept(files, file);
    if (descriptor >= 0)
        close(descriptor);
    free(file->path);
    sampled_names_free(&file->names);
    if (file->reader)
        program_free(file->reader);
}

void tracked_files_free(struct tracked_files *files) {
    for (size_t i = 0; i < files->count; i++)
        free_file(files, &files->items[i]);
    free(files->items);
    hash_index_free(&files->index);
    *files = (struct tracked_files){0};
}

/* Of this generation; else of one that is not known; of any, the newest, when the key has none. */
static uint32_t find(const struct tracked_files *files, const struct live_file_key *key) {
    const uint64_t hash = hash_of(key);
    uint32_t found = UINT32_MAX;
    size_t at;
    for (uint32_t number = hash_index_first(&files->index, hash, &at); number != HASH_INDEX_NONE;
         number = hash_index_next(&files->index, hash, &at)) {
        const struct live_file_key *other = &files->items[number].key;
        if (other->device != key->device || other->inode != key->inode)
            continue;
        if (other->generation == key->generation)
            return number;
        if ((!other->generation || !key->generation) && (found == UINT32_MAX || found < number))
            found = number;
    }
    return found;
}

static bool set_path(struct tracked_files *files, struct tracked_file *file, const char *path,
                     const char *ending) {
    size_t size = strlen(path) + strlen(ending) + 1;
    char *copy = malloc(size);
    if (!copy)
        return false;
    snprintf(copy, size, "%s%s", path, ending);
    files->path_bytes += size;
    if (file->path)
        files->path_bytes -= strlen(file->path) + 1;
    free(file->path);
    file->path = copy;
    return true;
}

static uint32_t add(struct tracked_files *files, const struct live_file_key *key, uint32_t pid) {
    if (!array_room(files->items, files->capacity, files->count + 1))
        return UINT32_MAX;
    struct tracked_file file = {.key = *key, .seen_in = pid, .kept = -1};
    if (!hash_index_reserve(&files->index, files->count + 1) || !set_path(files, &file, "", ""))
        return UINT32_MAX;
    files->items[files->count] = file;
    hash_index_add(&files->index, hash_of(key), (uint32_t)files->count);
    return (uint32_t)files->count++;
}

/* Closes the descriptor, or keeps it. */
static void take_build_id(struct tracked_files *files, struct tracked_file *file, int descriptor) {
    struct build_id id;
    if (descriptor < 0)
        return;
    if (!file->build_id.size && build_id_of_file(descriptor, &id))
        file->build_id = id;
    else if (!file->build_id.size && code_identity(descriptor, file->build_id.bytes))
        file->build_id.size = CODE_IDENTITY_BYTES;
    if (file->kept < 0 && !file->reader && files->kept < files->kept_most) {
        file->kept = descriptor;
        files->kept++;
    } else
        close(descriptor);
}

/* `path` as one of its processes has it. */
static bool identify(struct tracked_files *files, const struct live_roots *roots,
                     const struct tracked_processes *processes, struct tracked_file *file,
                     const char *path) {
    uint32_t pid = file->seen_in;
    bool found = false;
    int descriptor = -1;
    for (int i = 0; i < ANCESTORS_MAX && !found; i++) {
        found =
            proc_find_file(roots, pid, path, &file->key, &file->build_id, file->root, &descriptor);
        pid = tracked_processes_parent(processes, pid);
        if (!pid)
            break;
    }
    take_build_id(files, file, descriptor);
    if (!found && !file->build_id.size)
        take_build_id(files, file,
                      proc_open_mapped(roots, file->seen_in, path, &file->key, &file->build_id));
    /* What is no file in a file system (/memfd:..., /dev/zero) is not at its path either. */
    return set_path(files, file, path, !found && !file->build_id.size ? " (deleted)" : "");
}

struct search {
    const struct live_file_key *key;
    char path[PATH_MAX];
};

static bool find_path(void *context, const struct proc_mapping *mapping) {
    struct search *search = context;
    if (mapping->inode != search->key->inode || mapping->device != search->key->device)
        return true;
    snprintf(search->path, sizeof search->path, "%s", mapping->path);
    return false;
}

uint32_t tracked_files_announce(struct tracked_files *files, const struct live_roots *roots,
                                const struct tracked_processes *processes,
                                const struct live_file *announced) {
    uint32_t number = find(files, &announced->key);
    if (number == UINT32_MAX)
        number = add(files, &announced->key, announced->seen_in);
    if (number == UINT32_MAX)
        return UINT32_MAX;
    struct tracked_file *file = &files->items[number];
    if (announced->key.generation)
        file->key.generation = announced->key.generation;
    bool has_id = announced->build_id_size && announced->build_id_size <= BUILD_ID_MAX;
    if (file->path[0] && (file->build_id.size || !has_id))
        return number;
    file->seen_in = announced->seen_in;
    if (has_id) {
        memcpy(file->build_id.bytes, announced->build_id, announced->build_id_size);
        file->build_id.size = announced->build_id_size;
    }
    struct search search = {.key = &file->key};
    const char *path = announced->path;
    if (!path[0]) {
        proc_each_mapping(roots, file->seen_in, find_path, &search);
        path = search.path;
    }
    if (path[0] && !identify(files, roots, processes, file, path))
        return UINT32_MAX;
    return number;
}

uint32_t tracked_files_find(struct tracked_files *files, const struct live_roots *roots,
                            const struct tracked_processes *processes,
                            const struct live_file_key *key, uint32_t pid) {
    uint32_t number = find(files, key);
    if (number == UINT32_MAX)
        number = tracked_files_announce(
            files, roots, processes, &(struct live_file){.key = *key, .path = "", .seen_in = pid});
    if (number != UINT32_MAX)
        files->items[number].sampled = true;
    return number;
}

uint32_t tracked_files_source(struct tracked_files *files, const struct live_code *code,
                              bool *many) {
    const struct live_file_key key = {.device = LIVE_DEVICE_SOURCE,
                                      .inode = XXH3_64bits(code->path, strlen(code->path))};
    uint32_t number = find(files, &key);
    *many = number == UINT32_MAX && files->count >= SOURCES_MAX;
    if (*many)
        return UINT32_MAX;
    if (number == UINT32_MAX) {
        number = add(files, &key, 0);
        if (number == UINT32_MAX || !set_path(files, &files->items[number], code->path, ""))
            return UINT32_MAX;
    }
    struct tracked_file *file = &files->items[number];
    file->sampled = true;
    if (!sampled_names_has(&file->names, code->start) && file->names.count < FUNCTIONS_MAX &&
        !sampled_names_put(&file->names, code->start, code->size, code->name))
        return UINT32_MAX;
    return number;
}

struct wide_search {
    struct tracked_files *files;
    const struct live_roots *roots;
    size_t missing;
    uint32_t pid;
    bool good;
};

static bool visit_mapping(void *context, const struct proc_mapping *mapping) {
    struct wide_search *search = context;
    struct tracked_files *files = search->files;
    if (!mapping->inode || !mapping->path[0])
        return true;
    for (size_t i = 0; i < files->count && search->missing; i++) {
        struct tracked_file *file = &files->items[i];
        if (tracked_file_is_known(file) || file->key.inode != mapping->inode ||
            file->key.device != mapping->device)
            continue;
        struct tracked_processes nobody = {0};
        file->seen_in = search->pid;
        search->good = identify(files, search->roots, &nobody, file, mapping->path);
        search->missing--;
    }
    return search->good && search->missing;
}

static bool visit_pid(void *context, uint32_t pid) {
    struct wide_search *search = context;
    search->pid = pid;
    proc_each_mapping(search->roots, pid, visit_mapping, search);
    return search->good && search->missing;
}

bool tracked_files_search(struct tracked_files *files, const struct live_roots *roots) {
    struct wide_search search = {.files = files, .roots = roots, .good = true};
    for (size_t i = 0; i < files->count; i++)
        search.missing += files->items[i].sampled && !tracked_file_is_known(&files->items[i]);
    if (search.missing)
        proc_each_pid(roots, visit_pid, &search);
    return search.good;
}

void tracked_files_forget(struct tracked_files *files) {
    size_t kept = 0;
    bool many = files->count > MANY_FILES;
    struct hash_index index = {0};
    if (!hash_index_reserve(&index, files->count))
        return;
    for (size_t i = 0; i < files->count; i++) {
        struct tracked_file *file = &files->items[i];
        file->idle = file->sampled ? 0 : file->idle < IDLE_SAVES ? file->idle + 1 : IDLE_SAVES;
        file->sampled = false;
        /* What is not known may be by the next sample. */
        if ((many && file->idle == IDLE_SAVES) || !tracked_file_is_known(file)) {
            files->path_bytes -= strlen(file->path) + 1;
            free_file(files, file);
        } else
            files->items[kept++] = *file;
    }
    files->count = kept;
    hash_index_free(&files->index);
    files->index = index;
    for (size_t i = 0; i < kept; i++)
        hash_index_add(&files->index, hash_of(&files->items[i].key), (uint32_t)i);
}

size_t tracked_files_bytes(const struct tracked_files *files) {
    return sum_over(size_t, i, files->count, sampled_names_bytes(&files->items[i].names)) +
           files->capacity * sizeof *files->items + hash_index_bytes(&files->index) +
           files->path_bytes;
}
