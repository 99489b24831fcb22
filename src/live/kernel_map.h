/* What lies where in the kernel: its own text, its modules and the code it makes, with symbols,
 * from /proc/kallsyms and /proc/modules. */
#pragma once

#include "live/proc_files.h"
#include "program/symbol_cover.h"
#include "util/arena.h"

struct kernel_image {
    const char *name;    /* "[kernel]", "[ext4]", "[bpf]" */
    uint64_t start, end; /* addresses: _stext, or the first byte of the module; end exclusive */
    struct build_id build_id;
};

struct kernel_symbol {
    uint64_t address;
    uint64_t size; /* to the next one, or to the end of its image */
    uint32_t image;
    const char *name;
};

struct kernel_map {
    struct kernel_image *images; /* [0] is the kernel itself */
    size_t image_count, image_capacity;
    struct kernel_symbol *symbols; /* sorted by address; text only */
    size_t count, capacity;
    bool hidden; /* the addresses are not shown to us (kernel.kptr_restrict, CAP_SYSLOG) */
    struct arena names;
};

/* What cannot be read is left out: the map may be empty, except for the kernel's image. False: out
 * of memory. */
bool kernel_map_read(const struct live_roots *roots, struct kernel_map *map);
void kernel_map_free(struct kernel_map *map);

/* Whether kernel symbols are hidden from us, without reading them all. */
bool kernel_map_is_hidden(const struct live_roots *roots);

/* The text of the scheduler, as the kernel leaves it out where it tells what a thread waits in;
 * both 0: not known. */
void kernel_map_scheduler(const struct live_roots *roots, uint64_t *start, uint64_t *end);

enum { KERNEL_MAP_NONE = -1 };
/* The image that an address lies in, or KERNEL_MAP_NONE. */
int kernel_map_find(const struct kernel_map *map, uint64_t address);

/* The symbols of an image that cover the offsets from its start. False: out of memory. */
bool kernel_map_cover(const struct kernel_map *map, uint32_t image, struct symbol_cover *cover);
