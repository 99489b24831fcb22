/* Which object of the program a data address belongs to, at this point of the trace: a variable, a
 * heap block by where it was allocated, a stack frame, a mapped file.
 *
 *     events of memory (trace/dynamic.h) ──► memory_objects_note() ──┐
 *     instructions ──► shadow stack ───────────────────────────────► memory_objects_at()
 *
 * Objects have numbers: the same number is the same variable, the same chain of calls that
 * allocated, the frames of the same function. So a list of a thousand nodes is one object, of which
 * each block has its own base. One map serves all processes and threads of a run; it belongs to one
 * host thread. Memory is bounded by what the program has allocated at one time, OBJECTS_BLOCKS
 * blocks at most. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribute/shadow_stack.h"
#include "trace/dynamic.h"

enum object_kind {
    OBJECT_UNKNOWN,   /* nothing is known of the address */
    OBJECT_SYMBOL,    /* a variable with a symbol */
    OBJECT_SECTION,   /* of a file, where no symbol is */
    OBJECT_HEAP,      /* allocated: `path` tells by which calls; with what these calls write of the
                         heap, and clear and copy to, before they return */
    OBJECT_ALLOCATOR, /* heap that is not allocated: what the allocator keeps there, or what no
                         event told of */
    OBJECT_STACK,     /* a frame of `function` */
    OBJECT_MAPPED,    /* a mapped file, beside its sections */
    OBJECT_ANONYMOUS, /* mapped memory: `path` tells by which calls */
    OBJECT_CODE,      /* instructions of `image`: of misses while they are fetched */
    OBJECT_KINDS
};

enum { OBJECTS_BLOCKS = 1 << 24, OBJECT_NONE = 0 /* the number of OBJECT_UNKNOWN */ };
#define OBJECT_BASE_IMAGE (UINT32_C(1) << 31)

/* What makes two objects the same. */
struct memory_object {
    uint8_t kind;      /* enum object_kind */
    uint32_t image;    /* of the code: of a variable, section, file, code; else UINT32_MAX. With
                          OBJECT_BASE_IMAGE: of the code of the run that began it */
    uint32_t path;     /* node of the path tree: the allocating routine, below its callers; else
                          PATH_NONE */
    uint32_t function; /* of the path functions: whose frame; else FUNCTION_NONE */
    uint64_t start;    /* of variables and sections: address as linked; else 0 */
    uint64_t size;     /* of these: bytes; else 0 */
    const char *name;  /* of these: symbol or section; else NULL. Whoever told has it */
};

/* What is where in images. Called by one thread. */
struct object_names {
    /* The variable, or else the section, that an address as linked lies in: kind, start, size and
     * name. False: it lies in no section. */
    bool (*locate)(void *context, const struct code_image *image, uint64_t linked,
                   struct memory_object *object);
    /* The address that a file offset is linked at, and between which addresses its sections lie.
     * False: the file cannot be read. */
    bool (*linked)(void *context, const struct code_image *image, uint64_t offset,
                   uint64_t *address, uint64_t *low, uint64_t *high);
    void *context;
};

struct memory_objects;
/* NULL: out of memory. */
struct memory_objects *memory_objects_new(const struct object_names *names);
void memory_objects_free(struct memory_objects *objects);

struct process_memory;
/* One thread of a process, whose calls a shadow stack tells of. */
struct memory_view {
    uint32_t process;
    const struct shadow_stack *stack;
    struct process_memory *memory; /* of the process */
    uint64_t low, high;            /* what is known of the stack that it is on; all 0 at first */
    uint64_t slot;                 /* that this is known for */
    bool shared;                   /* with other data */
    uint64_t top;   /* addresses of the stack below are in the frame of what runs; 0: none */
    uint32_t frame; /* object of that frame */
    uint32_t asked; /* object that heap is which is not allocated: in a routine that allocates what
                       it is called for, else the allocator's */
};

/* More code is known. False: out of memory. */
bool memory_objects_learn(struct memory_objects *objects, const struct code *code);
/* A process begins, unless it has: it has what its parent has (UINT32_MAX: nothing). A process that
 * nothing was told of begins empty. False: out of memory. */
bool memory_objects_fork(struct memory_objects *objects, uint32_t process, uint32_t parent);
/* A process begins as `of` did in another run, whose code is `base` and lives as long: where its
 * files are is known from there. Then each event before: it has happened below this node. False:
 * out of memory. */
bool memory_objects_begin(struct memory_objects *objects, const struct code *base, uint32_t of,
                          uint32_t process);
bool memory_objects_recall(struct memory_objects *objects, uint32_t process,
                           const struct trace_memory *event, uint32_t node);
/* An event of memory has happened, in the thread, behind the last instruction that its stack has
 * walked. False: out of memory. */
bool memory_objects_note(struct memory_objects *objects, struct memory_view *view,
                         const struct trace_memory *event);
/* Before the thread's next accesses, when its stack has walked on. False: out of memory. */
bool memory_objects_stand(struct memory_objects *objects, struct memory_view *view);
/* The number of the object at an address that the thread accesses there; OBJECT_NONE: it is not
 * known; UINT32_MAX: out of memory. */
uint32_t memory_objects_at(struct memory_objects *objects, const struct memory_view *view,
                           const struct code *code, uint64_t address);
/* The number of an object; the same for the same. UINT32_MAX: out of memory. */
uint32_t memory_objects_number(struct memory_objects *objects, const struct memory_object *object);

/* By number, below the count; good until the next one is made. */
uint32_t memory_objects_count(const struct memory_objects *objects);
const struct memory_object *memory_object_at(const struct memory_objects *objects, uint32_t number);
/* Blocks that found no room, for there were too many. */
uint64_t memory_objects_dropped(const struct memory_objects *objects);
