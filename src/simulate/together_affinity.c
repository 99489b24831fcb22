#include "simulate/together_affinity.h"

#include <stddef.h>

int affinity_core(const struct together_affinity *affinity, uint32_t thread) {
    if (!affinity)
        return AFFINITY_ANY;
    for (uint32_t i = 0; i < affinity->group_count; i++)
        if (thread >= affinity->groups[i].first && thread <= affinity->groups[i].last)
            return (int)affinity->groups[i].core;
    return affinity->in_turn_count ? (int)affinity->in_turn[thread % affinity->in_turn_count]
                                   : AFFINITY_ANY;
}

uint32_t affinity_highest(const struct together_affinity *affinity) {
    uint32_t highest = 0;
    for (uint32_t i = 0; i < affinity->group_count; i++)
        highest = affinity->groups[i].core > highest ? affinity->groups[i].core : highest;
    for (uint32_t i = 0; i < affinity->in_turn_count; i++)
        highest = affinity->in_turn[i] > highest ? affinity->in_turn[i] : highest;
    return highest;
}
