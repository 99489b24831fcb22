/* A sample in bytes. The first 40 are perf's, as for PERF_SAMPLE_TID | TIME | CPU | PERIOD; then
 * the profiler's registers of 8 bytes each: cycles, flags and addresses. The flags begin with the
 * five of enum tip_flags; behind them the valid bits, Oldest ID and, in the same register if all of
 * them fit and else in registers of their own, the bits of
 * events for each address. */
#include "samples/format.h"

#include <assert.h>
#include <string.h>

enum {
    PERF_RECORD_SAMPLE = 9,
    PERF_MISC_USER = 2,
    PERF_BYTES = 40,
    REGISTER_BYTES = 8,
    STATE_BITS = 5,
    MAX_REGISTERS = 1 + (SAMPLE_MAX_BANKS * PSV_SAMPLED_BITS + 63) / 64
};
static_assert(SAMPLE_BYTES_MAX >=
                  PERF_BYTES + (1 + MAX_REGISTERS + SAMPLE_MAX_BANKS) * REGISTER_BYTES,
              "room for any sample");

/* Of a signature. */
static uint32_t event_bits(const struct sample_header *header) {
    return header->nine_events ? PSV_TEA_BITS : PSV_SAMPLED_BITS;
}

uint32_t sample_bytes(const struct sample_header *header) {
    struct profiler profiler = *profiler_find(header->events ? "TEA" : "TIP");
    profiler.events &= (1u << event_bits(header)) - 1;
    return profiler_sample_bytes(&profiler, header->commit_width);
}

double sample_rate(uint32_t sample_bytes, uint64_t period, uint64_t clock_hz) {
    return (double)sample_bytes * (double)clock_hz / (double)period;
}

unsigned sample_sharers(const struct sample *sample, uint32_t commit_width, uint8_t *banks) {
    unsigned count = 0;
    banks[0] = (uint8_t)sample->oldest;
    if (sample->flags)
        return 1;
    for (uint32_t i = 0; i < commit_width; i++) {
        uint32_t bank = (sample->oldest + i) % commit_width;
        if (sample->valid >> bank & 1)
            banks[count++] = (uint8_t)bank;
    }
    return count;
}

/* ---- the registers for flags and events ---- */

struct layout {
    uint32_t oldest_bits, flag_bits; /* flag_bits: of flags, valid bits and Oldest ID together */
    uint32_t events_at;              /* bit at which the first signature begins */
    uint32_t registers;              /* for all of these */
};

static struct layout layout_of(const struct sample_header *header) {
    uint32_t width = header->commit_width;
    struct layout layout = {.oldest_bits = 0};
    while (1u << layout.oldest_bits < width)
        layout.oldest_bits++;
    layout.flag_bits = STATE_BITS + width + layout.oldest_bits;
    uint32_t events = header->events ? event_bits(header) * width : 0;
    bool together = layout.flag_bits + events <= 64;
    layout.events_at = together ? layout.flag_bits : 64;
    layout.registers = 1 + (together ? 0 : (events + 63) / 64);
    return layout;
}

static void set_bits(uint64_t *registers, uint32_t at, uint32_t count, uint64_t value) {
    for (uint32_t i = 0; i < count; i++)
        registers[(at + i) / 64] |= (value >> i & 1) << (at + i) % 64;
}

static uint64_t get_bits(const uint64_t *registers, uint32_t at, uint32_t count) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; i++)
        value |= (registers[(at + i) / 64] >> (at + i) % 64 & 1) << i;
    return value;
}

void sample_pack(const struct sample_header *header, const struct sample *sample, uint8_t *bytes) {
    struct layout layout = layout_of(header);
    uint64_t registers[MAX_REGISTERS] = {0};
    set_bits(registers, 0, STATE_BITS, sample->flags);
    set_bits(registers, STATE_BITS, header->commit_width, sample->valid);
    set_bits(registers, STATE_BITS + header->commit_width, layout.oldest_bits, sample->oldest);
    uint32_t bits = event_bits(header);
    for (uint32_t i = 0; header->events && i < header->commit_width; i++)
        set_bits(registers, layout.events_at + i * bits, bits, sample->events[i]);

    put_u32(bytes, PERF_RECORD_SAMPLE);
    put_u32(bytes + 4, PERF_MISC_USER | sample_bytes(header) << 16);
    put_u32(bytes + 8, sample->process);
    put_u32(bytes + 12, sample->thread);
    put_u64(bytes + 16, sample->time);
    put_u32(bytes + 24, sample->core);
    put_u32(bytes + 28, 0);
    put_u64(bytes + 32, sample->period);
    uint8_t *at = bytes + PERF_BYTES;
    put_u64(at, sample->cycles);
    for (uint32_t i = 0; i < layout.registers; i++)
        put_u64(at += REGISTER_BYTES, registers[i]);
    for (uint32_t i = 0; i < header->commit_width; i++)
        put_u64(at += REGISTER_BYTES, sample->address[i]);
}

/* What the hardware never does. */
static const char *impossible(const struct sample_header *header, const struct sample *sample) {
    if (sample->flags & (sample->flags - 1))
        return "more than one flag";
    if (sample->oldest >= header->commit_width || !(sample->valid >> sample->oldest & 1))
        return "an oldest address that is not valid";
    if (sample->flags && sample->valid & (sample->valid - 1))
        return "several addresses in a cycle without commit";
    for (uint32_t i = 0; i < header->commit_width; i++)
        if (!(sample->valid >> i & 1) && (sample->address[i] || sample->events[i]))
            return "an address that is not valid";
    if (sample->cycles == 0 || sample->cycles > sample->time || sample->period == 0)
        return "no weight";
    return NULL;
}

const char *sample_unpack(const struct sample_header *header, const uint8_t *bytes,
                          struct sample *sample) {
    struct layout layout = layout_of(header);
    uint64_t registers[MAX_REGISTERS] = {0};
    if (get_u32(bytes) != PERF_RECORD_SAMPLE ||
        get_u32(bytes + 4) != (PERF_MISC_USER | sample_bytes(header) << 16) || get_u32(bytes + 28))
        return "no sample";
    const uint8_t *at = bytes + PERF_BYTES;
    *sample = (struct sample){.process = get_u32(bytes + 8),
                              .thread = get_u32(bytes + 12),
                              .time = get_u64(bytes + 16),
                              .core = get_u32(bytes + 24),
                              .period = get_u64(bytes + 32),
                              .cycles = get_u64(at)};
    for (uint32_t i = 0; i < layout.registers; i++)
        registers[i] = get_u64(at += REGISTER_BYTES);
    for (uint32_t i = 0; i < header->commit_width; i++)
        sample->address[i] = get_u64(at += REGISTER_BYTES);
    sample->flags = (uint32_t)get_bits(registers, 0, STATE_BITS);
    sample->valid = (uint32_t)get_bits(registers, STATE_BITS, header->commit_width);
    sample->oldest =
        (uint32_t)get_bits(registers, STATE_BITS + header->commit_width, layout.oldest_bits);
    uint32_t bits = event_bits(header);
    for (uint32_t i = 0; header->events && i < header->commit_width; i++)
        sample->events[i] = (uint16_t)get_bits(registers, layout.events_at + i * bits, bits);
    uint8_t again[SAMPLE_BYTES_MAX];
    sample_pack(header, sample, again);
    if (memcmp(again, bytes, sample_bytes(header)) != 0)
        return "bits that mean nothing";
    return impossible(header, sample);
}
