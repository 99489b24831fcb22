/* A core that only predecodes keeps its stream, with what timing needs beside it: the accesses of
 * µops that have several, where each chunk ends, and how long µops of each row of units take on the
 * machine as described. A core that times it makes its own rows of units of these, idealised, and
 * takes from each µop what its idealisations remove; else the stream is what it would have made
 * itself. */
#include "core/ooo/ooo.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

/* A repeated string instruction has as many µops as its operands have lines: the rest of what is
 * longer is not kept. */
enum { MOST_KEPT = 1 << 20 };

struct predecoded {
    struct stream_uop *uops;
    struct memory_access *gathers;
    struct kept_chunk {
        size_t uops, gathers; /* at its end */
    } * chunks;
    size_t uop_count, gather_count, chunk_count;
    size_t uop_capacity, gather_capacity, chunk_capacity;
    struct uop_timing timings[MOST_UNITS]; /* by row of units, from OP_COUNT on */
};

struct predecoded *predecoded_new(void) {
    return calloc(1, sizeof(struct predecoded));
}

void predecoded_free(struct predecoded *kept) {
    if (!kept)
        return;
    free(kept->uops);
    free(kept->gathers);
    free(kept->chunks);
    free(kept);
}

void predecoded_note_row(struct predecoded *kept, uint32_t row, const struct uop_timing *timing) {
    kept->timings[row] = *timing;
}

bool predecoded_add_chunk(struct ooo *core, struct error *error) {
    struct predecoded *kept = core->kept;
    const size_t uops = kept->uop_count + (core->produced - core->chunk_start);
    const size_t gathers = kept->gather_count + (core->gather_end - core->gather_start);
    if (uops > MOST_KEPT || gathers > MOST_KEPT)
        return true;
    if (!array_room(kept->uops, kept->uop_capacity, uops + 1) ||
        !array_room(kept->gathers, kept->gather_capacity, gathers + 1) ||
        !array_room(kept->chunks, kept->chunk_capacity, kept->chunk_count + 1))
        return error_set(error, "out of memory for predecoded instructions");
    for (uint64_t at = core->chunk_start; at < core->produced; at++)
        kept->uops[kept->uop_count++] = *stream_at(core, at);
    for (uint64_t at = core->gather_start; at < core->gather_end; at++)
        kept->gathers[kept->gather_count++] = core->gathers[at & core->gather_mask];
    kept->chunks[kept->chunk_count++] = (struct kept_chunk){uops, gathers};
    return true;
}

bool ooo_predecode_again(struct ooo *core, const struct branch_predictor *predictor,
                         struct error *error) {
    struct predecoded *kept = core->kept;
    branch_free(core->predictor);
    if (!(core->predictor = branch_copy(predictor, core->branch)))
        return error_set(error, "branch predictor: out of memory");
    kept->uop_count = kept->gather_count = kept->chunk_count = 0;
    core->produced = core->gather_end = core->chunk_start = core->gather_start = 0;
    begin_input(core);
    return true;
}

/* ---- timing ---- */

/* Rows of units that this core has not made yet. */
static void make_rows(struct ooo *core, const struct ooo *from) {
    for (uint32_t row = core->unit_count; row < from->unit_count; row++)
        core->units[row] = unit_for(core, from->units[row].operation, &from->kept->timings[row]);
    core->unit_count = from->unit_count;
}

/* Flags that no µop has with these idealisations. */
static uint32_t removed_flags(uint32_t ideal) {
    return (ideal & IDEAL_BMISP ? (uint32_t)(U_MISPREDICTED | U_LATE) : 0u) |
           (ideal & IDEAL_BW ? (uint32_t)(U_NEW_BLOCK | U_LONG | U_MICROCODED) : 0u);
}

bool ooo_push_predecoded(struct ooo *core, const struct ooo *from, struct error *error) {
    const struct predecoded *kept = from->kept;
    const uint32_t left = ~removed_flags(core->ideal);
    const bool without_bubbles = core->ideal & IDEAL_BW;
    if (!from->code)
        return true;
    if (!core->isa_known && !set_registers(core, from->code->isa, error))
        return false;
    core->code = from->code;
    memory_statistics(core->memory, &core->memory_before);
    make_rows(core, from);
    for (size_t chunk = 0; chunk < kept->chunk_count; chunk++) {
        for (; core->produced < kept->chunks[chunk].uops; core->produced++) {
            struct stream_uop *uop = &core->stream[core->produced & core->stream_mask];
            *uop = kept->uops[core->produced];
            core->pushed_flags |= uop->flags;
            core->pushed_decoded |= uop->decoded;
            uop->flags &= uop->flags & U_LOAD ? left | U_LONG : left; /* a load in two lines */
            if (without_bubbles && uop->flags & U_BRANCH)
                uop->bubble = 0;
        }
        for (; core->gather_end < kept->chunks[chunk].gathers; core->gather_end++)
            core->gathers[core->gather_end & core->gather_mask] = kept->gathers[core->gather_end];
        if (!hand_over(core, false, error))
            return false;
    }
    return true;
}

uint32_t ooo_needless(const struct ooo *core) {
    const struct memory_statistics *before = &core->memory_before;
    struct memory_statistics now;
    memory_statistics(core->memory, &now);
    const bool fetches_hit = !core->pushed_decoded && now.l1i.misses == before->l1i.misses &&
                             now.l1i.pending_hits == before->l1i.pending_hits &&
                             now.l1i.prefetches == before->l1i.prefetches &&
                             now.itlb_misses == before->itlb_misses;
    return (fetches_hit ? (uint32_t)IDEAL_IMISS : 0u) |
           (core->pushed_flags & (U_MISPREDICTED | U_LATE) ? 0u : (uint32_t)IDEAL_BMISP) |
           (core->failed_forward ? 0u : (uint32_t)IDEAL_STFWD) |
           (core->met_split ? 0u : (uint32_t)IDEAL_SPLIT);
}
