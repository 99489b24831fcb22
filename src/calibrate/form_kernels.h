/* Inside of the calibrate room: the kernels by which a form's latencies and throughput are
 * measured.
 *
 * Latency is that of a chain: each instruction needs what the one before made. Where the result is
 * of another kind than the operand, partners convert it: instructions whose latency is known. That
 * of a move between the register files is taken to be half of a move there and back. Throughput is
 * that of copies which need nothing of each other (Abel and Reineke 2019). What they load lies in
 * different banks of one line, and each of them stores to a line of its own. */
#pragma once

#include "calibrate/calibration.h"
#include "calibrate/form_code.h"

enum probe_kind {
    PROBE_TRANSFER,   /* a general register to a vector register and back: no form's */
    PROBE_DATA,       /* operand to operand; a hidden register counts as one */
    PROBE_ADDRESS,    /* address to the result */
    PROBE_FLAGS,      /* operand to the flags */
    PROBE_THROUGHPUT, /* copies as they are */
    PROBE_FREED /* copies, each behind an instruction that breaks its dependence on the others */
};

struct form_probe {
    uint32_t form;     /* its number in the caller's list */
    uint8_t kind;      /* enum probe_kind */
    uint8_t from, to;  /* operands; PROBE_HIDDEN: a hidden register, or flags */
    uint8_t partners;  /* cycles of them, in each link of the chain */
    uint8_t transfers; /* moves between the register files in it */
    uint16_t copies;   /* instructions of the form in one iteration */
    size_t kernel;     /* in the list of kernels */
};
enum { PROBE_HIDDEN = 15 };

struct form_probes {
    struct form_probe *items;
    size_t count, capacity;
    bool out_of_memory;
};

/* The move there and back, which the others rest on. */
void form_kernels_transfer(struct kernel_list *kernels, struct form_probes *probes);
/* All kernels of a form. */
void form_kernels_add(struct kernel_list *kernels, struct form_probes *probes, uint32_t number,
                      insn_form form, const struct form_uses *uses);

/* Cycles of one link without its partners, or of one copy; `transfer` as measured, in one
 * direction. */
double form_probe_cycles(const struct form_probe *probe, double cycles, double transfer);
