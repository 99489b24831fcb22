/* Inside of this room: what is known of the value of a register while types are followed. */
#pragma once

#include "analyze/access_types.h"
#include "program/types.h"

enum value_kind {
    VALUE_UNSET,    /* control has not come here yet */
    VALUE_NUMBER,   /* `offset` + a multiple of `stride`; `reason`: why it points nowhere known */
    VALUE_CONSTANT, /* `offset` */
    VALUE_POINTER,  /* to `type`, `offset` behind its beginning, or any multiple of stride more */
    VALUE_STACK,    /* likewise behind the canonical frame address */
    VALUE_MEETING   /* of several types */
};

struct value {
    uint8_t kind, reason;
    bool meets; /* pointers to several places of one type met: `stride` is what is between them */
    uint32_t type;
    int64_t offset;
    uint64_t stride; /* of a pointer 0: exactly there */
    /* Which value it is, whatever is known of it: copies have the same, and what is so many bytes
     * behind it. 0: not told. */
    uint32_t origin;
    int64_t behind;
};

static inline struct value value_unknown(enum access_reason reason) {
    return (struct value){.kind = VALUE_NUMBER, .reason = (uint8_t)reason, .stride = 1};
}
static inline struct value value_pointer(uint32_t type, int64_t offset) {
    return (struct value){.kind = VALUE_POINTER, .type = type, .offset = offset};
}
static inline bool value_points(const struct value *value) {
    return value->kind == VALUE_POINTER || value->kind == VALUE_STACK;
}

/* left + right × factor + constant. */
struct value value_sum(const struct value *left, const struct value *right, int64_t factor,
                       int64_t constant);
struct value value_scaled(const struct value *value, int64_t factor);

/* Where two ways meet. `forced`: what differs is of several types, so that it comes to an end. */
struct value value_meet(struct types *types, const struct value *one, const struct value *other,
                        bool forced);
bool value_is_same(const struct value *one, const struct value *other);
/* The same of the same origin. */
static inline bool value_is_copy(const struct value *one, const struct value *other) {
    return one->origin == other->origin && one->behind == other->behind;
}
/* What is known of it, but of another origin. */
static inline struct value value_as(struct value value, uint32_t origin) {
    value.origin = origin;
    value.behind = 0;
    return value;
}

/* A constant as a pointer into the variable that lies there; else as it is. */
struct value value_located(struct types *types, const struct value *value);
/* What an access `size` bytes wide through a value loads. */
struct value value_loaded(struct types *types, const struct value *address, uint64_t size);
/* What a value of a type is. */
struct value value_of_type(struct types *types, uint32_t type, int64_t offset);
