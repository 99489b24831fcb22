/* Times that machines give in DRAM clocks or bytes per second become core cycles once, here, in
 * integers: clocks and bandwidths are taken as whole kHz and kB/s. */
#include "memory/dram.h"

#include <math.h>
#include <stdlib.h>

/* GHz or GB/s as whole kHz or kB/s; 0 when out of range. */
static uint64_t to_kilo(double giga) {
    return giga >= 1e-6 && giga <= 1e6 ? (uint64_t)llround(giga * 1e6) : 0;
}

static uint64_t divide_up(uint64_t value, uint64_t by) {
    return (value + by - 1) / by;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool dram_new_banks(struct dram *dram, const struct machine *machine, struct error *error) {
    const struct machine_dram *m = &machine->dram;
    const uint64_t core_khz = to_kilo(machine->clock_ghz), dram_khz = to_kilo(m->clock_ghz);
    const uint64_t banks = (uint64_t)m->ranks * m->banks;
    if (!core_khz || !dram_khz)
        return error_set(error, "clock_ghz = %g, dram.clock_ghz = %g: both must be positive",
                         machine->clock_ghz, m->clock_ghz);
    if (banks == 0 || banks > DRAM_MAX_BANKS || m->row == 0 || m->queue > DRAM_MAX_QUEUE)
        return error_set(error,
                         "dram: ranks * banks must be 1 to %d, row at least 1, queue at most %d",
                         DRAM_MAX_BANKS, DRAM_MAX_QUEUE);
    if (m->tcl > 1000 || m->trcd > 1000 || m->trp > 1000)
        return error_set(error, "dram: tcl, trcd and trp must be at most 1000 DRAM clocks");
    const uint64_t row_clocks[ROW_CASES] = {0, m->trcd, (uint64_t)m->trp + m->trcd};
    for (int row = 0; row < ROW_CASES; row++) {
        dram->to_column[row] = divide_up(row_clocks[row] * core_khz, dram_khz);
        dram->to_data[row] = divide_up((row_clocks[row] + m->tcl) * core_khz, dram_khz);
    }
    dram->bank_count = (uint32_t)banks;
    dram->row_bytes = m->row;
    dram->queue = m->queue;
    dram->banks = calloc(banks, sizeof *dram->banks);
    dram->slot_free = calloc((size_t)m->queue + 1, sizeof *dram->slot_free);
    if (!dram->banks || !dram->slot_free)
        return error_set(error, "out of memory for %u DRAM banks", dram->bank_count);
    return true;
}

bool dram_new(struct dram *dram, const struct machine *machine, uint32_t line_bytes,
              struct error *error) {
    const struct machine_dram *m = &machine->dram;
    dram->banked = m->banked;
    dram->latency = m->banked ? m->base_latency : m->latency;
    if (!m->banked && m->latency == 0)
        return error_set(error, "dram.latency = 0: must be at least 1");
    dram->bus_parts = 1;
    if (m->bandwidth != 0) {
        const uint64_t core_khz = to_kilo(machine->clock_ghz), bus = to_kilo(m->bandwidth);
        if (!core_khz || !bus)
            return error_set(error, "clock_ghz = %g, dram.bandwidth = %g: must be positive",
                             machine->clock_ghz, m->bandwidth);
        const uint64_t cycles = line_bytes * core_khz; /* over `bus` */
        dram->bus_parts = bus / greatest_common_divisor(cycles, bus);
        dram->transfer_whole = cycles / bus;
        dram->transfer_part = cycles % bus / (bus / dram->bus_parts);
    }
    return !m->banked || dram_new_banks(dram, machine, error);
}

void dram_restart(struct dram *dram) {
    for (uint32_t bank = 0; bank < dram->bank_count; bank++)
        dram->banks[bank].free = 0;
    for (uint32_t slot = 0; dram->slot_free && slot <= dram->queue; slot++)
        dram->slot_free[slot] = 0;
    dram->bus_free = dram->bus_part = 0;
}

void dram_copy(struct dram *dram, const struct dram *from) {
    for (uint32_t bank = 0; bank < dram->bank_count; bank++)
        dram->banks[bank].open_row_plus_one = from->banks[bank].open_row_plus_one;
}

void dram_free(struct dram *dram) {
    free(dram->banks);
    free(dram->slot_free);
}

/* One line over the bus, from cycle `earliest` on, after all before it. Returns the cycle at whose
 * start it has crossed; *begin the whole cycle in which it began. */
static uint64_t transfer(struct dram *dram, uint64_t earliest, uint64_t *begin) {
    if (dram->bus_free < earliest) {
        dram->bus_free = earliest;
        dram->bus_part = 0;
    }
    *begin = dram->bus_free;
    dram->bus_free += dram->transfer_whole;
    dram->bus_part += dram->transfer_part;
    if (dram->bus_part >= dram->bus_parts) {
        dram->bus_part -= dram->bus_parts;
        dram->bus_free++;
    }
    return dram->bus_free + (dram->bus_part > 0);
}

static uint64_t transfer_cycles(const struct dram *dram) {
    return dram->transfer_whole + (dram->transfer_part > 0);
}

/* Fixed latency includes the transfer over an idle bus. */
static uint64_t read_fixed(struct dram *dram, uint64_t cycle) {
    const uint64_t inside = transfer_cycles(dram);
    const uint64_t before = dram->latency > inside ? dram->latency - inside : 0;
    uint64_t begin;
    const uint64_t end = transfer(dram, cycle + before, &begin);
    return end > cycle + dram->latency ? end : cycle + dram->latency;
}

/* A queue slot that is free at a cycle, else the one that frees first. */
static uint32_t choose_slot(struct dram *dram, uint64_t cycle) {
    uint32_t slot = dram->slot_cursor, first = slot;
    for (uint32_t tried = 0; tried < dram->queue; tried++) {
        slot = slot + 1 < dram->queue ? slot + 1 : 0;
        if (dram->slot_free[slot] < dram->slot_free[first])
            first = slot;
        if (dram->slot_free[slot] <= cycle)
            break;
    }
    return dram->slot_cursor = first;
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

uint64_t dram_read(struct dram *dram, uint64_t cycle, uint64_t address) {
    dram->reads++;
    if (!dram->banked)
        return read_fixed(dram, cycle);

    const uint64_t row_number = address / dram->row_bytes;
    const uint64_t row = row_number / dram->bank_count;
    struct dram_bank *bank = &dram->banks[row_number % dram->bank_count];
    const uint32_t slot = choose_slot(dram, cycle);
    uint64_t start = later(cycle, bank->free);
    if (dram->queue)
        start = later(start, dram->slot_free[slot]);

    enum dram_row row_case = ROW_CONFLICT;
    if (bank->open_row_plus_one == 0)
        row_case = ROW_CLOSED;
    else if (bank->open_row_plus_one == row + 1)
        row_case = ROW_HIT;
    dram->row_hits += row_case == ROW_HIT;
    bank->open_row_plus_one = row + 1;

    const uint64_t data = start + dram->to_data[row_case];
    uint64_t begin;
    const uint64_t end = transfer(dram, data, &begin);
    bank->free = start + dram->to_column[row_case] + (begin - data) + dram->transfer_whole;
    dram->slot_free[slot] = end;
    return end + dram->latency;
}

void dram_write(struct dram *dram, uint64_t cycle) {
    dram->writes++;
    uint64_t begin;
    transfer(dram, cycle, &begin);
}
