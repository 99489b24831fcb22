/* All that is found, in order. */
#include "analyze/feeding.h"

#include "util/array.h"
#include "util/order.h"

bool feeding_add(struct feeding *feeding, uint32_t insn, enum feed_kind kind, uint32_t maker) {
    return array_push(feeding->feeds, feeding->capacity, feeding->count,
                      (struct feed){insn, maker, (uint8_t)kind});
}

ORDER(compare_feeds, struct feed, ascending(a->insn, b->insn) ?: ascending(a->kind, b->kind) ?:
           ascending(a->maker, b->maker))

static void sort_feeds(struct feeding *feeding, uint32_t insn_count) {
    size_t kept = 0;
    if (feeding->count)
        qsort(feeding->feeds, feeding->count, sizeof *feeding->feeds, compare_feeds);
    for (size_t i = 0; i < feeding->count; i++)
        if (kept == 0 || compare_feeds(&feeding->feeds[kept - 1], &feeding->feeds[i]) != 0)
            feeding->feeds[kept++] = feeding->feeds[i];
    feeding->count = kept;
    for (size_t i = 0, insn = 0; insn <= insn_count; insn++) {
        while (i < kept && feeding->feeds[i].insn < insn)
            i++;
        feeding->first[insn] = i;
    }
}

bool feeding_find(struct feeding *feeding, const struct cfg *cfg, const struct machine *machine,
                  struct error *error) {
    *feeding = (struct feeding){0};
    feeding->first = calloc((size_t)cfg->insn_count + 1, sizeof *feeding->first);
    feeding->outstanding = calloc(cfg->insn_count, 1);
    if (!feeding->first || !feeding->outstanding || !feeding_find_fetches(feeding, cfg, machine) ||
        (machine->core.in_order && !feeding_find_operands(feeding, cfg, machine)))
        return error_set(error, "out of memory for the operands of %u instructions",
                         cfg->insn_count);
    sort_feeds(feeding, cfg->insn_count);
    return true;
}

void feeding_free(struct feeding *feeding) {
    free(feeding->feeds);
    free(feeding->first);
    free(feeding->outstanding);
    *feeding = (struct feeding){0};
}
