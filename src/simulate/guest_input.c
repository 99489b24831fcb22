#include "simulate/guest_input.h"

#include "simulate/selection.h"

bool guest_input_open(struct guest_input *input, const char *path, uint32_t thread,
                      struct error *error) {
    *input = (struct guest_input){.trace = trace_open(path, error)};
    if (!input->trace)
        return false;
    trace_fix_numbers(input->trace);
    trace_alone(input->trace, thread);
    return true;
}

void guest_input_close(struct guest_input *input) {
    if (input->trace)
        trace_close(input->trace);
    *input = (struct guest_input){.trace = NULL};
}

/* Instructions of the batch up to and with that of its next event. */
static uint32_t until_event(const struct guest_input *input) {
    const struct trace_batch *batch = &input->batch;
    if (input->events_taken == batch->event_count)
        return batch->insn_count;
    const uint64_t place = batch->events[input->events_taken].position - batch->first_insn;
    return place < batch->insn_count ? (uint32_t)place : batch->insn_count;
}

enum guest_step guest_input_next(struct guest_input *input, uint32_t most,
                                 struct trace_batch *piece, const struct thread_event **event,
                                 struct error *error) {
    for (;;) {
        struct trace_batch *batch = &input->batch;
        const uint32_t stop = until_event(input);
        if (input->taken < stop) {
            const uint32_t end = stop - input->taken > most ? input->taken + most : stop;
            *piece = batch_slice(batch, input->taken, end);
            input->taken = end;
            return GUEST_INSNS;
        }
        if (input->events_taken < batch->event_count) {
            *event = &batch->events[input->events_taken++];
            return GUEST_EVENT;
        }
        if (input->over)
            return GUEST_END;
        const int status = trace_next(input->trace, batch, error);
        if (status < 0)
            return GUEST_FAILED;
        if (status == 0)
            *batch = (struct trace_batch){.thread_ended = true};
        input->taken = input->events_taken = 0;
        input->over = batch->thread_ended;
    }
}

void guest_input_give_back(struct guest_input *input, uint32_t count) {
    input->taken -= count;
}

uint32_t guest_input_image(const struct guest_input *input) {
    return input->taken
               ? trace_code(input->trace)->insns[input->batch.insns[input->taken - 1].insn].image
               : UINT32_MAX;
}
