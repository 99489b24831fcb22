/* A procedure as the analyses take it: its machine code, what lies around it, and what was sampled
 * of it. Everything is the caller's and outlives the analysis. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/stall_causes.h"
#include "isa/insn.h"

struct procedure_code {
    enum isa isa;
    const uint8_t *bytes; /* as the file has them; relocations are not applied */
    size_t size;
    uint64_t address; /* of the first byte, as linked */

    /* Reads what the image has at an address, for tables of jumps. False: the image does not have
     * all of it, or it is only known when the program runs. NULL: nothing else can be read. */
    bool (*read)(void *context, uint64_t address, void *bytes, size_t size);
    /* The name of the function that begins there ("abort@plt"); NULL: none does, or it has none.
     * The member may be NULL. */
    const char *(*name)(void *context, uint64_t address);
    void *context;
};

/* Events besides cycles that bound how much a cause can explain (DCPI §6.3): those of enum
 * stall_event before this. */
enum { PROCEDURE_EVENTS = EVENT_TAKEN };

/* Samples by byte offset in the procedure. Those at offsets where no instruction begins are
 * lost. */
struct procedure_samples {
    const double *cycles; /* samples × period that stood at the head of the issue queue (in order),
                             or that commit waited for (out of order); `size` of them */
    double period;        /* mean cycles between samples; 1: every cycle was counted */
    /* Times that the event happened (samples × its period), at the instruction whose fetch or
     * access missed, or at the branch; NULL: it was not sampled. */
    const double *events[PROCEDURE_EVENTS];
};
