/* In this order: the stack that the thread is on, by the frames of its shadow stack; what was found
 * last for the same 16 bytes; heap blocks; variables and sections of images; mappings.
 *
 * A stack is the mapping or block that the last call's return address lies in, and of a mapping
 * that is not for a stack alone, as where Go has its stacks, what lies beside the calls; where no
 * mapping is known, what lies STACK_BYTES around. */
#include "attribute/memory_objects.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/heap_blocks.h"
#include "util/array.h"
#include "util/hash_index.h"

enum {
    GRAIN_BITS = 4,
    RECENT = 1 << 12,        /* places remembered, by address */
    FORGET_ALL = RECENT / 2, /* of which so many are forgotten one by one */
    STACK_BYTES = 8 << 20,   /* below a call */
    BESIDE_CALLS = 1 << 12,
    STACK_ABOVE = 1 << 20, /* of it, above the first call seen: arguments, environment */
    FRAMES_SEARCHED = 1 << 12,
    MOST_RANGES = 1 << 16,
    MOST_PROCESSES = 1 << 16
};

/* A mapping. */
struct range {
    uint64_t start, end;
    uint32_t object;
    bool heap; /* that brk() makes */
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
    struct range *ranges; /* by start, without overlap */
    size_t range_count, range_capacity;
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

static struct memory_object object_of(enum object_kind kind) {
    return (struct memory_object){
        .kind = (uint8_t)kind, .image = UINT32_MAX, .path = PATH_NONE, .function = FUNCTION_NONE};
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
            free(objects->processes[i]->ranges);
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

/* NULL: out of memory. */
static struct process_memory *make_memory(struct memory_objects *objects, uint32_t process) {
    if (!array_zeroed_room(objects->processes, objects->process_capacity, (size_t)process + 1))
        return NULL;
    struct process_memory *memory = objects->processes[process] = calloc(1, sizeof *memory);
    if (memory) {
        memory->heap.most = OBJECTS_BLOCKS;
        memory->generation = 1;
    }
    return memory;
}

/* Likewise. Beyond MOST_PROCESSES one is as another. */
static inline struct process_memory *memory_of(struct memory_objects *objects, uint32_t process) {
    const uint32_t number = process < MOST_PROCESSES ? process : MOST_PROCESSES - 1;
    return number < objects->process_capacity && objects->processes[number]
               ? objects->processes[number]
               : make_memory(objects, number);
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
    if (!array_room(child->ranges, child->range_capacity, from->range_count) ||
        !array_room(child->images, child->image_capacity, from->image_count))
        return false;
    if (from->image_count)
        memcpy(child->images, from->images, from->image_count * sizeof *from->images);
    child->image_count = from->image_count;
    if (from->range_count)
        memcpy(child->ranges, from->ranges, from->range_count * sizeof *from->ranges);
    child->range_count = from->range_count;
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

/* ---- mappings ---- */

/* How many begin at the address or before. */
static size_t ranges_before(const struct process_memory *memory, uint64_t address) {
    size_t low = 0, high = memory->range_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (memory->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct range *range_at(const struct process_memory *memory, uint64_t address) {
    const size_t at = ranges_before(memory, address);
    const struct range *range = at ? &memory->ranges[at - 1] : NULL;
    return range && address < range->end ? range : NULL;
}

static bool insert_range(struct process_memory *memory, size_t at, struct range range) {
    if (memory->range_count >= MOST_RANGES)
        return true; /* known as nothing */
    if (!array_room(memory->ranges, memory->range_capacity, memory->range_count + 1))
        return false;
    memmove(memory->ranges + at + 1, memory->ranges + at,
            (memory->range_count - at) * sizeof *memory->ranges);
    memory->ranges[at] = range;
    memory->range_count++;
    return true;
}

static void drop_range(struct process_memory *memory, size_t at) {
    memory->range_count--;
    memmove(memory->ranges + at, memory->ranges + at + 1,
            (memory->range_count - at) * sizeof *memory->ranges);
}

/* Nothing is mapped in [start, end) any more. */
static bool clear_range(struct process_memory *memory, uint64_t start, uint64_t end) {
    size_t at = ranges_before(memory, start);
    assert(!at || memory->ranges);
    if (at && memory->ranges[at - 1].end > start) {
        struct range *before = &memory->ranges[at - 1];
        const struct range rest = {end, before->end, before->object, before->heap};
        before->end = start;
        if (rest.end > end && !insert_range(memory, at, rest))
            return false;
        if (memory->ranges[at - 1].start == start)
            drop_range(memory, --at);
    }
    while (at < memory->range_count && memory->ranges[at].end <= end)
        drop_range(memory, at);
    if (at < memory->range_count && memory->ranges[at].start < end)
        memory->ranges[at].start = end;
    return true;
}

static bool map_range(struct process_memory *memory, struct range range) {
    return clear_range(memory, range.start, range.end) &&
           insert_range(memory, ranges_before(memory, range.start), range);
}

static void drop_heap_range(struct process_memory *memory) {
    for (size_t i = memory->range_count; i-- > 0;)
        if (memory->ranges[i].heap)
            drop_range(memory, i);
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
        drop_heap_range(memory);
    if (range.end <= range.start)
        return true; /* an empty heap; or no addresses of a program */
    return event->kind == MEMORY_UNMAPPED ? clear_range(memory, range.start, range.end)
                                          : map_range(memory, range);
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

/* ---- stacks ---- */

static uint64_t last_slot(const struct shadow_stack *stack) {
    const struct shadow_frames *frames = &stack->frames;
    return frames->count ? frames->items[frames->count - 1].slot : 0;
}

/* [low, high), as far as the stack's calls reach into it, with what may lie a little beside them.
 */
static void narrow(struct memory_view *view, uint64_t slot) {
    const struct shadow_frames *frames = &view->stack->frames;
    uint64_t outermost = slot;
    for (size_t i = 0; i < frames->count && outermost == slot; i++)
        if (frames->items[i].slot > slot)
            outermost = frames->items[i].slot;
    if (slot - view->low > BESIDE_CALLS)
        view->low = slot - BESIDE_CALLS;
    if (view->high > outermost && view->high - outermost > BESIDE_CALLS)
        view->high = outermost + BESIDE_CALLS;
}

static void find_stack(const struct memory_objects *objects, const struct process_memory *memory,
                       struct memory_view *view, uint64_t slot) {
    const struct heap_block *block = heap_blocks_at(&memory->heap, slot);
    const struct range *range = range_at(memory, slot);
    view->shared = false;
    if (block) {
        view->low = block->base;
        view->high = block->base + block->size;
    } else if (range) {
        view->low = range->start;
        view->high = range->end;
        view->shared = objects->items[range->object].kind != OBJECT_STACK;
    } else {
        const size_t at = ranges_before(memory, slot);
        assert(!at || memory->ranges);
        const uint64_t below = at ? memory->ranges[at - 1].end : 0;
        const uint64_t above = at < memory->range_count ? memory->ranges[at].start : UINT64_MAX;
        view->low = slot - below > STACK_BYTES ? slot - STACK_BYTES : below;
        view->high = above - slot > STACK_ABOVE ? slot + STACK_ABOVE : above;
    }
    if (view->shared)
        narrow(view, slot);
}

/* UINT32_MAX: out of memory. */
static uint32_t frame_object(struct memory_objects *objects, const struct path_tree *tree,
                             uint32_t node) {
    if (!array_zeroed_room(objects->frames, objects->frame_capacity, tree->node_count))
        return UINT32_MAX;
    if (objects->frames[node] == OBJECT_NONE) {
        struct memory_object object = object_of(OBJECT_STACK);
        uint32_t around = node;
        while (tree->nodes[around].kind == PATH_INLINE)
            around = tree->nodes[around].parent;
        object.function = tree->nodes[around].function;
        const uint32_t number = memory_objects_number(objects, &object);
        if (number == UINT32_MAX)
            return UINT32_MAX;
        objects->frames[node] = number;
    }
    return objects->frames[node];
}

/* What heap is that is accessed at a node and not allocated: the outermost routine that allocates
 * takes it for its caller. UINT32_MAX: out of memory. */
static uint32_t asked_object(struct memory_objects *objects, const struct shadow_stack *stack) {
    const struct path_node *nodes = stack->tree->nodes;
    const uint32_t node = stack->node;
    struct memory_object object = object_of(OBJECT_HEAP);
    if (!array_zeroed_room(objects->asked, objects->asked_capacity, stack->tree->node_count))
        return UINT32_MAX;
    if (objects->asked[node] != OBJECT_NONE)
        return objects->asked[node];
    uint32_t at = node;
    for (; at != PATH_NONE && objects->asked[at] == OBJECT_NONE; at = nodes[at].parent)
        if (nodes[at].function != FUNCTION_NONE &&
            stack->functions->items[nodes[at].function].allocates)
            object.path = at;
    uint32_t asked = at == PATH_NONE ? objects->allocator : objects->asked[at];
    if (asked == objects->allocator && object.path != PATH_NONE)
        asked = memory_objects_number(objects, &object);
    if (asked != UINT32_MAX)
        objects->asked[node] = asked;
    return asked;
}

/* Frames further out lie at higher addresses. */
static uint32_t find_frame(struct memory_objects *objects, const struct memory_view *view,
                           uint64_t address) {
    const struct shadow_stack *stack = view->stack;
    const struct shadow_frames *frames = &stack->frames;
    const size_t least = frames->count > FRAMES_SEARCHED ? frames->count - FRAMES_SEARCHED : 0;
    uint32_t node = stack->node;
    uint64_t slot = 0;
    for (size_t i = frames->count; i-- > least && slot + 8 <= address; node = frames->items[i].node)
        if ((slot = frames->items[i].slot) && address < slot + 8)
            break;
    return frame_object(objects, stack->tree, node);
}

bool memory_objects_stand(struct memory_objects *objects, struct memory_view *view) {
    const uint64_t slot = last_slot(view->stack);
    struct process_memory *memory = memory_of(objects, view->process);
    if (!memory)
        return false;
    view->memory = memory;
    if (slot && slot != view->slot) {
        if (view->shared || slot - view->low >= view->high - view->low)
            find_stack(objects, memory, view, slot);
        view->slot = slot;
    }
    view->top = slot ? slot + 8 : 0;
    view->frame = frame_object(objects, view->stack->tree, view->stack->node);
    view->asked = asked_object(objects, view->stack);
    return view->frame != UINT32_MAX && view->asked != UINT32_MAX;
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
    const struct range *range = range_at(memory, address);
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
        return address < view->top ? view->frame : find_frame(objects, view, address);
    const struct recent *recent = recent_of(view->memory, address);
    const uint32_t object = remembers(view->memory, recent, address)
                                ? recent->object
                                : find_object(objects, view->memory, code, address);
    return object == objects->allocator ? view->asked : object;
}
