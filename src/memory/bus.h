/* A bus that moves one line at a time: the data bus of DRAM, or the way from a cache to the one
 * before it. It keeps exact time: a transfer takes whole + part / parts cycles, one in the other
 * direction perhaps more.
 *
 * Who uses it in the order of a program may ask for cycles earlier than before: the last transfers
 * are kept, and one that arrives earlier is put between them where there is room. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A line that crosses the bus, and is over at cycle end + part / parts. */
struct bus_transfer {
    uint64_t arrival, begin, end, part;
};
/* So many transfers are kept. One earlier than all of them finds the bus free: how busy it was then
 * is no longer known. */
enum { BUS_TRANSFERS = 128 };

/* What a transfer takes. */
struct bus_time {
    uint64_t whole, part; /* part < parts of its bus */
};
struct bus {
    uint64_t parts;        /* ≥ 1 */
    struct bus_time line;  /* one that is read */
    struct bus_time write; /* one that is written back; 0: it does not take this bus */
    /* The last ones, by time; the oldest kept stands for all before it. */
    struct bus_transfer transfers[BUS_TRANSFERS];
    uint32_t count;
};

/* A line takes cycles / over cycles, and one that is written back none; over > 0. Nothing is under
 * way. */
void bus_set(struct bus *bus, uint64_t cycles, uint64_t over);

/* Time begins anew. */
void bus_clear(struct bus *bus);

/* What a line takes on an idle bus, rounded up. */
static inline uint64_t bus_cycles(const struct bus_time *time) {
    return time->whole + (time->part > 0);
}

/* Moves one line, at cycle `earliest` or later, after all that arrived before it. Returns the cycle
 * at whose start the line has crossed; *begin is the whole cycle in which it began. */
uint64_t bus_transfer(struct bus *bus, const struct bus_time *time, uint64_t arrival,
                      uint64_t earliest, uint64_t *begin);

bool bus_consistent(const struct bus *bus);
