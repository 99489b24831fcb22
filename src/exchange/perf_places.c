/* Mappings are kept by process, the newest last; those that a new one covers go. What is known of
 * the files here is kept by path, and where functions begin that perf names, by path and name: it
 * leaves parameters out, so that several may have one name. */
#include "exchange/perf_places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/program.h"
#include "util/array.h"

struct map {
    uint64_t start, end, file_offset;
    uint32_t path; /* in `paths` */
    uint8_t build_id[20];
    uint8_t build_id_size;
};

struct maps { /* of a process or thread */
    struct map *items;
    size_t count, capacity;
    uint32_t parent; /* that it has mappings from; INTERN_NONE: of nobody */
};

struct local_file { /* the file of a path on this machine */
    bool known;     /* it is ELF, and has a build id: `image` is its number in `program` */
    uint32_t image;
    uint8_t build_id[BUILD_ID_MAX];
    size_t build_id_size;
};

struct starts { /* file offsets of the functions of one name */
    uint64_t *items;
    size_t count, capacity;
    bool out_of_memory;
};

struct perf_places {
    struct gathered *gathered;
    struct program *program;
    struct intern pids; /* numbers index `maps` */
    struct maps *maps;
    size_t maps_capacity;
    struct intern paths; /* numbers index `files` */
    struct local_file *files;
    size_t file_capacity;
    struct intern names; /* "PATH NAME", the path by its number; numbers index `starts` */
    struct starts *starts;
    size_t starts_capacity;
};

struct perf_places *perf_places_new(struct gathered *gathered, struct error *error) {
    struct perf_places *places = calloc(1, sizeof *places);
    if (places) {
        places->gathered = gathered;
        places->program = program_new();
    }
    if (places && places->program)
        return places;
    free(places);
    return error_null(error, "out of memory for places");
}

void perf_places_free(struct perf_places *places) {
    if (!places)
        return;
    for (size_t i = 0; i < places->pids.count; i++)
        free(places->maps[i].items);
    for (size_t i = 0; i < places->names.count; i++)
        free(places->starts[i].items);
    free(places->maps);
    free(places->files);
    free(places->starts);
    intern_free(&places->names);
    intern_free(&places->pids);
    intern_free(&places->paths);
    program_free(places->program);
    free(places);
}

/* ---- files ---- */

static void look_at_file(struct perf_places *places, const char *path, struct local_file *file) {
    struct elf_image image;
    struct error ignored;
    *file = (struct local_file){0};
    if (path[0] != '/' || !elf_image_open(&image, path, &ignored))
        return;
    file->build_id_size = image.build_id_size;
    memcpy(file->build_id, image.build_id, sizeof file->build_id);
    elf_image_close(&image);
    if (!file->build_id_size)
        return;
    file->image = program_add_image(places->program, path, file->build_id, file->build_id_size);
    file->known = file->image != UINT32_MAX;
}

static uint32_t path_number(struct perf_places *places, const char *path) {
    size_t known = places->paths.count;
    if (!array_room(places->files, places->file_capacity, known + 1))
        return INTERN_NONE;
    uint32_t number = intern_add(&places->paths, path, strlen(path));
    if (number == known)
        look_at_file(places, path, &places->files[number]);
    return number;
}

/* ---- mappings ---- */

static uint32_t maps_number(struct perf_places *places, int64_t pid) {
    size_t known = places->pids.count;
    if (!array_room(places->maps, places->maps_capacity, known + 1))
        return INTERN_NONE;
    uint32_t number = intern_add(&places->pids, &pid, sizeof pid);
    if (number == known)
        places->maps[number] = (struct maps){.parent = INTERN_NONE};
    return number;
}

bool perf_places_map(struct perf_places *places, const struct perf_mapping *mapping) {
    uint32_t path = path_number(places, mapping->path);
    uint32_t number = maps_number(places, mapping->pid);
    if (path == INTERN_NONE || number == INTERN_NONE)
        return false;
    struct maps *maps = &places->maps[number];
    size_t kept = 0;
    for (size_t i = 0; i < maps->count; i++)
        if (maps->items[i].start < mapping->start || maps->items[i].end > mapping->end)
            maps->items[kept++] = maps->items[i];
    maps->count = kept;
    if (!array_room(maps->items, maps->capacity, kept + 1))
        return false;
    struct map *map = &maps->items[maps->count++];
    *map = (struct map){.start = mapping->start,
                        .end = mapping->end,
                        .file_offset = mapping->file_offset,
                        .path = path,
                        .build_id_size = (uint8_t)mapping->build_id_size};
    memcpy(map->build_id, mapping->build_id, sizeof map->build_id);
    return true;
}

bool perf_places_fork(struct perf_places *places, int64_t child, int64_t parent) {
    uint32_t from = maps_number(places, parent), to = maps_number(places, child);
    if (from == INTERN_NONE || to == INTERN_NONE)
        return false;
    if (from != to)
        places->maps[to].parent = from;
    return true;
}

static const struct map *find_own(const struct maps *maps, uint32_t path, uint64_t address) {
    for (size_t i = maps->count; i-- > 0;)
        if (maps->items[i].path == path && address >= maps->items[i].start &&
            address < maps->items[i].end)
            return &maps->items[i];
    return NULL;
}

static const struct map *find_map(const struct perf_places *places, int64_t pid, uint32_t path,
                                  uint64_t address) {
    enum { GENERATIONS = 16 };
    uint32_t number = intern_find(&places->pids, &pid, sizeof pid);
    const struct map *found = NULL;
    for (unsigned i = 0; i < GENERATIONS && !found && number != INTERN_NONE; i++) {
        found = find_own(&places->maps[number], path, address);
        number = places->maps[number].parent;
    }
    return found;
}

/* ---- places ---- */

/* By the name that perf gives the image, and where the address lies. */
static enum image_kind kind_of(const char *image, uint64_t address) {
    bool kernel = address >> 63;
    if (!strncmp(image, "[kernel", 7) || !strncmp(image, "[guest.kernel", 13))
        return IMAGE_KERNEL;
    if (!strcmp(image, "[vdso]") || !strcmp(image, "[vsyscall]"))
        return IMAGE_VDSO;
    if (!strcmp(image, "[unknown]"))
        return IMAGE_UNKNOWN;
    if (kernel)
        return IMAGE_MODULE;
    if (image[0] != '/' || !strncmp(image, "//", 2) || !strncmp(image, "/tmp/perf-", 10) ||
        !strncmp(image, "/memfd:", 7) || !strncmp(image, "/dev/zero", 9))
        return IMAGE_JIT;
    return IMAGE_FILE;
}

static bool add_start(void *context, uint64_t file_offset) {
    struct starts *starts = context;
    starts->out_of_memory =
        !array_push(starts->items, starts->capacity, starts->count, file_offset);
    return !starts->out_of_memory;
}

/* Where the functions of the frame's name begin in the file; NULL: out of memory. */
static const struct starts *starts_of(struct perf_places *places, uint32_t path,
                                      const struct perf_frame *frame) {
    char text[8192];
    const size_t known = places->names.count;
    const int length = snprintf(text, sizeof text, "%" PRIu32 " %s", path, frame->symbol);
    const size_t size = (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    if (!array_room(places->starts, places->starts_capacity, known + 1))
        return NULL;
    const uint32_t number = intern_add(&places->names, text, size);
    if (number == INTERN_NONE)
        return NULL;
    struct starts *starts = &places->starts[number];
    if (number == known) {
        *starts = (struct starts){0};
        program_each_named(places->program, places->files[path].image, frame->symbol, add_start,
                           starts);
    }
    return starts->out_of_memory ? NULL : starts;
}

/* Whether the file here has at `offset` what perf says is there; without symbol, whether it has
 * code there. */
static bool agrees(struct perf_places *places, uint32_t path, uint64_t offset,
                   const struct perf_frame *frame) {
    const struct local_file *file = &places->files[path];
    uint64_t address;
    if (!file->known || !program_offset_to_address(places->program, file->image, offset, &address))
        return false;
    if (!frame->symbol || !frame->placed)
        return true;
    const struct starts *starts = starts_of(places, path, frame);
    return starts && any_where(i, starts->count, starts->items[i] + frame->symbol_offset == offset);
}

/* The offset from the symbol in the file here, if the address lies equally in its page, and not
 * from two functions of the name. */
static bool offset_by_symbol(struct perf_places *places, uint32_t path,
                             const struct perf_frame *frame, uint64_t *offset) {
    enum { PAGE_BYTES = 4096 };
    const struct local_file *file = &places->files[path];
    const struct starts *starts =
        file->known && frame->symbol && frame->placed ? starts_of(places, path, frame) : NULL;
    bool found = false;
    for (size_t i = 0; starts && i < starts->count; i++) {
        const uint64_t there = starts->items[i] + frame->symbol_offset;
        uint64_t address;
        if (!program_offset_to_address(places->program, file->image, there, &address) ||
            address % PAGE_BYTES != frame->address % PAGE_BYTES || (found && there == *offset))
            continue;
        if (found)
            return false;
        found = true;
        *offset = there;
    }
    return found;
}

static bool set_place(struct perf_places *places, const struct perf_frame *frame, const char *path,
                      const uint8_t *build_id, size_t build_id_size, uint64_t offset,
                      struct perf_place *place) {
    struct gathered *gathered = places->gathered;
    place->offset = offset;
    place->image = gathered_image(gathered, IMAGE_FILE, path, build_id, build_id_size);
    if (place->image == GATHERED_NONE)
        return false;
    if (!frame->symbol || !frame->placed || frame->symbol_offset > offset)
        return true;
    return gathered_symbol(gathered, place->image, frame->symbol, offset - frame->symbol_offset,
                           frame->symbol_offset + 1);
}

/* Preference 2, else 3. */
static bool place_by_name(struct perf_places *places, enum image_kind kind, const char *image,
                          const struct perf_frame *frame, uint64_t address,
                          struct perf_place *place) {
    place->image = gathered_image(places->gathered, kind, image, NULL, 0);
    place->offset = address;
    if (place->image == GATHERED_NONE)
        return false;
    if (!frame->symbol)
        return true;
    uint64_t start = gathered_place_of_name(frame->symbol);
    uint64_t distance = frame->placed ? frame->symbol_offset : 0;
    if (distance >= GATHERED_NAMED_BYTES)
        distance = GATHERED_NAMED_BYTES - 1;
    place->offset = start + distance;
    return gathered_symbol(places->gathered, place->image, frame->symbol, start, distance + 1);
}

static bool find_in_file(struct perf_places *places, const struct perf_head *head,
                         const struct perf_frame *frame, bool stacked, struct perf_place *place) {
    uint32_t path = path_number(places, frame->image);
    if (path == INTERN_NONE)
        return false;
    const struct local_file *file = &places->files[path];
    const struct map *map = find_map(places, head->pid, path, frame->address);
    uint64_t offset = frame->address;
    bool located = true;
    if (frame->has_image_offset)
        offset = frame->image_offset;
    else if (map)
        offset = frame->address - map->start + map->file_offset;
    else
        located = stacked;
    if (located && map && map->build_id_size)
        return set_place(places, frame, frame->image, map->build_id, map->build_id_size, offset,
                         place);
    if ((located && agrees(places, path, offset, frame)) ||
        offset_by_symbol(places, path, frame, &offset))
        return set_place(places, frame, frame->image, file->build_id, file->build_id_size, offset,
                         place);
    place->unplaced = !located && !frame->symbol;
    return place_by_name(places, IMAGE_FILE, frame->image, frame, offset, place);
}

bool perf_places_find(struct perf_places *places, const struct perf_head *head,
                      const struct perf_frame *frame, bool stacked, struct perf_place *place) {
    char name[512];
    const char *image = frame->image ? frame->image : "[unknown]";
    enum image_kind kind = kind_of(image, frame->address);
    *place = (struct perf_place){.unknown = kind == IMAGE_UNKNOWN};
    switch (kind) {
    case IMAGE_FILE:
        return find_in_file(places, head, frame, stacked, place);
    case IMAGE_KERNEL: /* by the name that it has here, in whatever way perf came by its symbols */
        return place_by_name(places, kind, "[kernel]", frame, frame->address, place);
    case IMAGE_JIT:
        if (head->pid >= 0)
            snprintf(name, sizeof name, "[jit] %.400s %lld", head->command, (long long)head->pid);
        else
            snprintf(name, sizeof name, "[jit] %.400s", head->command);
        return place_by_name(places, kind, name, frame, frame->address, place);
    default:
        return place_by_name(places, kind, image, frame, frame->address, place);
    }
}
