/* Inside of the host room: where a kernel lies in the process that runs it.
 *
 *     HOST_CODE_AT   its code, with the call around it; a guard behind it
 *     HOST_STACK_AT  its stack, between guards
 *     HOST_DATA_AT   its data; a guard behind them
 *
 *     its shared pages, wherever they are
 *
 * What is not used up to HOST_END_AT is reserved and cannot be touched. */
#pragma once

#include "host/kernel.h"

struct place {
    void *context; /* of the call (host_wrap()), anywhere */
    const struct host_data *data;
    size_t data_bytes, code_bytes; /* mapped */
    int shared;                    /* the memory of shared pages; a descriptor */
    const uint64_t *pages;         /* mapped */
    size_t page_count;
};

/* False: something else lies there. */
bool place_init(struct place *place);
/* Puts the kernel in place of the last one; the data stay if they are the same. False: memory is
 * out, or the code cannot be made. */
bool place_kernel(struct place *place, const struct host_kernel *kernel,
                  void (**run)(uint64_t iterations));
