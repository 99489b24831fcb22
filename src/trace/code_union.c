/* One hash index, open addressing over instruction numbers, compares real content. Images are few:
 * they are searched one by one, once per code that is added. */
#include "trace/code_union.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "trace/code_symbols.h"
#include "util/array.h"
#include "util/hash_index.h"
#include "util/order.h"

enum { FIRST_SLOTS = 1 << 14, MAX_INSNS = 1 << 30 };

struct code_union {
    struct code code;
    size_t insn_capacity, image_capacity;
    uint32_t *slots; /* number + 1; 0: free */
    uint32_t slot_mask;
    size_t python_capacity;
    struct hash_index python; /* by content */
    uint32_t *image_order;    /* once sorted: what the images are called now */
};

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for the program's code");
}

struct code_union *code_union_new(enum isa isa) {
    struct code_union *all = calloc(1, sizeof *all);
    if (!all || !(all->slots = calloc(FIRST_SLOTS, sizeof *all->slots))) {
        free(all);
        return NULL;
    }
    all->code.isa = isa;
    all->slot_mask = FIRST_SLOTS - 1;
    return all;
}

void code_union_free(struct code_union *all) {
    if (!all)
        return;
    for (uint32_t i = 0; i < all->code.image_count; i++) {
        free(all->code.images[i].path);
        free(all->code.images[i].symbol);
    }
    for (uint32_t i = 0; i < all->code.python_count; i++) {
        free(all->code.python[i].name);
        free(all->code.python[i].path);
    }
    free(all->code.images);
    free(all->code.insns);
    free(all->code.python);
    free(all->slots);
    free(all->image_order);
    hash_index_free(&all->python);
    free(all);
}

const struct code *code_union_code(const struct code_union *all) {
    return &all->code;
}

/* ---- images ---- */

int code_images_compare(const struct code_image *a, const struct code_image *b) {
    return ascending(a->kind, b->kind) ?: strcmp(a->path, b->path) ?:
           ascending(!!a->symbol, !!b->symbol) ?: (a->symbol ? strcmp(a->symbol, b->symbol) : 0) ?:
           ascending(a->build_id_size, b->build_id_size) ?:
           memcmp(a->build_id, b->build_id, a->build_id_size);
}

uint32_t code_union_image(struct code_union *all, const struct code_image *image) {
    struct code *code = &all->code;
    for (uint32_t i = 0; i < code->image_count; i++)
        if (code_images_compare(&code->images[i], image) == 0) {
            if (image->base < code->images[i].base)
                code->images[i].base = image->base;
            return i;
        }
    if (!array_room(code->images, all->image_capacity, (size_t)code->image_count + 1))
        return UINT32_MAX;
    struct code_image *added = &code->images[code->image_count];
    *added = *image;
    added->path = strdup(image->path);
    added->symbol = image->symbol ? strdup(image->symbol) : NULL;
    if (!added->path || !added->symbol != !image->symbol) {
        free(added->path);
        free(added->symbol);
        return UINT32_MAX;
    }
    return code->image_count++;
}

uint32_t code_union_image_now(const struct code_union *all, uint32_t image) {
    return all->image_order[image];
}

/* ---- functions of Python ---- */

uint32_t code_union_python(struct code_union *all, const struct python_source *source) {
    struct code *code = &all->code;
    const uint64_t hash = XXH3_64bits_withSeed(
        source->path, strlen(source->path),
        XXH3_64bits_withSeed(source->name, strlen(source->name), source->first_line));
    size_t at;
    for (uint32_t i = hash_index_first(&all->python, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&all->python, hash, &at))
        if (code->python[i].first_line == source->first_line &&
            !strcmp(code->python[i].name, source->name) &&
            !strcmp(code->python[i].path, source->path))
            return i + 1;
    const uint32_t number = code->python_count;
    if (!array_room(code->python, all->python_capacity, (size_t)number + 1))
        return UINT32_MAX;
    const struct python_source added = {strdup(source->name), strdup(source->path),
                                        source->first_line};
    code->python[code->python_count++] = added;
    return added.name && added.path && hash_index_add(&all->python, hash, number) ? number + 1
                                                                                  : UINT32_MAX;
}

/* ---- instructions ---- */

static uint64_t hash_of(const struct static_insn *insn) {
    struct {
        uint64_t offset;
        uint32_t image, length;
        uint8_t bytes[16];
    } key = {insn->offset, insn->image, insn->length, {0}};
    memcpy(key.bytes, insn->bytes, sizeof key.bytes);
    return XXH3_64bits(&key, sizeof key);
}

static int compare_insns(const struct static_insn *a, const struct static_insn *b) {
    return ascending(a->image, b->image) ?: ascending(a->offset, b->offset) ?:
           ascending(a->length, b->length) ?: memcmp(a->bytes, b->bytes, sizeof a->bytes) ?:
           ascending(a->operation, b->operation);
}

static uint32_t *find_slot(const struct code_union *all, const struct static_insn *insn) {
    uint32_t at = (uint32_t)hash_of(insn) & all->slot_mask;
    while (all->slots[at] && compare_insns(&all->code.insns[all->slots[at] - 1], insn) != 0)
        at = (at + 1) & all->slot_mask;
    return &all->slots[at];
}

static bool build_index(struct code_union *all, uint32_t mask) {
    uint32_t *slots = calloc((size_t)mask + 1, sizeof *slots);
    if (!slots)
        return false;
    free(all->slots);
    all->slots = slots;
    all->slot_mask = mask;
    for (uint32_t i = 0; i < all->code.insn_count; i++)
        *find_slot(all, &all->code.insns[i]) = i + 1;
    return true;
}

static bool grow_index(struct code_union *all) {
    return all->code.insn_count < all->slot_mask / 4 * 3 ||
           build_index(all, all->slot_mask * 2 + 1);
}

/* `insn` names its image by the number it has here. */
static bool add_insn(struct code_union *all, const struct static_insn *insn, uint32_t *number) {
    struct code *code = &all->code;
    uint32_t *slot = find_slot(all, insn);
    if (*slot) {
        struct static_insn *known = &code->insns[*slot - 1];
        known->reached |= insn->reached;
        if (insn->address < known->address)
            known->address = insn->address;
        *number = *slot - 1;
        return true;
    }
    if (code->insn_count >= MAX_INSNS ||
        !array_room(code->insns, all->insn_capacity, (size_t)code->insn_count + 1))
        return false;
    *number = code->insn_count;
    code->insns[code->insn_count++] = *insn;
    *slot = code->insn_count;
    return grow_index(all);
}

bool code_union_add(struct code_union *all, const struct code *code, uint32_t *numbers,
                    struct error *error) {
    if (code->isa != all->code.isa)
        return error_set(error, "code of another architecture than the others'");
    uint32_t *images = malloc((code->image_count ? code->image_count : 1) * sizeof *images);
    bool room = images != NULL;
    for (uint32_t i = 0; room && i < code->image_count; i++)
        room = (images[i] = code_union_image(all, &code->images[i])) != UINT32_MAX;
    for (uint32_t i = 0; room && i < code->insn_count; i++) {
        struct static_insn insn = code->insns[i];
        insn.image = images[insn.image];
        insn.target = UINT32_MAX;
        insn.first_uop = 0;
        room = add_insn(all, &insn, &numbers[i]);
    }
    free(images);
    return room || no_memory(error);
}

bool code_union_name(struct code_union *all, const struct code_symbol *symbols, size_t count,
                     struct error *error) {
    return (code_name_symbols(&all->code, &all->image_capacity, NULL, 0, symbols, count) &&
            build_index(all, all->slot_mask)) ||
           no_memory(error);
}

/* ---- order ---- */

static int by_name(const void *left, const void *right, void *images) {
    const struct code_image *all = images;
    return code_images_compare(&all[*(const uint32_t *)left], &all[*(const uint32_t *)right]);
}

static int by_place(const void *left, const void *right, void *insns) {
    const struct static_insn *all = insns;
    return compare_insns(&all[*(const uint32_t *)left], &all[*(const uint32_t *)right]);
}

/* The numbers 0 .. count−1 sorted; NULL: out of memory. */
static uint32_t *sorted(uint32_t count, int (*compare)(const void *, const void *, void *),
                        void *items) {
    uint32_t *numbers = malloc((count ? count : 1) * sizeof *numbers);
    for (uint32_t i = 0; numbers && i < count; i++)
        numbers[i] = i;
    if (numbers && count)
        qsort_r(numbers, count, sizeof *numbers, compare, items);
    return numbers;
}

static bool sort_images(struct code_union *all) {
    struct code *code = &all->code;
    uint32_t *old = sorted(code->image_count, by_name, code->images);
    uint32_t *new = malloc((code->image_count ? code->image_count : 1) * sizeof *new);
    struct code_image *images =
        malloc((code->image_count ? code->image_count : 1) * sizeof *images);
    bool room = old && new &&images;
    for (uint32_t i = 0; room && i < code->image_count; i++) {
        images[i] = code->images[old[i]];
        new[old[i]] = i;
    }
    for (uint32_t i = 0; room && i < code->insn_count; i++)
        code->insns[i].image = new[code->insns[i].image];
    if (room) {
        free(code->images);
        code->images = images;
    } else {
        free(images);
    }
    free(old);
    free(all->image_order);
    all->image_order = new;
    return room;
}

bool code_union_sort(struct code_union *all, uint32_t *order, struct error *error) {
    struct code *code = &all->code;
    uint32_t count = code->insn_count;
    if (!sort_images(all))
        return no_memory(error);
    uint32_t *old = sorted(count, by_place, code->insns);
    struct static_insn *insns = malloc((count ? count : 1) * sizeof *insns);
    bool room = old && insns;
    for (uint32_t i = 0; room && i < count; i++) {
        insns[i] = code->insns[old[i]];
        order[old[i]] = i;
    }
    if (room) {
        free(code->insns);
        code->insns = insns;
    } else {
        free(insns);
    }
    free(old);
    return room || no_memory(error);
}
