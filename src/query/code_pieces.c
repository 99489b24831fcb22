/* Instructions in the order of their addresses are cut into runs, which branches then join: each
 * run leads to a lower one of its piece, and in the end to the lowest. */
#include "query/code_pieces.h"

#include <stdlib.h>

#include "util/array.h"
#include "util/order.h"

static const int64_t BRANCH_BYTES = 4096;

struct place {
    uint64_t start, end;
    uint32_t image, insn;
};

ORDER(by_place, struct place, ascending(a->image, b->image) ?: ascending(a->start, b->start) ?:
           ascending(a->end, b->end))

static bool is_nameless(const struct code *code, uint32_t image) {
    return image < code->image_count && code->images[image].kind == CODE_IMAGE_ANONYMOUS &&
           !code->images[image].symbol;
}

/* The first place at or after an address of an image. */
static size_t first_at(const struct place *places, size_t count, uint32_t image, uint64_t address) {
    return first_where(i, count,
                       places[i].image > image ||
                           (places[i].image == image && places[i].start >= address));
}

static bool ends_run(const struct static_insn *insn) {
    return insn->branch != BRANCH_NONE && insn->branch != BRANCH_CONDITIONAL &&
           insn->branch != BRANCH_CALL && insn->branch != BRANCH_INDIRECT_CALL;
}

/* The place that a direct branch leads to; `count`: none that executed. */
static size_t target_of(const struct code *code, const struct place *places, size_t count,
                        size_t place) {
    const struct static_insn *insn = &code->insns[places[place].insn];
    if (insn->branch == BRANCH_NONE || !insn->target_displacement)
        return count;
    uint64_t target = places[place].start + (uint64_t)(int64_t)insn->target_displacement;
    size_t to = first_at(places, count, places[place].image, target);
    bool known =
        to < count && places[to].image == places[place].image && places[to].start == target;
    return known ? to : count;
}

static bool cut(struct code_pieces *pieces, const struct code *code, const struct place *places,
                size_t count) {
    uint8_t *called = calloc(count, 1);
    bool good = called;
    for (size_t i = 0; good && i < count; i++) {
        size_t to = target_of(code, places, count, i);
        if (to < count && code->insns[places[i].insn].branch == BRANCH_CALL)
            called[to] = 1;
    }
    for (size_t i = 0; good && i < count; i++) {
        struct code_piece *last = pieces->count ? &pieces->items[pieces->count - 1] : NULL;
        if (last && last->image == places[i].image && !called[i] &&
            (places[i].start < last->end ||
             (places[i].start == last->end && !ends_run(&code->insns[places[i - 1].insn])))) {
            if (places[i].end > last->end)
                last->end = places[i].end;
            continue;
        }
        if (last && last->image == places[i].image && last->end > places[i].start) {
            if (last->start == places[i].start)
                continue; /* another instruction that was at the same address */
            last->end = places[i].start;
        }
        good = array_room(pieces->items, pieces->capacity, pieces->count + 1);
        if (good)
            pieces->items[pieces->count++] = (struct code_piece){places[i].image, places[i].start,
                                                                 places[i].end, places[i].start};
    }
    free(called);
    return good;
}

/* The lowest run of a run's piece. */
static size_t lowest(size_t *lower, size_t run) {
    while (lower[run] != run)
        run = lower[run] = lower[lower[run]];
    return run;
}

static size_t run_at(const struct code_pieces *pieces, const struct place *place) {
    return (size_t)(code_pieces_find(pieces, place->image, place->start) - pieces->items);
}

static bool join(struct code_pieces *pieces, const struct code *code, const struct place *places,
                 size_t count) {
    size_t *lower = malloc(pieces->count * sizeof *lower);
    if (!lower)
        return false;
    for (size_t i = 0; i < pieces->count; i++)
        lower[i] = i;
    for (size_t i = 0; i < count; i++) {
        const struct static_insn *insn = &code->insns[places[i].insn];
        bool joins = (insn->branch == BRANCH_CONDITIONAL || insn->branch == BRANCH_JUMP) &&
                     llabs(insn->target_displacement) <= BRANCH_BYTES;
        size_t to = joins ? target_of(code, places, count, i) : count;
        if (to == count)
            continue;
        size_t one = lowest(lower, run_at(pieces, &places[i]));
        size_t other = lowest(lower, run_at(pieces, &places[to]));
        lower[one > other ? one : other] = one > other ? other : one;
    }
    for (size_t i = 0; i < pieces->count; i++)
        pieces->items[i].first = pieces->items[lowest(lower, i)].start;
    free(lower);
    return true;
}

bool code_pieces_build(struct code_pieces *pieces, const struct code *code) {
    *pieces = (struct code_pieces){0};
    size_t count = sum_over(size_t, i, code->insn_count, is_nameless(code, code->insns[i].image));
    if (!count)
        return true;
    struct place *places = malloc(count * sizeof *places);
    if (!places)
        return false;
    count = 0;
    for (uint32_t i = 0; i < code->insn_count; i++) {
        const struct static_insn *insn = &code->insns[i];
        if (is_nameless(code, insn->image))
            places[count++] =
                (struct place){insn->offset, insn->offset + insn->length, insn->image, i};
    }
    qsort(places, count, sizeof *places, by_place);
    bool good = cut(pieces, code, places, count) && join(pieces, code, places, count);
    free(places);
    return good;
}

void code_pieces_free(struct code_pieces *pieces) {
    free(pieces->items);
    *pieces = (struct code_pieces){0};
}

const struct code_piece *code_pieces_find(const struct code_pieces *pieces, uint32_t image,
                                          uint64_t address) {
    size_t low = first_where(i, pieces->count,
                             pieces->items[i].image > image || (pieces->items[i].image == image &&
                                                                pieces->items[i].end > address));
    const struct code_piece *found = low < pieces->count ? &pieces->items[low] : NULL;
    return found && found->image == image && found->start <= address ? found : NULL;
}
