/* The names that samples have in files, looked up while the files are there. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live/own_vdso.h"
#include "live/resolver_internal.h"
#include "util/array.h"
#include "util/order.h"

enum { KEPT_FILES = 128 }; /* open at a time, of which no names were read yet */

struct place {     /* of which the name is not known */
    uint32_t file; /* number, or PLACE_NUMBER_VDSO */
    uint64_t offset;
};

struct places {
    struct place *items;
    size_t count, capacity;
};

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for the names of samples");
}

static struct sampled_names *names_of(struct resolver *resolver, uint32_t place) {
    return place == PLACE_NUMBER_VDSO      ? &resolver->vdso_names
           : place < resolver->files.count ? &resolver->files.items[place].names
                                           : NULL;
}

/* What runs a source has named its functions. */
static bool is_source(const struct resolver *resolver, uint32_t place) {
    return place < resolver->files.count && tracked_file_is_source(&resolver->files.items[place]);
}

static bool add_place(struct resolver *resolver, struct places *places, uint32_t file,
                      uint64_t offset) {
    const struct sampled_names *names = names_of(resolver, file);
    return !names || is_source(resolver, file) || sampled_names_has(names, offset) ||
           array_push(places->items, places->capacity, places->count, (struct place){file, offset});
}

static bool find_places(struct resolver *resolver, struct places *places) {
    const struct sample_table *table = &resolver->table;
    const struct call_tree *tree = &resolver->tree;
    for (size_t i = 0; table->count && i < table->capacity; i++)
        if (table->slots[i].count &&
            !add_place(resolver, places, table->slots[i].place, table->slots[i].offset))
            return false;
    for (size_t i = 0; i < tree->count; i++)
        if (tree->calls[i].parent != STORE_CALL_TOP &&
            !add_place(resolver, places, (uint32_t)(tree->calls[i].image - 1),
                       tree->calls[i].offset))
            return false;
    return true;
}

ORDER(by_file, struct place, ascending(a->file, b->file) ?: ascending(a->offset, b->offset))

/* The kernel's library is a file as it stands in memory. */
static int open_vdso(void) {
    size_t size;
    const void *bytes = own_vdso(&size);
    int file = bytes ? memfd_create("vdso", MFD_CLOEXEC) : -1;
    if (file >= 0 && write(file, bytes, size) != (ssize_t)size) {
        close(file);
        return -1;
    }
    return file;
}

/* Of a file that is not to be had any more, −1. */
static int open_file(struct resolver *resolver, struct tracked_file *file) {
    char root[PROC_ROOT_BYTES];
    int descriptor = tracked_files_take_kept(&resolver->files, file);
    if (descriptor >= 0)
        return descriptor;
    if (proc_find_file(&resolver->roots, file->seen_in, file->path, &file->key, &file->build_id,
                       root, &descriptor))
        return descriptor;
    return proc_open_mapped(&resolver->roots, file->seen_in, file->path, &file->key,
                            &file->build_id);
}

/* NULL: out of memory. Its only image is number 0. */
static struct program *new_reader(struct resolver *resolver, uint32_t place) {
    struct tracked_file *file = place == PLACE_NUMBER_VDSO ? NULL : &resolver->files.items[place];
    struct program *reader = program_new_local();
    int descriptor = file ? open_file(resolver, file) : open_vdso();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (reader && descriptor >= 0)
        program_add_image(reader, path, file ? file->build_id.bytes : NULL,
                          file ? file->build_id.size : 0);
    if (descriptor >= 0)
        close(descriptor);
    return reader;
}

/* Offsets of one file. A file that is gone has no names, and is not looked for again. */
static bool add_names(struct resolver *resolver, uint32_t place, const uint64_t *offsets,
                      size_t count) {
    struct program **kept =
        place == PLACE_NUMBER_VDSO ? &resolver->vdso_reader : &resolver->files.items[place].reader;
    struct program *reader = *kept ? *kept : new_reader(resolver, place);
    bool good = reader && sampled_names_add(names_of(resolver, place), offsets, count, reader, 0);
    *kept = resolver->keeps_readers ? reader : NULL;
    if (!*kept && reader)
        program_free(reader);
    return good;
}

bool resolver_collect_names(struct resolver *resolver, struct error *error) {
    struct places places = {0};
    if (!resolver->takes_names)
        return true;
    bool good = find_places(resolver, &places);
    uint64_t *offsets = malloc((places.count + 1) * sizeof *offsets);
    good = good && offsets;
    if (places.count)
        qsort(places.items, places.count, sizeof *places.items, by_file);
    for (size_t first = 0, next; good && first < places.count; first = next) {
        for (next = first;
             next < places.count && places.items[next].file == places.items[first].file; next++)
            offsets[next - first] = places.items[next].offset;
        good = add_names(resolver, places.items[first].file, offsets, next - first);
    }
    free(offsets);
    free(places.items);
    return good || no_memory(error);
}

void resolver_take_names(struct resolver *resolver, bool keep_readers) {
    resolver->takes_names = true;
    resolver->keeps_readers = keep_readers;
    resolver->files.kept_most = keep_readers ? KEPT_FILES : 0;
}
