#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/types.h"
#include "util/order.h"

enum { DEPTH_MOST = 16 };

struct gathering {
    struct types *types;
    struct type_leaf *leaves;
    uint32_t count, most;
};

static uint64_t size_of(struct types *types, const struct type_member *member) {
    if (member->bit_size)
        return (member->bit_offset + (uint64_t)member->bit_size + 7) / 8;
    return type_at(types, member->type)->size;
}

static void add_leaf(struct gathering *gathering, const struct type_member *member,
                     const char *path, uint64_t offset) {
    struct type_leaf *last = gathering->count ? &gathering->leaves[gathering->count - 1] : NULL;
    const uint64_t size = size_of(gathering->types, member);
    if (!size)
        return;
    if (member->bit_size && last && offset < last->offset + last->size) {
        const size_t length = strlen(last->path);
        snprintf(last->path + length, sizeof last->path - length, "|%s", member->name);
        if (offset + size > last->offset + last->size)
            last->size = offset + size - last->offset;
        return;
    }
    if (gathering->count == gathering->most)
        return;
    struct type_leaf *leaf = &gathering->leaves[gathering->count++];
    leaf->offset = offset;
    leaf->size = size;
    snprintf(leaf->path, sizeof leaf->path, "%.*s%s", FIELD_PATH_BYTES - 4, path,
             type_at(gathering->types, member->type)->kind == TYPE_ARRAY ? "[]" : "");
}

/* A union without a name is called by its members: "w|g", like bit fields that share bytes. */
static void name_union(struct types *types, uint32_t type, char *path, size_t size) {
    uint32_t count;
    const struct type_member *members = type_members(types, type, &count);
    size_t length = strlen(path);
    const char *between = length ? "." : "";
    for (uint32_t i = 0; i < count && length < size; i++) {
        const char *name = members[i].name;
        if (!name[0])
            continue;
        length += (size_t)snprintf(path + length, size - length, "%s%s", between, name);
        between = "|";
    }
}

static void gather(struct gathering *gathering, uint32_t type, const char *above, uint64_t base,
                   unsigned depth) {
    uint32_t count;
    type_members(gathering->types, type, &count);
    for (uint32_t i = 0; i < count && gathering->count < gathering->most; i++) {
        uint32_t ignored;
        char path[FIELD_PATH_BYTES];
        const struct type_member member = type_members(gathering->types, type, &ignored)[i];
        const bool named = member.name[0] && !member.is_base;
        snprintf(path, sizeof path, "%s%s%s", above, above[0] && named ? "." : "",
                 named ? member.name : "");
        if (type_at(gathering->types, member.type)->kind == TYPE_RECORD && !member.bit_size &&
            depth < DEPTH_MOST) {
            gather(gathering, member.type, path, base + member.offset, depth + 1);
            continue;
        }
        if (!member.name[0])
            name_union(gathering->types, member.type, path, sizeof path);
        add_leaf(gathering, &member, path, base + member.offset);
    }
}

ORDER(by_offset, struct type_leaf,
      ascending(a->offset, b->offset) ?: descending(a->size, b->size) ?: strcmp(a->path, b->path))

/* Leaves that others cover, as of the variants of a type, are left out. */
static uint32_t disjoint(struct type_leaf *leaves, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!kept || leaves[i].offset >= leaves[kept - 1].offset + leaves[kept - 1].size)
            leaves[kept++] = leaves[i];
    return kept;
}

uint32_t type_leaves(struct types *types, uint32_t type, struct type_leaf *leaves, uint32_t most) {
    struct gathering gathering = {.types = types, .leaves = leaves, .most = most};
    gather(&gathering, type, "", 0, 0);
    if (gathering.count)
        qsort(leaves, gathering.count, sizeof *leaves, by_offset);
    return disjoint(leaves, gathering.count);
}
