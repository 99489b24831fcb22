/* Machines give times in DRAM clocks and bytes per second. They become core cycles once, here, in
 * integers: clocks and bandwidths are rounded to whole kHz and kB/s. */
#include "memory/dram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

/* GHz or GB/s as whole kHz or kB/s; 0 when out of range. */
static uint64_t to_kilo(double giga) {
    return giga >= 1e-6 && giga <= 1e6 ? (uint64_t)llround(giga * 1e6) : 0;
}

static uint64_t divide_up(uint64_t value, uint64_t by) {
    return (value + by - 1) / by;
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
    if (!dram->banks || !holds_new(&dram->slots, m->queue))
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
    if (m->bandwidth != 0) {
        const uint64_t core_khz = to_kilo(machine->clock_ghz), bus = to_kilo(m->bandwidth);
        if (!core_khz || !bus)
            return error_set(error, "clock_ghz = %g, dram.bandwidth = %g: must be positive",
                             machine->clock_ghz, m->bandwidth);
        bus_set(&dram->bus, line_bytes * core_khz, bus);
    } else {
        bus_set(&dram->bus, 0, 1);
    }
    return !m->banked || dram_new_banks(dram, machine, error);
}

/* The row that a bank has open after its last request. */
static uint64_t row_of(const struct dram_bank *bank) {
    return bank->count ? bank->services[bank->count - 1].open_row_plus_one : 0;
}

static void open_row(struct dram_bank *bank, uint64_t open_row_plus_one) {
    bank->services[0] = (struct dram_service){.open_row_plus_one = open_row_plus_one};
    bank->count = 1;
}

void dram_restart(struct dram *dram) {
    for (uint32_t bank = 0; bank < dram->bank_count; bank++)
        open_row(&dram->banks[bank], row_of(&dram->banks[bank]));
    holds_clear(&dram->slots);
    bus_clear(&dram->bus);
    dram->now = 0;
}

void dram_copy(struct dram *dram, const struct dram *from) {
    for (uint32_t bank = 0; bank < dram->bank_count; bank++)
        open_row(&dram->banks[bank], row_of(&from->banks[bank]));
}

void dram_free(struct dram *dram) {
    free(dram->banks);
    holds_free(&dram->slots);
}

/* Fixed latency includes the transfer over an idle bus. */
static uint64_t read_fixed(struct dram *dram, uint64_t cycle) {
    const uint64_t inside = bus_cycles(&dram->bus.line);
    const uint64_t before = dram->latency > inside ? dram->latency - inside : 0;
    uint64_t begin;
    const uint64_t end = bus_transfer(&dram->bus, &dram->bus.line, cycle, cycle + before, &begin);
    return end > cycle + dram->latency ? end : cycle + dram->latency;
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static enum dram_row row_case(const struct dram_service *before, uint64_t row) {
    if (before->open_row_plus_one == 0)
        return ROW_CLOSED;
    return before->open_row_plus_one == row + 1 ? ROW_HIT : ROW_CONFLICT;
}

/* Where a request for a row, which has a slot of the queue from this cycle on, comes among the
 * requests of its bank: after those that arrived before it, and finished before those that have
 * their time already. */
static uint32_t service_index(const struct dram *dram, const struct dram_bank *bank,
                              uint64_t arrival, uint64_t slot, uint64_t row) {
    uint32_t index = bank->count;
    while (index > 1 && bank->services[index - 1].arrival > arrival)
        index--;
    for (; index < bank->count; index++) {
        const struct dram_service *before = &bank->services[index - 1];
        const uint64_t done = later(slot, before->free) + dram->to_column[row_case(before, row)] +
                              dram->bus.line.whole;
        if (done <= bank->services[index].start)
            break;
    }
    return index;
}

static void keep_service(struct dram_bank *bank, uint32_t index, struct dram_service service) {
    if (bank->count == DRAM_SERVICES) { /* the oldest is dropped; the next takes its index */
        memmove(bank->services, bank->services + 1, (bank->count - 1) * sizeof service);
        bank->count--;
        index -= index > 1;
    }
    memmove(bank->services + index + 1, bank->services + index,
            (bank->count - index) * sizeof service);
    bank->services[index] = service;
    bank->count++;
}

uint64_t dram_read(struct dram *dram, uint64_t cycle, uint64_t address) {
    dram->reads++;
    if (!dram->banked)
        return read_fixed(dram, cycle);

    const uint64_t row_number = address / dram->row_bytes;
    const uint64_t row = row_number / dram->bank_count;
    struct dram_bank *bank = &dram->banks[row_number % dram->bank_count];
    if (bank->count == 0)
        open_row(bank, 0);
    const bool known = bank->services[0].arrival <= cycle;
    const uint64_t slot = holds_first_free(&dram->slots, cycle);
    const uint32_t index = service_index(dram, bank, cycle, slot, row);
    const struct dram_service *before = &bank->services[index - 1];
    const uint64_t start = known ? later(slot, before->free) : slot;
    const enum dram_row met = row_case(before, row);
    dram->row_hits += met == ROW_HIT;

    const uint64_t data = start + dram->to_data[met];
    uint64_t begin;
    const uint64_t end = bus_transfer(&dram->bus, &dram->bus.line, cycle, data, &begin);
    if (known)
        keep_service(bank, index,
                     (struct dram_service){.arrival = cycle,
                                           .start = start,
                                           .free = start + dram->to_column[met] + (begin - data) +
                                                   dram->bus.line.whole,
                                           .open_row_plus_one = row + 1});
    holds_take(&dram->slots, start, end, dram->now);
    return end + dram->latency;
}

void dram_write(struct dram *dram, uint64_t cycle) {
    dram->writes++;
    uint64_t begin;
    bus_transfer(&dram->bus, &dram->bus.line, cycle, cycle, &begin);
}

bool dram_consistent(const struct dram *dram) {
    return bus_consistent(&dram->bus);
}
