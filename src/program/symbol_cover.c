/* Code made at run time may be made again at the same addresses: the last symbol there counts, as a
 * whole. */
#include "program/symbol_cover.h"

#include <stdlib.h>

#include "util/array.h"
#include "util/order.h"

static bool covers_any(const struct symbol_cover *cover, uint64_t start, uint64_t size) {
    size_t low = first_where(i, cover->offset_count, cover->offsets[i] >= start);
    return low < cover->offset_count && cover->offsets[low] - start < size;
}

bool symbol_cover_add(struct symbol_cover *cover, uint64_t start, uint64_t size, const char *name,
                      size_t name_length) {
    if (!covers_any(cover, start, size))
        return true;
    char *copy = arena_copy(&cover->names, name, name_length);
    if (!copy || !array_room(cover->symbols, cover->capacity, cover->count + 1))
        return false;
    cover->symbols[cover->count++] = (struct code_symbol){start, size, copy};
    return true;
}

struct ranked {
    struct code_symbol symbol;
    size_t rank; /* when it was added */
};

ORDER(by_start, struct ranked,
      ascending(a->symbol.start, b->symbol.start) ?: ascending(a->rank, b->rank))

static bool overlap(const struct code_symbol *first, const struct code_symbol *second) {
    return second->start - first->start < first->size;
}

void symbol_cover_settle(struct symbol_cover *cover) {
    struct ranked *ranked = malloc((cover->count + 1) * sizeof *ranked);
    if (!ranked)
        return;
    for (size_t i = 0; i < cover->count; i++)
        ranked[i] = (struct ranked){cover->symbols[i], i};
    qsort(ranked, cover->count, sizeof *ranked, by_start);
    size_t kept = 0;
    for (size_t i = 0; i < cover->count; i++) {
        bool older = false;
        while (kept && !older && overlap(&ranked[kept - 1].symbol, &ranked[i].symbol)) {
            older = ranked[kept - 1].rank > ranked[i].rank;
            kept -= !older;
        }
        if (!older)
            ranked[kept++] = ranked[i];
    }
    for (size_t i = 0; i < kept; i++)
        cover->symbols[i] = ranked[i].symbol;
    cover->count = kept;
    free(ranked);
}

void symbol_cover_free(struct symbol_cover *cover) {
    free(cover->symbols);
    arena_free(&cover->names);
    *cover = (struct symbol_cover){0};
}
