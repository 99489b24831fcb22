/* From the registers and the stack of a thread to the places of its callers, by the unwind tables
 * (program/unwind_table.h) of what its process has mapped. Tables are made when they are first
 * needed, while some process has the file mapped, and kept for all processes. */
#pragma once

#include "live/address_map.h"
#include "live/proc_files.h"
#include "live/sample_probe.h"
#include "program/unwind_step.h"

/* Frames of one stack, callers after what they called. */
struct live_stack {
    struct live_frame frames[LIVE_FRAMES_MAX];
    /* Of the sampled frame, then of each of `frames`: where its part of the stack ends, which is
     * where that of the next begins; 0: not known, or it has none. */
    uint64_t tops[LIVE_FRAMES_MAX + 1];
    size_t count;
    enum live_stack_end end;
};

struct unwinder;

/* NULL: out of memory. */
struct unwinder *unwinder_new(const struct live_roots *roots);
void unwinder_free(struct unwinder *unwinder);

/* A file that some process has mapped now. False: out of memory. */
bool unwinder_announce(struct unwinder *unwinder, const struct live_file *file);

/* Appends the callers of the frame that the registers are of, whose own place is not appended.
 * `returned`: rip is a return address, else that of the instruction itself. The kernel made the
 * frames of signal handlers: those are passed over, and the interrupted place follows the handler.
 * False: out of memory. */
bool unwinder_walk(struct unwinder *unwinder, const struct address_map *map,
                   const struct unwind_registers *registers, bool returned,
                   const struct unwind_memory *memory, struct live_stack *stack);

/* From now on tables are shared with the program that walks stacks at the moment of the sample. */
void unwinder_share(struct unwinder *unwinder, struct sample_probe *probe);
/* Shares that of what is mapped here, which the kernel knows as `file`. False: out of memory. */
bool unwinder_tell(struct unwinder *unwinder, const struct address_range *range,
                   const struct walk_file *file);

size_t unwinder_bytes(const struct unwinder *unwinder);
