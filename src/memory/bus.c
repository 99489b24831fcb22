#include "memory/bus.h"

#include <string.h>

#include "util/array.h"
#include "util/divisor.h"

void bus_set(struct bus *bus, uint64_t cycles, uint64_t over) {
    bus->parts = over / greatest_common_divisor(cycles, over);
    bus->line = (struct bus_time){cycles / over, cycles % over / (over / bus->parts)};
    bus->write = (struct bus_time){0};
    bus->count = 0;
}

void bus_clear(struct bus *bus) {
    bus->count = 0;
}

/* The oldest are dropped to make room. */
static void make_room(struct bus *bus) {
    if (bus->count < BUS_TRANSFERS)
        return;
    const uint32_t dropped = BUS_TRANSFERS / 2;
    bus->count -= dropped;
    memmove(bus->transfers, bus->transfers + dropped, bus->count * sizeof *bus->transfers);
}

/* The transfer, were it to begin at a cycle when the bus is free, or as soon as `before` is over.
 */
static struct bus_transfer after(const struct bus *bus, const struct bus_time *time,
                                 const struct bus_transfer *before, uint64_t cycle) {
    const bool at_once = before && before->end >= cycle;
    struct bus_transfer transfer = {.begin = at_once ? before->end : cycle};
    transfer.end = transfer.begin + time->whole;
    transfer.part = (at_once ? before->part : 0) + time->part;
    if (transfer.part >= bus->parts) {
        transfer.part -= bus->parts;
        transfer.end++;
    }
    return transfer;
}

static uint64_t over(const struct bus_transfer *transfer) {
    return transfer->end + (transfer->part > 0);
}

/* The first gap behind all that arrived before, and not before `earliest`. Those that have their
 * time already are not moved. */
uint64_t bus_transfer(struct bus *bus, const struct bus_time *time, uint64_t arrival,
                      uint64_t earliest, uint64_t *begin) {
    make_room(bus);
    struct bus_transfer *transfers = bus->transfers;
    uint32_t index = bus->count;
    while (index > 0 && transfers[index - 1].arrival > arrival &&
           over(&transfers[index - 1]) > earliest)
        index--;
    struct bus_transfer placed = after(bus, time, index ? &transfers[index - 1] : NULL, earliest);
    while (index < bus->count && transfers[index].begin < over(&placed)) {
        placed = after(bus, time, &transfers[index], earliest);
        index++;
    }
    placed.arrival = arrival;
    memmove(transfers + index + 1, transfers + index, (bus->count - index) * sizeof *transfers);
    transfers[index] = placed;
    bus->count++;
    *begin = placed.begin;
    return over(&placed);
}

bool bus_consistent(const struct bus *bus) {
    return bus->count <= BUS_TRANSFERS &&
           all_where(i, bus->count,
                     bus->transfers[i].part < bus->parts &&
                         (!i || bus->transfers[i].begin >= bus->transfers[i - 1].end));
}
