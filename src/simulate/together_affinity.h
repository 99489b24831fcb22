/* Which cores threads are kept on, where that is not left to the scheduler (together.h). */
#pragma once

#include <stdint.h>

enum { AFFINITY_MOST = 64, AFFINITY_ANY = -1 };

struct together_affinity {
    struct affinity_group {
        uint32_t first, last; /* threads, by number */
        uint32_t core;
    } groups[AFFINITY_MOST]; /* of several with a thread the first counts */
    uint32_t group_count;
    /* All others: thread n on the n-th of these, behind the last again on the first. */
    uint32_t in_turn[AFFINITY_MOST], in_turn_count; /* 0: on any core */
};

/* The core of a thread; AFFINITY_ANY. `affinity` NULL: any. */
int affinity_core(const struct together_affinity *affinity, uint32_t thread);
/* The highest core that it names. */
uint32_t affinity_highest(const struct together_affinity *affinity);
