/* In this order: the stack that the thread is on, by the frames of its shadow stack; what was found
 * last for the same 16 bytes; heap blocks; variables and sections of images; mappings. */
#include "attribute/memory_objects_parts.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { GRAIN_BITS = 4, FORGET_ALL = RECENT / 2 /* of which so many are forgotten one by one */ };

/* ---- objects ---- */

static bool same(const struct memory_object *a, const struct memory_object *b) {
    return a->kind == b->kind && a->image == b->image && a->path == b->path &&
           a->function == b->function && a->start == b->start;
}

uint32_t memory_objects_number(struct memory_objects *objects, const struct memory_object *object) {
    const uint64_t hash =
        hash_pair((uint64_t)object->image << 32 | object->path,
                  hash_pair((uint64_t)object->function << 8 | object->kind, object->start));
    size_t at;
    for (uint32_t i = hash_index_first(&objects->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&objects->index, hash, &at))
        if (same(&objects->items[i], object))
            return i;
    if (!hash_index_reserve(&objects->index, objects->count + 1) ||
        !array_push(objects->items, objects->capacity, objects->count, *object))
        return UINT32_MAX;
    hash_index_add(&objects->index, hash, (uint32_t)objects->count - 1);
    return (uint32_t)objects->count - 1;
}

uint32_t memory_objects_count(const struct memory_objects *objects) {
    return (uint32_t)objects->count;
}

const struct memory_object *memory_object_at(const struct memory_objects *objects,
                                             uint32_t number) {
    return &objects->items[number];
}

uint64_t memory_objects_dropped(const struct memory_objects *objects) {
    return sum_over(uint64_t, i, objects->process_capacity,
                    objects->processes[i] ? objects->processes[i]->heap.dropped : 0);
}

struct memory_objects *memory_objects_new(const struct object_names *names) {
    struct memory_objects *objects = calloc(1, sizeof *objects);
    const struct memory_object unknown = object_of(OBJECT_UNKNOWN),
                               allocator = object_of(OBJECT_ALLOCATOR);
    if (!objects)
        return NULL;
    objects->names = *names;
    if (memory_objects_number(objects, &unknown) == OBJECT_NONE &&
        (objects->allocator = memory_objects_number(objects, &allocator)) != UINT32_MAX)
        return objects;
    memory_objects_free(objects);
    return NULL;
}

void memory_objects_free(struct memory_objects *objects) {
    if (!objects)
        return;
    for (size_t i = 0; i < objects->process_capacity; i++)
        if (objects->processes[i]) {
            heap_blocks_free(&objects->processes[i]->heap);
            free(objects->processes[i]->ranges.items);
            free(objects->processes[i]->images);
            free(objects->processes[i]);
        }
    free(objects->processes);
    free(objects->frames);
    free(objects->asked);
    free(objects->items);
    hash_index_free(&objects->index);
    free(objects);
}

struct process_memory *memory_objects_make(struct memory_objects *objects, uint32_t process) {
    if (!array_zeroed_room(objects->processes, objects->process_capacity, (size_t)process + 1))
        return NULL;
    struct process_memory *memory = objects->processes[process] = calloc(1, sizeof *memory);
    if (memory) {
        memory->heap.most = OBJECTS_BLOCKS;
        memory->generation = 1;
    }
    return memory;
}

bool memory_objects_fork(struct memory_objects *objects, uint32_t process, uint32_t parent) {
    if (process < objects->process_capacity && objects->processes[process])
        return true; /* it has begun */
    struct process_memory *child = memory_of(objects, process);
    if (parent == UINT32_MAX || parent >= objects->process_capacity || !child)
        return child;
    const struct process_memory *from = objects->processes[parent];
    if (!from || from == child)
        return true;
    if (!memory_ranges_copy(&child->ranges, &from->ranges) ||
        !array_room(child->images, child->image_capacity, from->image_count))
        return false;
    if (from->image_count)
        memcpy(child->images, from->images, from->image_count * sizeof *from->images);
    child->image_count = from->image_count;
    return heap_blocks_copy(&child->heap, &from->heap);
}

/* ---- what was found last ---- */

static struct recent *recent_of(struct process_memory *memory, uint64_t address) {
    return &memory->recent[address >> GRAIN_BITS & (RECENT - 1)];
}

static uint64_t key_of(const struct process_memory *memory, uint64_t address) {
    return (address >> GRAIN_BITS) << 16 | memory->generation;
}

static bool remembers(const struct process_memory *memory, const struct recent *recent,
                      uint64_t address) {
    const uint32_t byte = address & ((1 << GRAIN_BITS) - 1);
    return recent->key == key_of(memory, address) && byte >= recent->first && byte < recent->end;
}

static void remember(const struct process_memory *memory, struct recent *recent, uint64_t address,
                     const struct memory_place *place) {
    const uint64_t start = address >> GRAIN_BITS << GRAIN_BITS, end = start + (1 << GRAIN_BITS);
    const uint64_t last = place->base + place->size;
    *recent =
        (struct recent){.key = key_of(memory, address),
                        .object = place->object,
                        .first = (uint8_t)(place->base > start ? place->base - start : 0),
                        .end = (uint8_t)(last - start < end - start ? last - start : end - start)};
}

/* Of all that was remembered; generations come again, 0 is none. */
static void forget_all(struct process_memory *memory) {
    if (!++memory->generation) {
        memset(memory->recent, 0, sizeof memory->recent);
        memory->generation = 1;
    }
}

static void forget(struct process_memory *memory, uint64_t start, uint64_t size) {
    const uint64_t first = start >> GRAIN_BITS, grains = (size >> GRAIN_BITS) + 2;
    if (grains > FORGET_ALL)
        forget_all(memory);
    else
        for (uint64_t i = 0; i < grains; i++)
            recent_of(memory, (first + i) << GRAIN_BITS)->key = 0;
}

/* ---- events ---- */

static uint32_t object_of_event(struct memory_objects *objects, uint32_t node,
                                const struct trace_memory *event) {
    struct memory_object object = object_of(OBJECT_HEAP);
    if (event->kind == MEMORY_BREAK)
        return objects->allocator;
    if (event->kind == MEMORY_MAPPED && event->image != UINT32_MAX) {
        object.kind = OBJECT_MAPPED;
        object.image = event->image;
        return memory_objects_number(objects, &object);
    }
    if (event->kind == MEMORY_STACK) {
        object.kind = OBJECT_STACK; /* of another thread's functions than the one that looks */
        return memory_objects_number(objects, &object);
    }
    if (event->kind == MEMORY_MAPPED)
        object.kind = OBJECT_ANONYMOUS;
    object.path = node;
    return memory_objects_number(objects, &object);
}

static bool note_range(struct process_memory *memory, const struct trace_memory *event,
                       uint32_t object) {
    const struct range range = {event->address, event->address + event->size, object,
                                event->kind == MEMORY_BREAK};
    forget_all(memory);
    if (range.heap)
        memory_ranges_drop_heap(&memory->ranges);
    if (range.end <= range.start)
        return true; /* an empty heap; or no addresses of a program */
    return event->kind == MEMORY_UNMAPPED
               ? memory_ranges_clear(&memory->ranges, range.start, range.end)
               : memory_ranges_map(&memory->ranges, range);
}

static bool note_event(struct memory_objects *objects, uint32_t process, uint32_t node,
                       const struct trace_memory *event) {
    struct process_memory *memory = memory_of(objects, process);
    uint32_t object = OBJECT_NONE;
    if (!memory)
        return false;
    if (event->kind == MEMORY_FREED) {
        forget(memory, event->address, heap_blocks_remove(&memory->heap, event->address));
        return true;
    }
    if (event->kind != MEMORY_UNMAPPED &&
        (object = object_of_event(objects, node, event)) == UINT32_MAX)
        return false;
    if (event->kind != MEMORY_ALLOCATED)
        return note_range(memory, event, object);
    forget(memory, event->address, event->size);
    return heap_blocks_add(&memory->heap, event->address, event->size, object);
}

bool memory_objects_note(struct memory_objects *objects, struct memory_view *view,
                         const struct trace_memory *event) {
    return note_event(objects, view->process, view->stack->node, event);
}

bool memory_objects_recall(struct memory_objects *objects, uint32_t process,
                           const struct trace_memory *event, uint32_t node) {
    struct trace_memory as_here = *event;
    if (as_here.image != UINT32_MAX)
        as_here.image |= OBJECT_BASE_IMAGE;
    return note_event(objects, process, node, &as_here);
}

/* ---- images ---- */

/* In a process, as an image of this number; a place is known once, by whatever number. */
static bool add_mapping(struct memory_objects *objects, const struct code_image *image,
                        const struct code_mapping *mapping, uint32_t process, uint32_t number) {
    struct process_memory *memory = memory_of(objects, process);
    uint64_t linked, low, high;
    if (!memory)
        return false;
    if (image->kind != CODE_IMAGE_FILE ||
        any_where(i, memory->image_count, memory->images[i].image == number) ||
        !objects->names.linked(objects->names.context, image, mapping->file_offset, &linked, &low,
                               &high))
        return true;
    const uint64_t bias = mapping->address - linked;
    if (any_where(i, memory->image_count,
                  memory->images[i].bias == bias && memory->images[i].low == low + bias))
        return true;
    forget_all(memory);
    return array_push(memory->images, memory->image_capacity, memory->image_count,
                      (struct image_place){number, bias, low + bias, high + bias});
}

bool memory_objects_begin(struct memory_objects *objects, const struct code *base, uint32_t of,
                          uint32_t process) {
    objects->base = base;
    for (uint32_t i = 0; i < base->mapping_count; i++) {
        const struct code_mapping *mapping = &base->mappings[i];
        if (mapping->process == of && !add_mapping(objects, &base->images[mapping->image], mapping,
                                                   process, mapping->image | OBJECT_BASE_IMAGE))
            return false;
    }
    return true;
}

bool memory_objects_learn(struct memory_objects *objects, const struct code *code) {
    for (; objects->mappings_known < code->mapping_count; objects->mappings_known++) {
        const struct code_mapping *mapping = &code->mappings[objects->mappings_known];
        if (!add_mapping(objects, &code->images[mapping->image], mapping, mapping->process,
                         mapping->image))
            return false;
    }
    return true;
}

static const struct code_image *image_at(const struct memory_objects *objects,
                                         const struct code *code, uint32_t number) {
    return number & OBJECT_BASE_IMAGE ? &objects->base->images[number & ~OBJECT_BASE_IMAGE]
                                      : &code->images[number];
}

/* The variable or section at an address. *found: whether one is. False: out of memory. */
static bool find_in_images(struct memory_objects *objects, const struct process_memory *memory,
                           const struct code *code, uint64_t address, struct memory_place *place,
                           bool *found) {
    *found = false;
    for (size_t i = 0; i < memory->image_count; i++) {
        const struct image_place *image = &memory->images[i];
        struct memory_object object = object_of(OBJECT_SECTION);
        if (address - image->low >= image->high - image->low ||
            !objects->names.locate(objects->names.context, image_at(objects, code, image->image),
                                   address - image->bias, &object))
            continue;
        object.image = image->image;
        const uint32_t number = memory_objects_number(objects, &object);
        *place = (struct memory_place){number, object.start + image->bias, object.size};
        *found = true;
        return number != UINT32_MAX;
    }
    return true;
}

/* ---- addresses ---- */

/* Where a section has no symbol, one may begin within 16 bytes: both ends are looked at. */
static bool is_uniform(struct memory_objects *objects, const struct process_memory *memory,
                       const struct code *code, uint64_t address,
                       const struct memory_place *place) {
    struct memory_place first, last;
    bool found;
    const uint64_t start = address >> GRAIN_BITS << GRAIN_BITS;
    if (objects->items[place->object].kind != OBJECT_SECTION)
        return true;
    return find_in_images(objects, memory, code, start, &first, &found) && found &&
           first.object == place->object &&
           find_in_images(objects, memory, code, start + (1 << GRAIN_BITS) - 1, &last, &found) &&
           found && last.object == place->object;
}

/* Neither on the stack nor remembered. */
static bool look_up(struct memory_objects *objects, struct process_memory *memory,
                    const struct code *code, uint64_t address, struct memory_place *place) {
    const struct heap_block *block = heap_blocks_at(&memory->heap, address);
    if (block) {
        *place = (struct memory_place){block->object, block->base, block->size};
        return true;
    }
    const struct range *range = memory_ranges_at(&memory->ranges, address);
    bool found = false;
    if (!(range && range->heap) && !find_in_images(objects, memory, code, address, place, &found))
        return false;
    if (found)
        return true;
    *place = range ? (struct memory_place){range->object, range->start, range->end - range->start}
                   : (struct memory_place){OBJECT_NONE, address, 1};
    return true;
}

/* And remembers it. */
static uint32_t find_object(struct memory_objects *objects, struct process_memory *memory,
                            const struct code *code, uint64_t address) {
    struct recent *recent = recent_of(memory, address);
    struct memory_place place;
    recent->key = 0;
    if (!look_up(objects, memory, code, address, &place))
        return UINT32_MAX;
    if (is_uniform(objects, memory, code, address, &place))
        remember(memory, recent, address, &place);
    return place.object;
}

uint32_t memory_objects_at(struct memory_objects *objects, const struct memory_view *view,
                           const struct code *code, uint64_t address) {
    if (address - view->low < view->high - view->low)
        return address < view->top ? view->frame : memory_objects_frame(objects, view, address);
    const struct recent *recent = recent_of(view->memory, address);
    const uint32_t object = remembers(view->memory, recent, address)
                                ? recent->object
                                : find_object(objects, view->memory, code, address);
    return object == objects->allocator ? view->asked : object;
}
