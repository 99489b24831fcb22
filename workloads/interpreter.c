/* interpreter [ITERATIONS]: a bytecode interpreter, one indirect jump per operation.
 *
 * A stack machine with computed gotos runs a program whose sequence of operations depends on a
 * random number: a BTB that remembers one target per jump is nearly always wrong, one that looks at
 * history is often right. Time belongs to the jumps' mispredictions (FL-MB). */
#include "workload.h"

enum code { PUSH, ADD, MULTIPLY, XOR, SHIFT, RANDOM, SKIP_ODD, STORE, LOAD, LOOP, HALT };

/* Each operation is followed by one operand. */
static const int32_t PROGRAM[] = {
    RANDOM,   0, STORE, 0, LOAD, 0, SKIP_ODD, 2, PUSH,     7, ADD,  0, LOAD,     1,
    ADD,      0, STORE, 1, LOAD, 0, SHIFT,    3, SKIP_ODD, 3, LOAD, 1, MULTIPLY, 0,
    STORE,    1, LOAD,  1, LOAD, 0, XOR,      0, STORE,    1, LOAD, 0, SHIFT,    7,
    SKIP_ODD, 1, SHIFT, 1, LOAD, 1, ADD,      0, STORE,    1, LOOP, 0, HALT,     0,
};

kernel uint64_t interpret(const int32_t *program, uint64_t iterations) {
    static const void *const labels[] = {&&push, &&add,   &&multiply, &&xor,  &&shift, &&random,
                                         &&skip, &&store, &&load,     &&loop, &&halt};
    uint64_t stack[16] = {0}, variables[2] = {0, 1}, seed = 1442695040888963407;
    unsigned top = 0;
    const int32_t *at = program;
    /* Values live at stack[1 .. top]; underflow and overflow stay inside the array. */
#define NEXT                                                                                       \
    do {                                                                                           \
        const void *label = labels[at[0]];                                                         \
        at += 2;                                                                                   \
        goto *label;                                                                               \
    } while (0)
#define OPERAND at[-1]
    NEXT;
push:
    top = (top + 1) & 15;
    stack[top] = (uint64_t)OPERAND;
    NEXT;
add:
    stack[(top - 1) & 15] += stack[top];
    top = (top - 1) & 15;
    NEXT;
multiply:
    stack[top] = stack[top] * 6364136223846793005 + 1;
    NEXT;
    xor : stack[(top - 1) & 15] ^= stack[top];
    top = (top - 1) & 15;
    NEXT;
shift:
    stack[top] >>= OPERAND;
    NEXT;
random:
    top = (top + 1) & 15;
    stack[top] = random_next(&seed) >> 20;
    NEXT;
skip: /* pops; odd: skips the next operations */
    if (stack[top] & 1)
        at += 2 * OPERAND;
    top = (top - 1) & 15;
    NEXT;
store:
    variables[OPERAND] = stack[top];
    top = (top - 1) & 15;
    NEXT;
load:
    top = (top + 1) & 15;
    stack[top] = variables[OPERAND];
    NEXT;
loop:
    if (--iterations)
        at = program;
    DIVIDE_IF(iterations % 2048 == 0);
    NEXT;
halt:
    return variables[1] ^ stack[top];
#undef NEXT
#undef OPERAND
}

int main(int count, char **arguments) {
    uint64_t iterations = argument(count, arguments, 1, 700000, "iterations");
    printf("interpreter %" PRIu64 "\n", interpret(PROGRAM, iterations));
    return 0;
}
