#include "analyze/access_insn.h"

#include <stdlib.h>

#include "analyze/access_state.h"
#include "analyze/cfg.h"

static uint8_t stored_register(const struct insn *insn) {
    struct uop uops[INSN_MAX_UOPS];
    uint8_t stored = REG_NONE;
    const int count = insn_crack(insn, uops);
    for (int i = 0; i < count; i++)
        if (uops[i].operation == OP_STORE && uops[i].data < ACCESS_REGISTERS)
            stored = uops[i].data;
    return stored;
}

static void decode(const struct procedure_code *code, const struct cfg_insn *insn,
                   struct access_insn *decoded) {
    const enum isa isa = (enum isa)insn->insn.isa;
    const uint8_t *bytes = code->bytes + insn->offset;
    const size_t size = code->size - insn->offset;
    const uint64_t address = code->address + insn->offset;
    decoded->by = insn_expression(isa, bytes, size, address);
    decoded->has_access = insn_access_address(isa, bytes, size, address, &decoded->access);
    decoded->has_product = insn_product(isa, bytes, size, &decoded->product);
    decoded->has_move =
        !decoded->has_product && insn_conditional_move(isa, bytes, size, &decoded->move);
    decoded->stored = decoded->has_access && decoded->access.is_store ? stored_register(&insn->insn)
                                                                      : (uint8_t)REG_NONE;
}

struct access_insn *access_insns_decode(const struct cfg *cfg) {
    struct access_insn *insns = calloc((size_t)cfg->insn_count + 1, sizeof *insns);
    for (uint32_t i = 0; insns && i < cfg->insn_count; i++)
        decode(cfg->code, &cfg->insns[i], &insns[i]);
    return insns;
}
