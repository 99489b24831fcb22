/* Where the memory of a command begins: its stack, its heap, its program and its libraries.
 *
 * None of these places means anything to a program, and yet they decide which lines share a set of
 * a cache and which branches share an entry of a predictor: cycles differ from one environment
 * variable, or one user's name, to the next (Mytkowicz et al. 2009). Layouts are numbered. Layout 0
 * is that of every run that is the same everywhere (capture_options, `fixed`); each other one moves
 * all four, by amounts that follow from its number alone and that any first few layouts spread
 * evenly over their ranges. */
#pragma once

#include <stdint.h>

struct memory_layout {
    uint32_t stack_bytes; /* the stack begins so much lower, as below an environment that is larger
                             by so much: a multiple of 16, less than a page */
    uint32_t heap_bytes;  /* brk() so much higher: a multiple of 16 */
    uint32_t program_pages; /* a program that can be moved so much higher */
    uint32_t library_pages; /* what it maps later so much higher still, as libraries */
};

enum { MEMORY_LAYOUT_PAGE = 4096, MEMORY_LAYOUT_PAGES = 512 };

struct memory_layout memory_layout(uint32_t number);
