/* How many lines are accessed between two accesses to one line, as is expected from reuse times,
 * the events from one access to a line to the next: StatStack (Eklov and Hagersten 2010). The line
 * of an access in between counts unless it is accessed again in between; so each counts as the
 * share of reuse times that are longer than what is left. From a sample of reuse times it follows
 * beyond which one a cache with LRU replacement has let a line go. */
#pragma once

#include <stdint.h>

enum { STACK_DISTANCE_BUCKETS = 256, STACK_DISTANCE_EVERY = 64 };
#define STACK_DISTANCE_NONE UINT64_MAX

struct stack_distance {
    uint64_t limit;  /* lines whose reuse time is longer have left the cache; NONE: none has */
    uint64_t lines;  /* that the cache holds */
    uint64_t random; /* state of the generator */
    uint32_t left;   /* accesses to the next one that is sampled */
    uint32_t since;  /* samples since the limit was found */
    double taken;    /* samples, of which those in no bucket are of lines not accessed before */
    double times[STACK_DISTANCE_BUCKETS]; /* by their logarithms */
    double events;                        /* that the samples stand for */
    uint64_t last;                        /* time of the last one */
};
void stack_distance_begin(struct stack_distance *distance, uint64_t lines);

/* An access in event `now`; its reuse time, or NONE. */
void stack_distance_sample(struct stack_distance *distance, uint64_t now, uint64_t reuse);

/* Events are counted from 0 again. */
void stack_distance_restart(struct stack_distance *distance);
