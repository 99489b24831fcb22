/* A sample in bytes: fixed fields, then the µops that were kept of it, sixteen bits for each time
 * and distance. */
#include "shotgun/format.h"

#include <string.h>

#include "memory/memory.h"

static uint8_t *put_u16(uint8_t *at, uint16_t value) {
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    return at + 2;
}

static uint16_t get_u16(const uint8_t *at) {
    return (uint16_t)(at[0] | at[1] << 8);
}

/* The sixteen-bit fields of a µop, in the order of the file. */
enum { TIMES = 15 };
static void fields_of(struct shotgun_uop *uop, uint16_t *fields[TIMES]) {
    uint16_t *const all[TIMES] = {&uop->fetch_cache, &uop->fetch_tlb,    &uop->unit_wait,
                                  &uop->mshr_wait,   &uop->execution,    &uop->miss,
                                  &uop->store_wait,  &uop->after_commit, &uop->store,
                                  &uop->store_data,  &uop->fetched_by,   &uop->queue_entry,
                                  &uop->fill,        &uop->fetch_packet, &uop->walk};
    memcpy(fields, all, sizeof all);
}
static_assert(SHOTGUN_UOP_BYTES == 8 + 2 * TIMES + 2, "flags, store, fields, level and a zero");

/* What was observed, in the order of its bits in the file. */
static const uint32_t OBSERVED[] = {GRAPH_MISPREDICTED,   GRAPH_LATE,          GRAPH_TAKEN,
                                    GRAPH_FLUSHES,        GRAPH_FORWARDED,     GRAPH_COVERED,
                                    GRAPH_BREAK_UNIT,     GRAPH_HUNG,          GRAPH_PENDING,
                                    2 * GRAPH_BREAK_UNIT, 4 * GRAPH_BREAK_UNIT};
enum { OBSERVED_COUNT = sizeof OBSERVED / sizeof *OBSERVED };

static uint32_t bits_of(uint32_t flags) {
    uint32_t bits = 0;
    for (int i = 0; i < OBSERVED_COUNT; i++)
        bits |= (uint32_t)((flags & OBSERVED[i]) != 0) << i;
    return bits;
}

static uint32_t flags_of(uint32_t bits) {
    uint32_t flags = 0;
    for (int i = 0; i < OBSERVED_COUNT; i++)
        flags |= bits >> i & 1 ? OBSERVED[i] : 0;
    return flags;
}

static void pack_uop(struct shotgun_uop uop, uint8_t *at) {
    uint16_t *fields[TIMES];
    fields_of(&uop, fields);
    put_u32(at, bits_of(uop.flags));
    put_u32(at + 4, uop.store_insn);
    at += 8;
    for (int i = 0; i < TIMES; i++)
        at = put_u16(at, *fields[i]);
    at[0] = uop.level;
    at[1] = 0;
}

static const char *unpack_uop(const uint8_t *at, struct shotgun_uop *uop) {
    uint16_t *fields[TIMES];
    uint32_t bits = get_u32(at);
    *uop = (struct shotgun_uop){.flags = flags_of(bits), .store_insn = get_u32(at + 4)};
    fields_of(uop, fields);
    for (int i = 0; i < TIMES; i++)
        *fields[i] = get_u16(at + 8 + 2 * i);
    at += 8 + 2 * TIMES;
    uop->level = at[0];
    return bits >> OBSERVED_COUNT || uop->level > LEVEL_DRAM || at[1] ? "a µop that makes no sense"
                                                                      : NULL;
}

uint32_t shotgun_pack(const struct shotgun_sample *sample, const struct shotgun_uop *uops,
                      uint8_t *bytes) {
    put_u64(bytes, sample->context);
    put_u32(bytes + 8, sample->insn);
    put_u32(bytes + 12, sample->target);
    put_u32(bytes + 16, sample->target_fused);
    put_u32(bytes + 20, sample->uops_executed);
    put_u32(bytes + 24, sample->uop_count);
    for (uint32_t i = 0; i < sample->uop_count; i++)
        pack_uop(uops[i], bytes + SHOTGUN_SAMPLE_BYTES + i * SHOTGUN_UOP_BYTES);
    return SHOTGUN_SAMPLE_BYTES + sample->uop_count * SHOTGUN_UOP_BYTES;
}

const char *shotgun_unpack(const uint8_t *bytes, uint32_t size, struct shotgun_sample *sample,
                           struct shotgun_uop uops[SHOTGUN_INSN_UOPS], uint32_t *taken) {
    if (size < SHOTGUN_SAMPLE_BYTES)
        return "part of a sample";
    uint32_t count = get_u32(bytes + 24);
    *sample = (struct shotgun_sample){.context = get_u64(bytes),
                                      .insn = get_u32(bytes + 8),
                                      .target = get_u32(bytes + 12),
                                      .target_fused = bytes[16],
                                      .uops_executed = get_u32(bytes + 20),
                                      .uop_count = (uint16_t)count};
    if (sample->context & ~CONTEXT_ALL || get_u32(bytes + 16) > 1 || count == 0 ||
        count > SHOTGUN_INSN_UOPS || sample->uops_executed < count)
        return "a sample that makes no sense";
    *taken = SHOTGUN_SAMPLE_BYTES + count * SHOTGUN_UOP_BYTES;
    if (size < *taken)
        return "part of a sample";
    const char *wrong = NULL;
    for (uint32_t i = 0; i < count && !wrong; i++)
        wrong = unpack_uop(bytes + SHOTGUN_SAMPLE_BYTES + i * SHOTGUN_UOP_BYTES, &uops[i]);
    return wrong;
}
