/* Down from the whole to the innermost member that holds what is accessed. Of a union every member
 * is tried; a budget bounds what hostile types can make of that. */
#include <stdio.h>
#include <string.h>

#include "program/types.h"

enum { STEPS_MOST = 4096, DEPTH_MOST = 32 };

struct search {
    struct types *types;
    uint64_t size; /* of the access; 0: any */
    unsigned steps;
};

/* Where a search is. */
struct part {
    uint32_t type;
    uint64_t offset; /* in it */
    uint64_t stride;
    struct type_field field; /* that it is */
};

static bool descend(struct search *search, struct part *part, unsigned depth);

static void append(struct part *part, const char *separator, const char *text) {
    const size_t length = strlen(part->field.path);
    snprintf(part->field.path + length, sizeof part->field.path - length, "%s%s",
             length ? separator : "", text);
}

static bool overlaps(const struct search *search, uint64_t offset,
                     const struct type_member *member) {
    const uint64_t size = search->size ? search->size : 1;
    const uint64_t end = member->offset + (member->bit_offset + (uint64_t)member->bit_size + 7) / 8;
    return member->offset < offset + size && offset < end;
}

/* All bit fields that the access touches, as the first one's storage. */
static bool take_bits(const struct search *search, struct part *part, uint32_t count) {
    uint32_t ignored;
    bool first = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct type_member *member = &type_members(search->types, part->type, &ignored)[i];
        if (!member->bit_size || !overlaps(search, part->offset, member))
            continue;
        append(part, first ? "." : "|", member->name);
        if (first)
            part->field.type = member->type;
        first = false;
    }
    part->field.offset += part->offset;
    part->field.size = search->size ? search->size : 1;
    return true;
}

static bool enter(struct search *search, struct part *part, struct type_member member,
                  unsigned depth) {
    if (member.name[0] && !member.is_base)
        append(part, ".", member.name);
    part->type = member.type;
    part->offset -= member.offset;
    part->field.offset += member.offset;
    return descend(search, part, depth + 1);
}

/* Whether all of the access lies in a member; one in an array without an end does. */
static bool holds(struct search *search, const struct part *part,
                  const struct type_member *member) {
    const struct type *type = type_at(search->types, member->type);
    if (part->offset < member->offset)
        return false;
    const uint64_t at = part->offset - member->offset;
    if (type->kind == TYPE_ARRAY && !type->size)
        return true;
    return at < type->size && search->size <= type->size - at;
}

static unsigned score(const struct search *search, const struct part *part) {
    return (part->field.size == search->size) * 2u + !part->field.is_element;
}

/* An access that is wider than the members: from the first to the last one that it touches. */
static bool take_several(struct search *search, struct part *part, uint32_t count) {
    uint32_t ignored;
    const char *first = NULL, *last = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct type_member *member = &type_members(search->types, part->type, &ignored)[i];
        const uint64_t size = type_at(search->types, member->type)->size;
        if (member->offset >= part->offset + search->size ||
            member->offset + size <= part->offset || !member->name[0] || member->is_base)
            continue;
        first = first ? first : member->name;
        last = member->name;
    }
    if (!first)
        return false;
    append(part, ".", first);
    if (last != first)
        append(part, "..", last);
    part->field.type = part->type;
    part->field.offset += part->offset;
    part->field.size = search->size;
    return true;
}

static bool in_record(struct search *search, struct part *part, unsigned depth) {
    uint32_t count;
    bool found = false;
    struct part best = *part;
    type_members(search->types, part->type, &count);
    for (uint32_t i = 0; i < count && search->steps < STEPS_MOST; i++) {
        uint32_t ignored;
        const struct type_member member = type_members(search->types, part->type, &ignored)[i];
        search->steps++;
        if (member.bit_size) {
            if (!found && overlaps(search, part->offset, &member)) {
                best = *part;
                found = take_bits(search, &best, count);
            }
            continue;
        }
        struct part inner = *part;
        if (!holds(search, part, &member) || !enter(search, &inner, member, depth))
            continue;
        if (!found || score(search, &inner) > score(search, &best))
            best = inner;
        found = true;
    }
    if (!found && !part->stride)
        return take_several(search, part, count);
    *part = best;
    return found;
}

/* Into one of elements of `size` bytes. A stride that divides the size may be all that is known of
 * steps over whole elements: it is no index where nothing has one. */
static bool descend_elements(struct search *search, struct part *part, uint64_t size,
                             unsigned depth) {
    struct part exact = *part;
    if (descend(search, part, depth))
        return true;
    if (!exact.stride || !size || size % exact.stride)
        return false;
    exact.stride = 0;
    *part = exact;
    return descend(search, part, depth);
}

static bool in_array(struct search *search, struct part *part, unsigned depth) {
    const struct type *type = type_at(search->types, part->type);
    const uint64_t size = type_at(search->types, type->target)->size;
    if (!size)
        return false;
    if (search->size > size) { /* several elements at once */
        append(part, "", "[]");
        part->field.type = type->target;
        part->field.size = size;
        part->field.is_element = true;
        return true;
    }
    append(part, "", "[]");
    part->offset %= size;
    part->stride %= size;
    part->type = type->target;
    part->field.is_element = true;
    return descend_elements(search, part, size, depth + 1);
}

static bool descend(struct search *search, struct part *part, unsigned depth) {
    const struct type *type = type_at(search->types, part->type);
    if (depth > DEPTH_MOST || search->steps++ > STEPS_MOST)
        return false;
    switch (type->kind) {
    case TYPE_ARRAY:
        return in_array(search, part, depth);
    case TYPE_RECORD:
    case TYPE_UNION:
        return in_record(search, part, depth);
    case TYPE_OPAQUE:
        return false;
    default:
        part->field.type = part->type;
        part->field.size = type->size;
        return !part->stride;
    }
}

/* An array without an end is the last member, so that what lies behind the type is in it. */
static bool goes_on(struct types *types, uint32_t type) {
    uint32_t count;
    const struct type_member *members = type_members(types, type, &count);
    if (!count || type_at(types, type)->kind != TYPE_RECORD)
        return false;
    const struct type *last = type_at(types, members[count - 1].type);
    return last->kind == TYPE_ARRAY && !last->size;
}

bool type_find_field(struct types *types, uint32_t type, int64_t offset, uint64_t stride,
                     uint64_t size, struct type_field *field) {
    const int64_t whole = (int64_t)type_at(types, type)->size;
    struct search search = {.types = types, .size = size};
    struct part part = {.type = type, .offset = (uint64_t)offset, .stride = stride};
    if (whole > 0 && !(goes_on(types, type) && (offset >= whole || stride % (uint64_t)whole))) {
        part.offset = (uint64_t)(offset % whole + (offset % whole < 0 ? whole : 0));
        part.stride = stride % (uint64_t)whole;
    } else if (offset < 0) {
        return false;
    }
    const bool found = descend_elements(&search, &part, (uint64_t)(whole > 0 ? whole : 0), 0);
    *field = part.field;
    return found;
}
