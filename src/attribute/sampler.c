/* A period of level l + 1 is two of level l, and its sample is one of their two: the second, or as
 * one bit of a hash says. So the cycle of a sample is found by going down the levels, and nothing
 * is remembered. A period six levels up has 63 such choices beneath it, its own included, and one
 * hash serves them all. */
#include "attribute/sampler.h"

enum { GROUP_LEVELS = 6 };

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014) over all three. */
static uint64_t hash(uint64_t seed, uint64_t group, uint64_t number) {
    uint64_t x = seed + (number * 64 + group + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
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

/* The choices of the group of levels that `level` ≥ 1 is in, beneath the period of the group's top
 * level in which period `number` of `level` lies. */
static uint64_t choices(const struct sampler *sampler, unsigned level, uint64_t number) {
    unsigned group = (level - 1) / GROUP_LEVELS, up = (group + 1) * GROUP_LEVELS - level;
    return hash(sampler->options.seed, group + 1, (number - 1) >> up);
}

/* Among them, whether of the two periods of level − 1 that make up this one the second's sample is
 * taken: as in a heap, the top's bit is 1, the next level's are 2 and 3 ... */
static bool takes_second(uint64_t choices, unsigned level, uint64_t number) {
    unsigned up = (GROUP_LEVELS - level % GROUP_LEVELS) % GROUP_LEVELS;
    return choices >> ((1u << up) + ((number - 1) & ((1u << up) - 1))) & 1;
}

uint64_t sampler_cycle(const struct sampler *sampler, uint64_t number) {
    if (number == 0)
        return 0;
    uint64_t period = first_period(sampler);
    if (sampler->options.mode == SAMPLER_PERIODIC)
        return number * (period << sampler->level);
    uint64_t beneath = 0;
    for (unsigned level = sampler->level; level > 0; level--) {
        if (level == sampler->level || level % GROUP_LEVELS == 0)
            beneath = choices(sampler, level, number);
        number = 2 * number - !takes_second(beneath, level, number);
    }
    if (period == 1)
        return number;
    unsigned __int128 scaled = (unsigned __int128)hash(sampler->options.seed, 0, number) * period;
    return (number - 1) * period + 1 + (uint64_t)(scaled >> 64);
}

/* Of the period that the cycle lies in. */
static uint64_t number_of(const struct sampler *sampler, uint64_t cycle) {
    if (cycle == 0)
        return 0;
    uint64_t first = first_period(sampler); /* mostly 1 where this is called often */
    return ((first == 1 ? cycle - 1 : (cycle - 1) / first) >> sampler->level) + 1;
}

uint64_t sampler_weight(const struct sampler *sampler, uint64_t cycle) {
    return cycle - sampler_cycle(sampler, number_of(sampler, cycle) - 1);
}

bool sampler_keeps(const struct sampler *sampler, uint64_t cycle) {
    uint64_t number = number_of(sampler, cycle);
    bool second = number % 2 == 0;
    if (sampler->options.mode == SAMPLER_PERIODIC)
        return second;
    unsigned level = sampler->level + 1;
    uint64_t parent = (number + 1) / 2;
    return second == takes_second(choices(sampler, level, parent), level, parent);
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
