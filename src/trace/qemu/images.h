/* Which files the guest has mapped: numbers them by path and build id, reads /proc/PID/maps. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/dynamic.h"

struct image {
    char *path;
    enum code_image_kind kind;
    uint8_t build_id[20];
    uint8_t build_id_size;
};

struct images {
    struct image *items; /* by number */
    size_t count, capacity;
    struct kept_files *kept; /* where their files stay open; NULL: they do not */
};

struct image_mapping {
    uint32_t image;       /* UINT32_MAX: anonymous */
    uint64_t start, end;  /* guest addresses */
    uint64_t file_offset; /* of start */
};

/* Finds what is mapped at a guest address of a running process. False: nothing is, or it cannot be
 * found out. */
bool images_find(struct images *images, pid_t pid, uint64_t address, uint64_t guest_base,
                 struct image_mapping *mapping);
/* The path of the jitdump that a running process has mapped; to be freed. NULL: none. */
char *images_find_dump(pid_t pid);
void images_free(struct images *images);
