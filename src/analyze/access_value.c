#include "analyze/access_value.h"

#include <stdlib.h>
#include <string.h>

#include "util/divisor.h"

enum { NULL_PAGE = 4096 };

static int64_t plus(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t times(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static uint64_t magnitude(int64_t number) {
    return number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
}

struct value value_scaled(const struct value *value, int64_t factor) {
    struct value scaled = *value;
    if (value->kind == VALUE_CONSTANT) {
        scaled.offset = times(value->offset, factor);
        return scaled;
    }
    if (factor == 1)
        return scaled;
    scaled = value_unknown(value->kind == VALUE_NUMBER ? (enum access_reason)value->reason
                                                       : ACCESS_COMPUTED);
    if (value->kind == VALUE_UNSET)
        return *value;
    if (__builtin_mul_overflow(value->kind == VALUE_NUMBER ? value->stride : 1, magnitude(factor),
                               &scaled.stride) ||
        !scaled.stride)
        scaled.stride = 1;
    scaled.offset = value->kind == VALUE_NUMBER ? times(value->offset, factor) : 0;
    return scaled;
}

struct value value_sum(const struct value *left, const struct value *right, int64_t factor,
                       int64_t constant) {
    struct value other = value_scaled(right, factor), sum = *left;
    if (!value_points(&sum) && (value_points(&other) || other.kind == VALUE_NUMBER)) {
        sum = other;
        other = *left;
    }
    if (sum.kind == VALUE_UNSET || other.kind == VALUE_UNSET)
        return (struct value){.kind = VALUE_UNSET};
    if (value_points(&other) || sum.kind == VALUE_MEETING)
        return value_unknown(ACCESS_COMPUTED);
    sum.offset = plus(sum.offset, plus(other.offset, constant));
    sum.behind = plus(sum.behind, plus(other.offset, constant));
    if (other.kind != VALUE_CONSTANT)
        sum = value_as(sum, 0);
    if (other.kind == VALUE_NUMBER)
        sum.stride = greatest_common_divisor(sum.stride, other.stride);
    if (other.kind == VALUE_NUMBER && sum.kind == VALUE_NUMBER && sum.reason == ACCESS_DATA)
        sum.reason = other.reason; /* what a counter counts from is not the address */
    else if (other.kind == VALUE_MEETING)
        sum.stride = 1;
    if (sum.kind == VALUE_NUMBER && magnitude(sum.offset) >= NULL_PAGE)
        sum.kind = VALUE_CONSTANT; /* a table at a constant address, and an index */
    return sum;
}

static bool is_null(const struct value *value) {
    return value->kind == VALUE_CONSTANT && magnitude(value->offset) < NULL_PAGE;
}

static bool is_same_type(struct types *types, uint32_t one, uint32_t other) {
    const struct type *a = type_at(types, one), *b = type_at(types, other);
    return one == other ||
           (a->kind == b->kind && a->size == b->size && a->name[0] && !strcmp(a->name, b->name));
}

static bool is_record(struct types *types, uint32_t type) {
    const uint8_t kind = type_at(types, type)->kind;
    return kind == TYPE_RECORD || kind == TYPE_UNION;
}

static int64_t in_element(struct types *types, const struct value *value) {
    const int64_t size = (int64_t)type_at(types, value->type)->size;
    if (size <= 0 || type_at(types, value->type)->kind == TYPE_ARRAY)
        return value->offset;
    return value->offset % size + (value->offset % size < 0 ? size : 0);
}

static struct value meet_same(struct types *types, const struct value *one,
                              const struct value *other) {
    struct value met = *one;
    int64_t from = one->offset, to = other->offset;
    if (one->kind == VALUE_POINTER) {
        met.offset = from = in_element(types, one);
        to = in_element(types, other);
    }
    met.stride = greatest_common_divisor(greatest_common_divisor(one->stride, other->stride),
                                         magnitude((int64_t)((uint64_t)from - (uint64_t)to)));
    met.meets = one->meets || other->meets || from != to;
    return met;
}

/* Of two types: that which tells more. */
static struct value meet_types(struct types *types, const struct value *one,
                               const struct value *other) {
    if (type_at(types, one->type)->kind == TYPE_OPAQUE)
        return *other;
    if (type_at(types, other->type)->kind == TYPE_OPAQUE)
        return *one;
    if (is_record(types, one->type) != is_record(types, other->type))
        return is_record(types, one->type) ? *one : *other;
    return (struct value){.kind = VALUE_MEETING};
}

struct value value_meet(struct types *types, const struct value *one, const struct value *other,
                        bool forced) {
    if (one->kind == VALUE_UNSET || other->kind == VALUE_UNSET)
        return one->kind == VALUE_UNSET ? *other : *one;
    if (value_is_same(one, other))
        return *one;
    if (forced || one->kind == VALUE_MEETING || other->kind == VALUE_MEETING)
        return (struct value){.kind = VALUE_MEETING};
    const struct value a = value_located(types, one), b = value_located(types, other);
    if (value_points(&a) && (b.kind == VALUE_NUMBER || is_null(&b)))
        return a;
    if (value_points(&b) && (a.kind == VALUE_NUMBER || is_null(&a)))
        return b;
    if (a.kind == VALUE_POINTER && b.kind == VALUE_POINTER)
        return is_same_type(types, a.type, b.type) ? meet_same(types, &a, &b)
                                                   : meet_types(types, &a, &b);
    if (a.kind == VALUE_STACK && b.kind == VALUE_STACK)
        return meet_same(types, &a, &b);
    if (value_points(&a) || value_points(&b))
        return (struct value){.kind = VALUE_MEETING};
    struct value met = value_unknown(a.kind == VALUE_NUMBER   ? (enum access_reason)a.reason
                                     : b.kind == VALUE_NUMBER ? (enum access_reason)b.reason
                                                              : ACCESS_DATA);
    met.offset = a.offset;
    met.stride =
        greatest_common_divisor(greatest_common_divisor(a.stride, b.stride),
                                magnitude((int64_t)((uint64_t)a.offset - (uint64_t)b.offset)))
            ?: 1;
    return met;
}

bool value_is_same(const struct value *one, const struct value *other) {
    if (one->kind != other->kind)
        return false;
    if (one->kind == VALUE_NUMBER)
        return one->stride == other->stride && one->offset == other->offset;
    return one->type == other->type && one->offset == other->offset && one->stride == other->stride;
}

struct value value_located(struct types *types, const struct value *value) {
    uint64_t start;
    if (value->kind != VALUE_CONSTANT || is_null(value))
        return *value;
    const uint32_t type = types_global(types, (uint64_t)value->offset, &start);
    if (type == TYPE_NONE)
        return *value;
    struct value pointer = value_pointer(type, value->offset - (int64_t)start);
    pointer.stride = value->stride;
    return pointer;
}

struct value value_of_type(struct types *types, uint32_t type, int64_t offset) {
    const struct type *found = type_at(types, type);
    if (found->kind != TYPE_POINTER)
        return value_unknown(ACCESS_LOADED);
    return type_at(types, found->target)->kind == TYPE_OPAQUE
               ? value_unknown(ACCESS_OPAQUE)
               : value_pointer(found->target, offset);
}

struct value value_loaded(struct types *types, const struct value *address, uint64_t size) {
    struct type_field field;
    if (address->kind == VALUE_UNSET)
        return *address;
    if (address->kind != VALUE_POINTER || size != 8 ||
        !type_find_field(types, address->type, address->offset, address->stride, size, &field) ||
        field.size != size)
        return value_unknown(address->kind == VALUE_NUMBER && address->reason ? address->reason
                                                                              : ACCESS_LOADED);
    return value_of_type(types, field.type, 0);
}
