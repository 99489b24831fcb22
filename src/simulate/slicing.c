/* Ends are searched by bisection, once per slice. */
#include "simulate/slicing.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "util/order.h"

ORDER(by_place, struct slice_end,
      ascending(a->thread, b->thread) ?: ascending(a->position, b->position))

size_t slice_ends_sort(struct slice_end *ends, size_t count) {
    size_t kept = 0;
    if (count)
        qsort(ends, count, sizeof *ends, by_place);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || by_place(&ends[kept - 1], &ends[i]) != 0)
            ends[kept++] = ends[i];
    return kept;
}

uint64_t slicing_next(const struct slicing *slicing, uint32_t thread, uint64_t position) {
    if (slicing->size) {
        uint64_t end;
        return __builtin_mul_overflow(position / slicing->size + 1, slicing->size, &end)
                   ? UINT64_MAX
                   : end;
    }
    const struct slice_end here = {thread, position};
    size_t low = first_where(i, slicing->end_count, by_place(&slicing->ends[i], &here) > 0);
    return low < slicing->end_count && slicing->ends[low].thread == thread
               ? slicing->ends[low].position
               : UINT64_MAX;
}

/* ---- parts ---- */

const char *part_name(unsigned part) {
    static const char *const NAMES[] = {"base",  "dr_l1", "dr_tlb",  "dr_sq",  "fl_mb",
                                        "fl_ex", "fl_mo", "st_l1",   "st_tlb", "st_llc",
                                        "st_fw", "st_co", "combined"};
    static_assert(sizeof NAMES / sizeof *NAMES == PART_COUNT, "a name for each part");
    return NAMES[part];
}

void parts_of(const uint64_t units[PSV_COMBINATIONS], uint64_t parts[PART_COUNT]) {
    for (unsigned part = 0; part < PART_COUNT; part++)
        parts[part] = 0;
    for (unsigned psv = 0; psv < PSV_COMBINATIONS; psv++) {
        unsigned part = !psv              ? PART_BASE
                        : psv & (psv - 1) ? PART_COMBINED
                                          : 1 + (unsigned)__builtin_ctz(psv);
        parts[part] += units[psv];
    }
}

/* ---- file ---- */

static const struct {
    const char *name;
    size_t offset; /* in struct core_statistics */
} COUNTS[] = {
#define COUNT(name, member)                                                                        \
    { name, offsetof(struct core_statistics, member) }
    COUNT("uops", uops),
    COUNT("loads", loads),
    COUNT("stores", stores),
    COUNT("flushes", flushes),
    COUNT("conditional_misses", branch.conditional_wrong),
    COUNT("indirect_misses", branch.indirect_wrong),
    COUNT("return_misses", branch.returns_wrong),
    COUNT("l1i_misses", memory.l1i.misses),
    COUNT("l1d_misses", memory.l1d.misses),
    COUNT("l2_misses", memory.l2.misses),
    COUNT("llc_misses", memory.llc.misses),
    COUNT("itlb_misses", memory.itlb_misses),
    COUNT("dtlb_misses", memory.dtlb_misses),
    COUNT("dram_reads", memory.dram_reads),
    COUNT("dram_writes", memory.dram_writes),
#undef COUNT
};
enum { COUNTED = sizeof COUNTS / sizeof *COUNTS };

static void write_head(FILE *file) {
    fputs("process,thread,first,instructions,cycles", file);
    for (int state = 0; state < STATE_COUNT; state++)
        fprintf(file, ",%s", commit_state_name(state));
    for (unsigned part = 0; part < PART_COUNT; part++)
        fprintf(file, ",units_%s", part_name(part));
    for (int i = 0; i < COUNTED; i++)
        fprintf(file, ",%s", COUNTS[i].name);
    fputc('\n', file);
}

void slice_records_write(const struct slice_record *records, size_t count, FILE *file) {
    write_head(file);
    for (size_t i = 0; i < count; i++) {
        const struct slice_record *record = &records[i];
        fprintf(file, "%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, record->process,
                record->thread, record->first, record->instructions, record->cycles);
        for (int state = 0; state < STATE_COUNT; state++)
            fprintf(file, ",%" PRIu64, record->states[state]);
        for (unsigned part = 0; part < PART_COUNT; part++)
            fprintf(file, ",%" PRIu64, record->parts[part]);
        for (int k = 0; k < COUNTED; k++)
            fprintf(file, ",%" PRIu64,
                    *(const uint64_t *)((const char *)&record->counted + COUNTS[k].offset));
        fputc('\n', file);
    }
}
