/* What each load and store of a procedure accesses: a type, and where in it. Variables' places, as
 * debugging information tells them, say what registers point to; data flow over the basic blocks
 * carries that on through moves, sums, members that are loaded and values that are returned, as the
 * data type profiling of perf does within one block.
 *
 * The type of a variable also holds for copies of its value: in the registers that it was copied to
 * or from, and before and after the instructions at which the variable itself has a place.
 *
 * Where paths of control flow join, a register has the type that any of them knows: in a program
 * that keeps to its types, what is used after the join has one type on all paths. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cfg;
struct types;

/* Why the type is not known. Names and what they mean: access_reason_text(). */
enum access_reason {
    ACCESS_KNOWN,
    ACCESS_NONE,          /* no memory is accessed */
    ACCESS_STACK,         /* spilled registers, return addresses, locals that are no structs */
    ACCESS_NO_DEBUG_INFO, /* the file, or this function, has none */
    ACCESS_NO_CODE,       /* no function is known, or its code cannot be had */
    ACCESS_NO_VARIABLE,   /* the address comes from no variable with a place here */
    ACCESS_OPAQUE,        /* void *, or a type defined nowhere */
    ACCESS_CALLED,        /* the address was returned by a function of an unknown type */
    ACCESS_LOADED,        /* it was loaded from where no pointer is known to be */
    ACCESS_COMPUTED,      /* it was computed in a way that is not followed */
    ACCESS_MEETING,       /* paths join that have different types */
    ACCESS_OUTSIDE,       /* no field is at that offset, or what is indexed is no array */
    ACCESS_THREAD,        /* thread-local */
    ACCESS_DATA,          /* constant address without a variable: tables, literals */
    ACCESS_REASONS
};
const char *access_reason_text(enum access_reason reason);

struct accessed {
    uint8_t reason; /* enum access_reason */
    bool meets;     /* the stride is the distance of two offsets at a join; it may be no array */
    uint32_t type;
    uint32_t size_bytes; /* of the access; 0: not known */
    int64_t offset;      /* in the type */
    uint64_t stride;     /* any multiple of this behind it; 0: exactly there */
};

/* By instruction of the graph; `accessed` has room for all. False: out of memory. */
bool access_types_find(const struct cfg *cfg, struct types *types, struct accessed *accessed);
