/* Only the files of memory_objects.h include this: what is kept of a run's objects. */
#pragma once

#include <assert.h>

#include "attribute/heap_blocks.h"
#include "attribute/memory_objects.h"
#include "attribute/memory_ranges.h"
#include "util/hash_index.h"

enum {
    RECENT = 1 << 12, /* places remembered, by address */
    MOST_PROCESSES = 1 << 16
};

/* What lies at an address. */
struct memory_place {
    uint32_t object;     /* number; OBJECT_NONE: not known */
    uint64_t base, size; /* bytes of this variable, block or mapping in the process */
};

/* Of 16 bytes, those from `first` to before `end` are the object's. */
struct recent {
    uint64_t key; /* of the bytes and the generation; 0: none */
    uint32_t object;
    uint8_t first, end;
};
static_assert(sizeof(struct recent) == 16, "all of them should fit a cache");

/* A file whose sections are known. */
struct image_place {
    uint32_t image;
    uint64_t bias;      /* address less that as linked */
    uint64_t low, high; /* addresses of its sections */
};

struct process_memory {
    struct heap_blocks heap;
    struct memory_ranges ranges;
    struct image_place *images;
    size_t image_count, image_capacity;
    uint16_t generation; /* what was remembered in others does not count */
    struct recent recent[RECENT];
};

struct memory_objects {
    struct object_names names;
    struct memory_object *items; /* by number */
    size_t count, capacity;
    struct hash_index index;
    struct process_memory **processes; /* by number; NULL: none yet */
    size_t process_capacity;
    const struct code *base; /* of the run that began it; NULL: none did */
    uint32_t mappings_known; /* of the code */
    uint32_t allocator;      /* the one object of its kind */
    uint32_t *frames;        /* objects, by node of the path tree; OBJECT_NONE: not asked yet */
    uint32_t *asked;         /* likewise, as in struct memory_view */
    size_t frame_capacity, asked_capacity;
};

static inline struct memory_object object_of(enum object_kind kind) {
    return (struct memory_object){
        .kind = (uint8_t)kind, .image = UINT32_MAX, .path = PATH_NONE, .function = FUNCTION_NONE};
}

/* NULL: out of memory. */
struct process_memory *memory_objects_make(struct memory_objects *objects, uint32_t process);
/* Likewise. Beyond MOST_PROCESSES one is as another. */
static inline struct process_memory *memory_of(struct memory_objects *objects, uint32_t process) {
    const uint32_t number = process < MOST_PROCESSES ? process : MOST_PROCESSES - 1;
    return number < objects->process_capacity && objects->processes[number]
               ? objects->processes[number]
               : memory_objects_make(objects, number);
}

/* memory_stacks.c: the object of the frame that an address on the thread's stack lies in.
 * UINT32_MAX: out of memory. */
uint32_t memory_objects_frame(struct memory_objects *objects, const struct memory_view *view,
                              uint64_t address);
