/* Blocks are found by their content, and the instructions that slices begin with by their place,
 * each with the blocks that contain it; a list of these is brought up to date when it is asked for.
 */
#include "region/profile_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "trace/counts.h"
#include "trace/event.h"
#include "util/array.h"

void profile_code_free(struct profile_code *code) {
    for (size_t i = 0; i < code->process_count; i++)
        free(code->processes[i].ids);
    for (size_t i = 0; i < code->site_count; i++)
        free(code->sites[i].ids);
    region_images_free(code->images, code->image_count);
    free(code->blocks);
    free(code->bytes);
    free(code->processes);
    hash_index_free(&code->index);
    free(code->sites);
    hash_index_free(&code->site_index);
    *code = (struct profile_code){0};
}

bool profile_code_image(struct profile_code *code, const struct item_image *item,
                        struct error *error) {
    if (item->image > code->image_count || item->build_id_size > sizeof item->build_id)
        return error_set(error, "image %" PRIu32 " comes out of order", item->image);
    if (item->image < code->image_count)
        return true;
    if (!array_room(code->images, code->image_capacity, code->image_count + 1))
        return error_set(error, "out of memory for the profile");
    struct region_image *image = code->images + code->image_count;
    *image =
        (struct region_image){.path = strdup(item->path), .build_id_size = item->build_id_size};
    memcpy(image->build_id, item->build_id, sizeof image->build_id);
    code->image_count += image->path != NULL;
    return image->path || error_set(error, "out of memory for the profile");
}

bool profile_code_process(struct profile_code *code, uint32_t number, struct error *error) {
    if (number != code->process_count)
        return error_set(error, "process %" PRIu32 " comes out of order", number);
    return array_push(code->processes, code->process_capacity, code->process_count,
                      (struct profile_process){0}) ||
           error_set(error, "out of memory for the profile");
}

/* ---- blocks ---- */

static uint64_t hash_block(const struct profile_code *code, const struct profile_block *block) {
    uint64_t place[] = {block->place.image, block->place.offset, block->place.insn_count};
    return XXH3_64bits_withSeed(code->bytes + block->bytes, block->size,
                                XXH3_64bits(place, sizeof place));
}

static bool same_block(const struct profile_code *code, const struct profile_block *a,
                       const struct profile_block *b) {
    return a->place.image == b->place.image && a->place.offset == b->place.offset &&
           a->place.insn_count == b->place.insn_count && a->size == b->size &&
           memcmp(code->bytes + a->bytes, code->bytes + b->bytes, a->size) == 0;
}

/* 0: it is new. */
static uint32_t find_block(const struct profile_code *code, const struct profile_block *block,
                           uint64_t hash) {
    size_t at;
    for (uint32_t i = hash_index_first(&code->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&code->index, hash, &at))
        if (same_block(code, &code->blocks[i], block))
            return i + 1;
    return 0;
}

/* What the last instruction says. A block that ends in a rep instruction, which falls through, is
 * not watched. */
static void look_at_end(const struct profile_code *code, uint32_t id) {
    uint32_t starts[EVENT_MAX_BLOCK_INSNS + 1];
    struct profile_block *block = code->blocks + id - 1;
    uint32_t count = profile_code_starts(code, id, starts);
    struct insn insn;
    block->watched = block->place.insn_count > COUNTS_LONG_BLOCK;
    if (count < block->place.insn_count)
        return;
    uint32_t at = starts[count - 1];
    const uint8_t *last = code->bytes + block->bytes + at;
    if (!insn_decode(code->isa, last, block->size - at, &insn))
        return;
    block->watched |= counts_leads_back(code->isa, last, block->size - at);
    block->watched &= !(insn.flags & INSN_REP);
    block->branch = insn.branch;
    block->target = insn.target ? block->place.offset + at + (uint64_t)insn.target : 0;
}

bool profile_code_block(struct profile_code *code, const struct item_code *item,
                        struct error *error) {
    struct profile_process *process =
        item->process < code->process_count ? code->processes + item->process : NULL;
    if (!process || item->block != process->count || item->insn_count < 1 ||
        item->insn_count > EVENT_MAX_BLOCK_INSNS || item->size < item->insn_count ||
        item->size > 16 * EVENT_MAX_BLOCK_INSNS ||
        (item->image != UINT32_MAX && item->image >= code->image_count))
        return error_set(error, "a block of code is not defined as it should be");
    if (!hash_index_reserve(&code->index, code->block_count + 1) ||
        !array_reserve((void **)&code->bytes, &code->byte_capacity, code->byte_count + item->size,
                       1) ||
        !array_room(code->blocks, code->block_capacity, code->block_count + 1) ||
        !array_room(process->ids, process->capacity, process->count + 1))
        return error_set(error, "out of memory for the profile");
    struct profile_block block = {
        .place = {item->image == UINT32_MAX ? MARKER_NO_IMAGE : item->image, item->insn_count,
                  item->offset},
        .bytes = code->byte_count,
        .size = item->size};
    memcpy(code->bytes + code->byte_count, item->bytes, item->size);
    uint64_t hash = hash_block(code, &block);
    uint32_t id = find_block(code, &block, hash);
    if (!id) {
        hash_index_add(&code->index, hash, (uint32_t)code->block_count);
        code->blocks[code->block_count++] = block;
        code->byte_count += item->size;
        id = (uint32_t)code->block_count;
        if (!code->counted)
            look_at_end(code, id);
    }
    process->ids[process->count++] = id;
    return true;
}

uint32_t profile_code_starts(const struct profile_code *code, uint32_t id, uint32_t *starts) {
    const struct profile_block *block = profile_code_at(code, id);
    uint32_t at = 0, count = 0;
    starts[0] = 0;
    while (count < block->place.insn_count && at < block->size) {
        struct insn insn;
        if (!insn_decode(code->isa, code->bytes + block->bytes + at, block->size - at, &insn) ||
            !insn.length)
            break;
        at += insn.length;
        starts[++count] = at;
    }
    return count;
}

/* ---- instructions ---- */

static bool contains(const struct profile_code *code, uint32_t id,
                     const struct profile_site *site) {
    uint32_t starts[EVENT_MAX_BLOCK_INSNS + 1];
    const struct profile_block *block = profile_code_at(code, id);
    if (block->place.image != site->image || site->offset < block->place.offset ||
        site->offset - block->place.offset >= block->size)
        return false;
    if (site->offset == block->place.offset)
        return true;
    for (uint32_t i = 1, count = profile_code_starts(code, id, starts); i < count; i++)
        if (block->place.offset + starts[i] == site->offset)
            return true;
    return false;
}

/* Added when it is new; NULL: out of memory. */
static struct profile_site *find_site(struct profile_code *code, uint32_t image, uint64_t offset) {
    const uint64_t hash = hash_pair(image, offset);
    size_t at;
    for (uint32_t i = hash_index_first(&code->site_index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&code->site_index, hash, &at))
        if (code->sites[i].image == image && code->sites[i].offset == offset)
            return &code->sites[i];
    if (!array_room(code->sites, code->site_capacity, code->site_count + 1) ||
        !hash_index_add(&code->site_index, hash, (uint32_t)code->site_count))
        return NULL;
    code->sites[code->site_count] = (struct profile_site){.image = image, .offset = offset};
    return &code->sites[code->site_count++];
}

const struct profile_site *profile_code_site(struct profile_code *code, uint32_t id) {
    const struct slice_block *place = &profile_code_at(code, id)->place;
    struct profile_site *site = find_site(code, place->image, place->offset);
    if (!site)
        return NULL;
    for (; site->seen < code->block_count; site->seen++) {
        uint32_t candidate = (uint32_t)site->seen + 1;
        if (!contains(code, candidate, site))
            continue;
        if (!array_push(site->ids, site->capacity, site->count, candidate))
            return NULL;
    }
    return site;
}
