/* A period of level l + 1 is two of level l, and its sample is one of their two samples: the
 * second, or the one that a bit of a hash of (seed, level, number) chooses. So the cycle of a
 * sample is found by going down the levels, and nothing has to be stored. */
#include "attribute/sampler.h"

#include "util/random.h"

static uint64_t hash(uint64_t seed, uint64_t level, uint64_t number) {
    return random_mix(seed + (number * 64 + level + 1) * RANDOM_STEP);
}

struct sampler sampler_start(const struct sampler_options *options) {
    return (struct sampler){.options = *options};
}

static uint64_t first_period(const struct sampler *sampler) {
    return sampler->options.period ? sampler->options.period : 1;
}

uint64_t sampler_period(const struct sampler *sampler) {
    return first_period(sampler) << sampler->level;
}

/* Whether period `number` of `level` takes the sample of the second of its two periods of level −
 * 1. */
static bool takes_second(const struct sampler *sampler, unsigned level, uint64_t number) {
    return sampler->options.mode == SAMPLER_PERIODIC ||
           hash(sampler->options.seed, level, number) & 1;
}

uint64_t sampler_cycle(const struct sampler *sampler, uint64_t number) {
    if (number == 0)
        return 0;
    uint64_t period = first_period(sampler);
    if (sampler->options.mode == SAMPLER_PERIODIC)
        return number * (period << sampler->level);
    for (unsigned level = sampler->level; level > 0; level--)
        number = 2 * number - !takes_second(sampler, level, number);
    if (period == 1)
        return number;
    unsigned __int128 scaled = (unsigned __int128)hash(sampler->options.seed, 0, number) * period;
    return (number - 1) * period + 1 + (uint64_t)(scaled >> 64);
}

static uint64_t number_of(const struct sampler *sampler, uint64_t cycle) {
    return cycle ? (cycle - 1) / sampler_period(sampler) + 1 : 0;
}

uint64_t sampler_weight(const struct sampler *sampler, uint64_t cycle) {
    return cycle - sampler_cycle(sampler, number_of(sampler, cycle) - 1);
}

bool sampler_keeps(const struct sampler *sampler, uint64_t cycle) {
    uint64_t number = number_of(sampler, cycle);
    bool second = number % 2 == 0;
    return second == takes_second(sampler, sampler->level + 1, (number + 1) / 2);
}

void sampler_seek(const struct sampler *sampler, struct sample_cursor *cursor, uint64_t cycle) {
    cursor->number = number_of(sampler, cycle);
    if (cursor->number == 0 || sampler_cycle(sampler, cursor->number) <= cycle)
        cursor->number++;
    cursor->next = sampler_cycle(sampler, cursor->number);
    cursor->previous = sampler_cycle(sampler, cursor->number - 1);
}

uint64_t sampler_take(const struct sampler *sampler, struct sample_cursor *cursor, uint64_t end,
                      uint64_t *count) {
    uint64_t before = cursor->previous, first = cursor->number;
    if (cursor->next > end)
        return 0;
    if (sampler_period(sampler) == 1)
        *cursor = (struct sample_cursor){end + 1, end + 1, end};
    while (cursor->next <= end)
        sampler_step(sampler, cursor);
    *count += cursor->number - first;
    return cursor->previous - before;
}
