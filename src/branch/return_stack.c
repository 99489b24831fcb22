/* Return stack: a ring without a count, as in hardware. `top` is the newest address. */
#include "branch/predictors.h"

#include <stdlib.h>
#include <string.h>

bool return_stack_init(struct return_stack *stack, uint32_t size) {
    stack->addresses = calloc(size, sizeof *stack->addresses);
    stack->size = size;
    stack->top = 0;
    return stack->addresses != NULL;
}

void return_stack_push(struct return_stack *stack, uint64_t address) {
    stack->top = stack->top + 1 == stack->size ? 0 : stack->top + 1;
    stack->addresses[stack->top] = address;
}

uint64_t return_stack_pop(struct return_stack *stack) {
    uint64_t address = stack->addresses[stack->top];
    stack->top = (stack->top ? stack->top : stack->size) - 1;
    return address;
}

void return_stack_copy(struct return_stack *stack, const struct return_stack *from) {
    memcpy(stack->addresses, from->addresses, from->size * sizeof *stack->addresses);
    stack->top = from->top;
}
