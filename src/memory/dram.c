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
    dram->transfer_count = 0;
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

/* Makes room for a transfer among those by arrival. Returns its index. */
static uint32_t transfer_index(struct dram *dram, uint64_t arrival) {
    struct dram_transfer *transfers = dram->transfers;
    uint32_t index = dram->transfer_count;
    while (index > 0 && transfers[index - 1].arrival > arrival)
        index--;
    if (dram->transfer_count == DRAM_TRANSFERS) {
        const uint32_t dropped = DRAM_TRANSFERS / 2;
        memmove(transfers, transfers + dropped, (DRAM_TRANSFERS - dropped) * sizeof *transfers);
        dram->transfer_count -= dropped;
        index = index > dropped ? index - dropped : 0;
    }
    memmove(transfers + index + 1, transfers + index,
            (dram->transfer_count - index) * sizeof *transfers);
    dram->transfer_count++;
    return index;
}

/* Puts the transfer on the bus at cycle `earliest` or later, after the one before it. Those that
 * arrived later have their time already, and are not moved. Returns the cycle in which it
 * begins. */
static uint64_t put_on_bus(struct dram *dram, uint32_t index, uint64_t earliest) {
    struct dram_transfer *transfer = &dram->transfers[index];
    const uint32_t behind = dram->transfer_count - index - 1;
    uint64_t begin = earliest, part = 0;
    if (index > 0 && transfer[-1].end >= begin) {
        begin = transfer[-1].end;
        part = transfer[-1].part;
    }
    for (uint32_t i = 1; i <= behind; i++)
        if (begin < transfer[i].end && transfer[i].begin < begin + dram->transfer_whole) {
            begin = transfer[i].end;
            part = transfer[i].part;
        }
    transfer->begin = begin;
    transfer->end = begin + dram->transfer_whole;
    transfer->part = part + dram->transfer_part;
    if (transfer->part >= dram->bus_parts) {
        transfer->part -= dram->bus_parts;
        transfer->end++;
    }
    return begin;
}

/* Moves one line over the bus, at cycle `earliest` or later, after all that arrived before it.
 * Returns the cycle at whose start the line has crossed; *begin is the whole cycle in which it
 * began. */
static uint64_t transfer(struct dram *dram, uint64_t arrival, uint64_t earliest, uint64_t *begin) {
    const uint32_t index = transfer_index(dram, arrival);
    const struct dram_transfer *placed = &dram->transfers[index];
    dram->transfers[index].arrival = arrival;
    if (index > 0 && placed[-1].arrival > arrival)
        dram->transfers[index].arrival = placed[-1].arrival;
    *begin = put_on_bus(dram, index, earliest);
    return placed->end + (placed->part > 0);
}

static uint64_t transfer_cycles(const struct dram *dram) {
    return dram->transfer_whole + (dram->transfer_part > 0);
}

/* Fixed latency includes the transfer over an idle bus. */
static uint64_t read_fixed(struct dram *dram, uint64_t cycle) {
    const uint64_t inside = transfer_cycles(dram);
    const uint64_t before = dram->latency > inside ? dram->latency - inside : 0;
    uint64_t begin;
    const uint64_t end = transfer(dram, cycle, cycle + before, &begin);
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
                              dram->transfer_whole;
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
    const uint64_t end = transfer(dram, cycle, data, &begin);
    if (known)
        keep_service(bank, index,
                     (struct dram_service){.arrival = cycle,
                                           .start = start,
                                           .free = start + dram->to_column[met] + (begin - data) +
                                                   dram->transfer_whole,
                                           .open_row_plus_one = row + 1});
    holds_take(&dram->slots, start, end, dram->now);
    return end + dram->latency;
}

void dram_write(struct dram *dram, uint64_t cycle) {
    dram->writes++;
    uint64_t begin;
    transfer(dram, cycle, cycle, &begin);
}

bool dram_consistent(const struct dram *dram) {
    return dram->transfer_count <= DRAM_TRANSFERS &&
           all_where(i, dram->transfer_count,
                     dram->transfers[i].part < dram->bus_parts &&
                         (!i || dram->transfers[i].arrival >= dram->transfers[i - 1].arrival));
}
