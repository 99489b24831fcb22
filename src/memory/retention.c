/* See retention.h. A line that is not kept stays among the tags until its place is taken, or it is
 * looked for: so it is known that it was here. */
#include "memory/retention.h"

#include "util/erlang.h"
#include "util/random.h"

#define NO_LINE UINT64_MAX

static void set_times(uint64_t times[RETENTION_TIMES], uint64_t half, unsigned shape) {
    const double median = shape ? erlang_quantile(shape, 0.5) : 1;
    for (unsigned i = 0; i < RETENTION_TIMES; i++) {
        const double left = 1 - (i + 0.5) / RETENTION_TIMES;
        times[i] = shape ? (uint64_t)((double)half * erlang_quantile(shape, left) / median) : half;
    }
}

void retention_start(struct retention *retention, const struct machine_cache *machine,
                     uint64_t *seen) {
    *retention = (struct retention){.seen = seen,
                                    .retention = machine->retention,
                                    .admission = machine->admission,
                                    .readmission = machine->readmission,
                                    .shared_ways = machine->shared_ways ? machine->ways : 0,
                                    .left = NO_LINE};
    set_times(retention->used_for, machine->retention, machine->retention_shape);
    set_times(retention->first_for,
              machine->first_retention ? machine->first_retention : machine->retention,
              machine->first_shape ? machine->first_shape : machine->retention_shape);
}

/* Of accesses in program order, and of those that are rebuilt, a later one may come first. */
static void see(struct retention *retention, size_t index, uint64_t cycle, uint64_t flags) {
    const uint64_t now = retention->begin + cycle, last = retention->seen[index] >> RETENTION_SHIFT;
    retention->seen[index] = (now > last ? now : last) << RETENTION_SHIFT | flags;
}

/* Cycles since a line was used. */
static uint64_t age(const struct retention *retention, uint64_t seen, uint64_t cycle) {
    const uint64_t now = retention->begin + cycle, last = seen >> RETENTION_SHIFT;
    return now > last ? now - last : 0;
}

/* Which of the times a line stays that is seen in a cycle. */
static uint64_t time_of(size_t index, uint64_t seen) {
    return random_mix(seen ^ index * RANDOM_STEP) % RETENTION_TIMES;
}

/* Whether a line with these flags is there so many cycles after it was seen. */
static bool stays(const struct retention *retention, uint64_t flags, uint64_t time,
                  uint64_t cycles) {
    const uint64_t *times = flags & RETENTION_USED ? retention->used_for : retention->first_for;
    return flags & RETENTION_KEPT && cycles <= times[time];
}

/* Lines of its set that are kept and were used after a line. */
static uint32_t used_later(const struct retention *retention, size_t index) {
    const uint64_t *set = &retention->seen[index - index % retention->shared_ways];
    const uint64_t last = retention->seen[index] >> RETENTION_SHIFT;
    uint32_t later = 0;
    for (uint32_t way = 0; way < retention->shared_ways; way++)
        later += set[way] & RETENTION_KEPT && set[way] >> RETENTION_SHIFT > last;
    return later;
}

/* Where W ways are shared, of which L have lines that were used later, a line that is a cycles old
 * is there as one of a W / (W - L) cycles would be. */
static bool is_there(const struct retention *retention, size_t index, uint64_t cycle) {
    const uint64_t seen = retention->seen[index], cycles = age(retention, seen, cycle);
    const uint64_t time = time_of(index, seen);
    const uint32_t ways = retention->shared_ways;
    if (!ways)
        return stays(retention, seen, time, cycles);
    return stays(retention, seen, time, cycles * ways / (ways - used_later(retention, index)));
}

bool retention_lost(struct retention *retention, size_t index, uint64_t line, uint64_t cycle) {
    if (is_there(retention, index, cycle))
        return false;
    retention->left = line;
    retention->left_seen = retention->seen[index];
    return true;
}

void retention_used(struct retention *retention, size_t index, uint64_t cycle) {
    if (retention->seen[index] & RETENTION_KEPT)
        see(retention, index, cycle, RETENTION_KEPT | RETENTION_USED);
}

bool retention_written(struct retention *retention, size_t index, uint64_t cycle) {
    if (!is_there(retention, index, cycle))
        return false;
    see(retention, index, cycle, retention->seen[index] & (RETENTION_KEPT | RETENTION_USED));
    return true;
}

static uint64_t draw(struct retention *retention, bool again) {
    const uint32_t share = again ? retention->readmission : retention->admission;
    return random_next(&retention->random) % 100 < share ? RETENTION_KEPT : 0;
}

bool retention_put(struct retention *retention, size_t index, uint64_t line, uint64_t cycle) {
    const bool again = line == retention->left &&
                       age(retention, retention->left_seen, cycle) <= retention->retention;
    const uint64_t flags = draw(retention, again);
    retention->seen[index] = (retention->begin + cycle) << RETENTION_SHIFT | flags;
    return flags & RETENTION_KEPT;
}

/* Of many accesses the last ones tell whether the line is there. */
enum { LAST_OF_MANY = 8 };

void retention_again(struct retention *retention, size_t index, uint64_t count, uint64_t apart,
                     uint64_t last) {
    uint64_t flags = retention->seen[index] & (RETENTION_KEPT | RETENTION_USED);
    for (uint64_t i = 0; i < count && i < LAST_OF_MANY; i++)
        flags = stays(retention, flags, time_of(index, last + i), apart)
                    ? RETENTION_KEPT | RETENTION_USED
                    : draw(retention, apart <= retention->retention);
    see(retention, index, last, flags);
}

void retention_restart(struct retention *retention, uint64_t after) {
    retention->begin += after;
}

void retention_copy(struct retention *retention, const struct retention *from) {
    retention->random = from->random;
    retention->begin = from->begin;
    retention->left = from->left;
    retention->left_seen = from->left_seen;
}
