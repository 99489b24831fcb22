/* Marks that divide a run; also in C++ (experiments/lib/estimates.cpp). */
#pragma once

/* Where an experiment may divide the run (experiments/lib/slices.py): a jump that is executed when
 * the condition holds, once in 0.1 ms or so. Only with -DDIVIDED. */
#ifdef DIVIDED
#define DIVIDE_IF(condition)                                                                       \
    do {                                                                                           \
        if (condition)                                                                             \
            __asm__ volatile("jmp 1f\n1:");                                                        \
    } while (0)
#else
#define DIVIDE_IF(condition) ((void)0)
#endif
