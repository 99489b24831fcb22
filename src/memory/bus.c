#include "memory/bus.h"

#include <string.h>

#include "util/array.h"

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void bus_set(struct bus *bus, uint64_t cycles, uint64_t over) {
    bus->parts = over / greatest_common_divisor(cycles, over);
    bus->line = (struct bus_time){cycles / over, cycles % over / (over / bus->parts)};
    bus->write = (struct bus_time){0};
    bus->count = 0;
}

void bus_clear(struct bus *bus) {
    bus->count = 0;
}

/* Makes room for a transfer among those by arrival. Returns its index. */
static uint32_t transfer_index(struct bus *bus, uint64_t arrival) {
    struct bus_transfer *transfers = bus->transfers;
    uint32_t index = bus->count;
    while (index > 0 && transfers[index - 1].arrival > arrival)
        index--;
    if (bus->count == BUS_TRANSFERS) {
        const uint32_t dropped = BUS_TRANSFERS / 2;
        memmove(transfers, transfers + dropped, (BUS_TRANSFERS - dropped) * sizeof *transfers);
        bus->count -= dropped;
        index = index > dropped ? index - dropped : 0;
    }
    memmove(transfers + index + 1, transfers + index, (bus->count - index) * sizeof *transfers);
    bus->count++;
    return index;
}

/* Puts the transfer on the bus at cycle `earliest` or later, after the one before it. Those that
 * arrived later have their time already, and are not moved. Returns the cycle in which it
 * begins. */
static uint64_t put(struct bus *bus, const struct bus_time *time, uint32_t index,
                    uint64_t earliest) {
    struct bus_transfer *transfer = &bus->transfers[index];
    const uint32_t behind = bus->count - index - 1;
    uint64_t begin = earliest, part = 0;
    if (index > 0 && transfer[-1].end >= begin) {
        begin = transfer[-1].end;
        part = transfer[-1].part;
    }
    for (uint32_t i = 1; i <= behind; i++)
        if (begin < transfer[i].end && transfer[i].begin < begin + time->whole) {
            begin = transfer[i].end;
            part = transfer[i].part;
        }
    transfer->begin = begin;
    transfer->end = begin + time->whole;
    transfer->part = part + time->part;
    if (transfer->part >= bus->parts) {
        transfer->part -= bus->parts;
        transfer->end++;
    }
    return begin;
}

uint64_t bus_transfer(struct bus *bus, const struct bus_time *time, uint64_t arrival,
                      uint64_t earliest, uint64_t *begin) {
    const uint32_t index = transfer_index(bus, arrival);
    const struct bus_transfer *placed = &bus->transfers[index];
    bus->transfers[index].arrival = arrival;
    if (index > 0 && placed[-1].arrival > arrival)
        bus->transfers[index].arrival = placed[-1].arrival;
    *begin = put(bus, time, index, earliest);
    return placed->end + (placed->part > 0);
}

bool bus_consistent(const struct bus *bus) {
    return bus->count <= BUS_TRANSFERS &&
           all_where(i, bus->count,
                     bus->transfers[i].part < bus->parts &&
                         (!i || bus->transfers[i].arrival >= bus->transfers[i - 1].arrival));
}
