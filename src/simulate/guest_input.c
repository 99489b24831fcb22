#include "simulate/guest_input.h"

#include "simulate/selection.h"

bool guest_input_open(struct guest_input *input, const char *path, struct trace *read,
                      uint32_t thread, struct error *error) {
    *input = (struct guest_input){.trace = trace_open_beside(path, read, error)};
    if (!input->trace)
        return false;
    trace_alone(input->trace, thread);
    return true;
}

void guest_input_close(struct guest_input *input) {
    if (input->trace)
        trace_close(input->trace);
    *input = (struct guest_input){.trace = NULL};
}

static uint32_t place_in(const struct trace_batch *batch, uint64_t position) {
    const uint64_t place = position - batch->first_insn;
    return place < batch->insn_count ? (uint32_t)place : batch->insn_count;
}

/* Instructions of the batch up to and with that of its next event. */
static uint32_t until_event(const struct guest_input *input) {
    const struct trace_batch *batch = &input->batch;
    return input->events_taken < batch->event_count
               ? place_in(batch, batch->events[input->events_taken].position)
               : batch->insn_count;
}

/* Instructions of the batch before that of its next order. */
static uint32_t until_order(const struct guest_input *input) {
    const struct trace_batch *batch = &input->batch;
    return input->orders_taken < batch->order_count
               ? place_in(batch, batch->orders[input->orders_taken].reader)
               : batch->insn_count;
}

enum guest_step guest_input_next(struct guest_input *input, uint32_t most, struct guest_next *next,
                                 struct error *error) {
    for (;;) {
        struct trace_batch *batch = &input->batch;
        const uint32_t event = until_event(input), order = until_order(input);
        const uint32_t stop = event < order ? event : order;
        if (input->taken < stop) {
            const uint32_t end = stop - input->taken > most ? input->taken + most : stop;
            next->piece = batch_slice(batch, input->taken, end);
            input->taken = end;
            return GUEST_INSNS;
        }
        if (input->events_taken < batch->event_count && event == stop) {
            next->event = &batch->events[input->events_taken++];
            return GUEST_EVENT;
        }
        if (input->taken < batch->insn_count) {
            next->order = &batch->orders[input->orders_taken++];
            return GUEST_ORDER;
        }
        if (input->over)
            return GUEST_END;
        const int status = trace_next(input->trace, batch, error);
        if (status < 0)
            return GUEST_FAILED;
        if (status == 0)
            *batch = (struct trace_batch){.thread_ended = true};
        input->taken = input->events_taken = input->orders_taken = 0;
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

uint64_t guest_input_position(const struct guest_input *input) {
    return input->batch.first_insn + input->taken;
}

uint32_t guest_input_ahead(const struct guest_input *input, uint64_t *address) {
    const struct trace_batch *batch = &input->batch;
    const struct dynamic_insn *insn = &batch->insns[input->taken];
    const uint32_t access = insn->memory - (uint32_t)batch->first_access;
    *address = insn->memory_count ? batch->accesses[access].address : 0;
    return insn->insn;
}
