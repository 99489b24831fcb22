/* Calls the function of the ISA. */
#include "isa/expression.h"

#include "isa/isa_internal.h"

struct expression insn_expression(enum isa isa, const uint8_t *bytes, size_t size,
                                  uint64_t address) {
    struct expression expression = {.kind = EXPRESSION_NONE,
                                    .to = REG_NONE,
                                    .base = REG_NONE,
                                    .index = REG_NONE,
                                    .right = REG_NONE,
                                    .width = 8};
    if (isa == ISA_X86_64)
        x86_64_expression(bytes, size, address, &expression);
    else if (isa == ISA_RISCV64)
        riscv64_expression(bytes, size, address, &expression);
    return expression;
}
