#include "query/data_object.h"

#include "query/function_walk.h"

/* How far a file is from where it was linked to be: by its first instruction. */
static bool find_bias(const struct code *code, struct program *program, uint32_t number,
                      uint32_t image, uint64_t *bias) {
    for (uint32_t i = 0; i < code->insn_count; i++) {
        uint64_t linked;
        if (code->insns[i].image != image)
            continue;
        if (!program_offset_to_address(program, number, code->insns[i].offset, &linked))
            return false;
        *bias = code->insns[i].address - linked;
        return true;
    }
    return false;
}

/* A little below what was pushed last there are arguments and locals, too. */
enum { STACK_SLACK = 4096 };

struct data_object data_object_at(const struct code *code, struct program *program,
                                  const uint32_t *images, const struct line_traffic_sum *sum,
                                  uint64_t address) {
    for (uint32_t i = 0; i < code->image_count; i++) {
        uint64_t bias;
        struct program_data data;
        if (code_image_is_file(code, i) && find_bias(code, program, images[i], i, &bias) &&
            program_locate_data(program, images[i], address - bias, &data))
            return (struct data_object){.kind = data.symbol ? DATA_SYMBOL : DATA_SECTION,
                                        .name = data.symbol ? data.symbol : data.section,
                                        .image = program_image_name(program, images[i]),
                                        .offset = data.offset,
                                        .size = data.size};
    }
    for (size_t i = 0; i < sum->stack_count; i++)
        if (sum->stacks[i].low <= sum->stacks[i].high &&
            address + STACK_SLACK >= sum->stacks[i].low &&
            address <= sum->stacks[i].high + STACK_SLACK)
            return (struct data_object){.kind = DATA_STACK, .thread = (uint32_t)i};
    return (struct data_object){.kind = DATA_MEMORY};
}
