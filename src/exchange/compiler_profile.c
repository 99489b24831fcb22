/* The table of formats, and what they have in common: of the lists what lies in one file. */
#include "exchange/compiler_profile.h"

#include <stdlib.h>

#include "exchange/compiler_input.h"
#include "util/order.h"

const char *const compiler_format_names[COMPILER_FORMATS] = {
    [COMPILER_AUTOFDO] = "autofdo", [COMPILER_BOLT] = "bolt", [COMPILER_RANGES] = "ranges"};

static const struct {
    const char *ending;
    bool (*write)(struct compiler_input *input, struct error *error);
} FORMATS[COMPILER_FORMATS] = {
    [COMPILER_AUTOFDO] = {".afdo", autofdo_write},
    [COMPILER_BOLT] = {".fdata", bolt_write},
    [COMPILER_RANGES] = {".ranges", ranges_write},
};

const char *compiler_format_ending(enum compiler_format format) {
    return FORMATS[format].ending;
}

struct counted_times compiler_input_times(const struct compiler_input *input, uint64_t start,
                                          uint64_t end) {
    struct counted_times times = {0, 0};
    for (size_t i = first_where(k, input->insn_count, input->insns[k].address >= start);
         i < input->insn_count && input->insns[i].address < end; i++) {
        const uint64_t executed = input->insns[i].times;
        times.most = executed > times.most ? executed : times.most;
        times.all += executed;
    }
    return times;
}

/* COUNTED_ELSEWHERE: it is in another file, or in none of this one's segments. */
static uint64_t address_of(const struct compiler_profile *profile,
                           const struct execution_point *point) {
    uint64_t address;
    return point->image == profile->number &&
                   program_offset_to_address(profile->program, profile->image, point->offset,
                                             &address)
               ? address
               : COUNTED_ELSEWHERE;
}

ORDER(by_address, struct counted_insn, ascending(a->address, b->address))
ORDER(by_place, struct counted_edge,
      ascending(a->from, b->from) ?: ascending(a->to, b->to) ?: ascending(a->kind, b->kind))

static bool take_insns(struct compiler_input *input) {
    const struct executed_list *list = input->profile->insns;
    if (!(input->insns = malloc((list->count + 1) * sizeof *input->insns)))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct executed *insn = &list->items[i];
        const uint64_t address = address_of(input->profile, &insn->at);
        if (address != COUNTED_ELSEWHERE && insn->times)
            input->insns[input->insn_count++] =
                (struct counted_insn){address, insn->times, insn->length};
    }
    qsort(input->insns, input->insn_count, sizeof *input->insns, by_address);
    return true;
}

static bool take_edges(struct compiler_input *input) {
    const struct executed_list *list = input->profile->edges;
    if (!(input->edges = malloc((list->count + 1) * sizeof *input->edges)))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct executed *edge = &list->items[i];
        const uint64_t from = address_of(input->profile, &edge->at),
                       to = address_of(input->profile, &edge->to);
        if (from != COUNTED_ELSEWHERE || to != COUNTED_ELSEWHERE)
            input->edges[input->edge_count++] = (struct counted_edge){.from = from,
                                                                      .to = to,
                                                                      .times = edge->times,
                                                                      .kind = edge->kind,
                                                                      .branch = edge->branch};
    }
    qsort(input->edges, input->edge_count, sizeof *input->edges, by_place);
    return true;
}

bool compiler_profile_write(struct compiler_profile *profile, enum compiler_format format,
                            struct error *error) {
    struct compiler_input input = {.profile = profile};
    const bool good = (take_insns(&input) && take_edges(&input)) ||
                      error_set(error, "out of memory for the profile");
    const bool written = good && FORMATS[format].write(&input, error);
    profile->functions = input.functions;
    free(input.insns);
    free(input.edges);
    return written;
}
