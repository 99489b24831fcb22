#include "region/work_markers.h"

#include <stdlib.h>
#include <string.h>

#include "program/program.h"
#include "util/array.h"
#include "util/order.h"

/* ---- the same in both ---- */

ORDER(by_place, struct marker_candidate,
      ascending(a->place, b->place) ?: ascending(a->times, b->times)
                                           ?: ascending(a->offset, b->offset))

static int compare(const struct marker_candidate *x, const struct marker_candidate *y) {
    return ascending(x->place, y->place) ?: ascending(x->times, y->times);
}

/* How many from here on are of one place and executed equally often. */
static size_t alike(const struct marker_candidate *candidates, size_t count) {
    return 1 + index_where(i, count - 1, compare(&candidates[0], &candidates[i + 1]) != 0);
}

static bool add_group(struct work_markers *markers, const struct marker_candidate *before,
                      const struct marker_candidate *after, size_t count) {
    if (count > 1 && before->alone)
        return true;
    for (size_t i = 0; i < count; i++)
        if (!array_push(markers->items, markers->capacity, markers->count,
                        (struct work_marker){{before[i].insn, after[i].insn}, before[i].times}))
            return false;
    return true;
}

bool work_markers_match(struct marker_candidate *before, size_t before_count,
                        struct marker_candidate *after, size_t after_count,
                        struct work_markers *markers) {
    if (!before_count || !after_count)
        return true;
    qsort(before, before_count, sizeof *before, by_place);
    qsort(after, after_count, sizeof *after, by_place);
    for (size_t i = 0, k = 0; i < before_count && k < after_count;) {
        const size_t here = alike(before + i, before_count - i);
        const size_t there = alike(after + k, after_count - k);
        const int order = compare(before + i, after + k);
        if (!order && here == there && !add_group(markers, before + i, after + k, here))
            return false;
        i += order <= 0 ? here : 0;
        k += order >= 0 ? there : 0;
    }
    return true;
}

/* ---- what could be one ---- */

struct candidates {
    struct marker_candidate *items;
    size_t count, capacity;
};

/* Of one run, while its candidates are listed. */
struct listing {
    const struct marked_run *run;
    const struct code *code;
    struct program *program;
    uint32_t *images;       /* number of each in `program` */
    bool *same;             /* of each image: the other run has the very same file */
    struct target *targets; /* of branches, by image and offset; may be there more than once */
    size_t target_count, target_capacity;
};

enum beginning { BEGINS_NOTHING, BEGINS_LOOP, BEGINS_FUNCTION };

/* FNV-1a. */
static const uint64_t HASH_BEGIN = 0xcbf29ce484222325;
static uint64_t hash(uint64_t value, const void *bytes, size_t size) {
    const uint8_t *byte = bytes;
    for (size_t i = 0; i < size; i++)
        value = (value ^ byte[i]) * 0x100000001b3;
    return value;
}

/* A name without a compiler's suffix: ".isra.0", ".part.3", " [clone .cold]". */
static uint64_t hash_name(uint64_t value, const char *name) {
    const char *dot = name[0] ? strchr(name + 1, '.') : NULL, *clone = strstr(name, " [clone");
    size_t length = strlen(name);
    if (dot && !strchr(name, '(')) /* those of C++ have arguments, which may have dots */
        length = (size_t)(dot - name);
    else if (clone)
        length = (size_t)(clone - name);
    return hash(value, name, length);
}

/* The kinds of the instructions of a block: of the same code, wherever it lies. */
static uint64_t hash_shape(uint64_t value, const struct code *code, struct trace_block block) {
    for (uint32_t i = 0; i < block.insn_count; i++) {
        const struct static_insn *insn = &code->insns[block.insns[i].insn];
        const uint64_t kind = insn->form ? insn->form : insn->operation;
        value = hash(value, &kind, sizeof kind);
    }
    return value;
}

static bool same_file(const struct code_image *a, const struct code_image *b) {
    return a->kind == CODE_IMAGE_FILE && b->kind == CODE_IMAGE_FILE && a->build_id_size &&
           a->build_id_size == b->build_id_size &&
           !memcmp(a->build_id, b->build_id, a->build_id_size);
}

/* A place that a branch leads to, in `image`. */
struct target {
    uint32_t image;
    uint64_t offset;
    uint8_t begins;
};

ORDER(by_offset, struct target,
      ascending(a->image, b->image) ?: ascending(a->offset, b->offset)
                                           ?: descending(a->begins, b->begins))

/* What direct calls and jumps back lead to, sorted. The targets that the code itself tells of are
 * known only when it was decoded. */
static bool find_beginnings(struct listing *listing) {
    const struct code *code = listing->code;
    for (uint32_t i = 0; i < code->insn_count; i++) {
        const struct static_insn *insn = &code->insns[i];
        const bool calls = insn->branch == BRANCH_CALL;
        const bool back = (insn->branch == BRANCH_CONDITIONAL || insn->branch == BRANCH_JUMP) &&
                          insn->target_displacement < 0;
        const uint64_t offset = insn->offset + (uint64_t)(int64_t)insn->target_displacement;
        if ((calls || back) &&
            !array_push(
                listing->targets, listing->target_capacity, listing->target_count,
                (struct target){insn->image, offset, calls ? BEGINS_FUNCTION : BEGINS_LOOP}))
            return false;
    }
    if (listing->target_count)
        qsort(listing->targets, listing->target_count, sizeof *listing->targets, by_offset);
    return true;
}

static uint8_t beginning_at(const struct listing *listing, const struct static_insn *insn) {
    const struct target *targets = listing->targets;
    const size_t at =
        first_where(i, listing->target_count,
                    targets[i].image > insn->image ||
                        (targets[i].image == insn->image && targets[i].offset >= insn->offset));
    return at < listing->target_count && targets[at].image == insn->image &&
                   targets[at].offset == insn->offset
               ? targets[at].begins
               : BEGINS_NOTHING;
}

static bool list(struct candidates *candidates, struct marker_candidate candidate, uint64_t place,
                 bool alone) {
    candidate.place = place;
    candidate.alone = alone;
    return array_push(candidates->items, candidates->capacity, candidates->count, candidate);
}

static bool list_block(const struct listing *listing, struct trace_block block,
                       struct candidates *candidates) {
    const uint32_t number = block.insns[0].insn;
    const struct static_insn *insn = &listing->code->insns[number];
    const struct code_image *image = &listing->code->images[insn->image];
    struct location location;
    if (image->kind != CODE_IMAGE_FILE)
        return true;
    const bool named = program_locate_function(listing->program, listing->images[insn->image],
                                               insn->offset, &location) &&
                       location.function;
    const uint8_t begins = location.function_size && insn->offset == location.function_offset
                               ? BEGINS_FUNCTION
                               : beginning_at(listing, insn);
    if (!begins)
        return true;
    const struct marker_candidate candidate = {
        .place = hash(HASH_BEGIN, &begins, sizeof begins),
        .times = chunk_profile_executions(listing->run->profile, number),
        .offset = insn->offset,
        .insn = number};
    if (listing->same[insn->image])
        return list(candidates, candidate,
                    hash(hash(candidate.place, image->build_id, image->build_id_size),
                         &insn->offset, sizeof insn->offset),
                    false);
    return (!named ||
            list(candidates, candidate, hash_name(candidate.place, location.function), false)) &&
           list(candidates, candidate, hash_shape(candidate.place, listing->code, block), true);
}

ORDER(by_insn, struct marker_candidate,
      ascending(a->insn, b->insn) ?: ascending(a->place, b->place))

/* Several blocks may begin with the same instruction. */
static void list_once(struct candidates *candidates) {
    size_t kept = 0;
    if (candidates->count)
        qsort(candidates->items, candidates->count, sizeof *candidates->items, by_insn);
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].times &&
            (!kept || candidates->items[kept - 1].insn != candidates->items[i].insn))
            candidates->items[kept++] = candidates->items[i];
    candidates->count = kept;
}

static bool list_all(struct listing *listing, const struct code *other,
                     struct candidates *candidates) {
    const struct code *code = listing->code;
    for (uint32_t i = 0; i < code->image_count; i++) {
        const struct code_image *image = &code->images[i];
        listing->same[i] = any_where(k, other->image_count, same_file(image, &other->images[k]));
        if (image->kind == CODE_IMAGE_FILE)
            listing->images[i] = program_add_image(listing->program, image->path, image->build_id,
                                                   image->build_id_size);
    }
    if (!find_beginnings(listing))
        return false;
    const uint32_t process = chunk_profile_process(listing->run->profile);
    const uint32_t count = trace_block_count(listing->run->trace, process);
    for (uint32_t i = 0; i < count; i++) {
        const struct trace_block block = trace_block(listing->run->trace, process, i);
        if (block.insn_count && !list_block(listing, block, candidates))
            return false;
    }
    list_once(candidates);
    return true;
}

static bool list_candidates(const struct marked_run *run, const struct code *other,
                            struct program *program, struct candidates *candidates) {
    const struct code *code = trace_code(run->trace);
    struct listing listing = {.run = run, .code = code, .program = program};
    listing.images = calloc(code->image_count + 1, sizeof *listing.images);
    listing.same = calloc(code->image_count + 1, sizeof *listing.same);
    const bool good = listing.images && listing.same && list_all(&listing, other, candidates);
    free(listing.images);
    free(listing.same);
    free(listing.targets);
    return good;
}

bool work_markers_find(const struct marked_run runs[2], struct program *program,
                       struct work_markers *markers) {
    struct candidates sides[2] = {{0}};
    bool good = true;
    for (int side = 0; side < 2; side++)
        good = good &&
               list_candidates(&runs[side], trace_code(runs[!side].trace), program, &sides[side]);
    good = good && work_markers_match(sides[0].items, sides[0].count, sides[1].items,
                                      sides[1].count, markers);
    free(sides[0].items);
    free(sides[1].items);
    return good;
}

void work_markers_free(struct work_markers *markers) {
    free(markers->items);
    *markers = (struct work_markers){0};
}
