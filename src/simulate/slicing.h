/* Slices of the threads of a simulated run, with what each took: so that a choice of some of them
 * can be judged against all (regions --sweep, validate) without simulating again.
 *
 * A slice ends at an exact position in its thread (instructions executed, those that faulted not
 * counted). There the pipeline runs empty, so that every cycle, miss and instruction belongs to one
 * slice: their sums are the run's. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "attribute/attribute.h"
#include "core/core.h"
#include "region/slices.h"

/* The position in its thread where a slice ends. */
struct slice_end {
    uint32_t thread;
    uint64_t position;
};

struct slicing {
    uint64_t size;                /* slices end at its multiples; 0: */
    const struct slice_end *ends; /* here, by thread and position */
    size_t end_count;
};

/* The first end beyond `position` of the thread; UINT64_MAX: with the thread. */
uint64_t slicing_next(const struct slicing *slicing, uint32_t thread, uint64_t position);

/* Puts ends in order and drops those that are there twice; returns how many are left. */
size_t slice_ends_sort(struct slice_end *ends, size_t count);

/* Cycles by performance signature, in parts: none of the events, each alone, several. */
enum { PART_BASE, PART_COMBINED = 1 + PSV_BITS, PART_COUNT };
const char *part_name(unsigned part); /* "base", "dr_l1" ... "combined" */
void parts_of(const uint64_t units[PSV_COMBINATIONS], uint64_t parts[PART_COUNT]);

struct slice_record {
    uint32_t process, thread;
    uint64_t first, instructions;   /* of the thread: [first, first + instructions) */
    uint64_t cycles;                /* = counted.cycles */
    uint64_t states[STATE_COUNT];   /* cycles; they sum to `cycles` */
    uint64_t parts[PART_COUNT];     /* units; they sum to cycles × CYCLE_UNITS */
    struct core_statistics counted; /* misses and all else */
};

/* ---- file: comma-separated values, a line per slice below one with their names ---- */

/* Columns: process, thread, first, instructions, cycles; the commit states, in cycles; units_ and
 * each part; branch_misses, l1i_misses and so on. Does not check for errors of the file. */
void slice_records_write(const struct slice_record *records, size_t count, FILE *file);
