/* What a calibration found of instruction forms, and the table that machine files refer to
 * (docs/forms-format.md). */
#pragma once

#include <stdio.h>

#include "host/meter.h"
#include "isa/form.h"
#include "machine/machine.h"

/* Cycles; NAN: not measured. */
struct calibrated_form {
    insn_form form;
    double
        latency; /* the longest from an operand to a result; of what writes flags alone, to them */
    double least_latency;  /* the shortest */
    double address;        /* from the address to the result, or to the flags */
    double flags;          /* from data to the flags, where there is a result, too */
    double throughput;     /* cycles per instruction */
    double spread;         /* the largest of what they rest on */
    uint32_t share;        /* of executed instructions, in millionths */
    enum host_state state; /* HOST_MEASURED: all that it has */
    char note[80];         /* why something is missing; may be empty */
};

struct form_table {
    struct calibrated_form *forms;
    size_t count;
    char refused[400]; /* forms that nothing is measured of: how many, and why */
};
void form_table_free(struct form_table *table);
/* Whether there is a form of which something was measured. */
bool form_table_says(const struct form_table *table);

/* Writes it; `processor` says what was measured, and is quoted in a comment. What was not measured
 * stays as `published` has it: ports, and forms of which nothing was. False: the stream failed. */
bool form_table_write(const struct form_table *table, const struct machine *published,
                      const char *processor, FILE *file);
