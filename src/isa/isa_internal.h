/* Inside of this room: the decoder and printer of each ISA, and how they fill register lists. */
#pragma once

#include "isa/expression.h"
#include "isa/insn.h"
#include "util/array.h"

/* Each is insn_decode or insn_text for one ISA. Decoders receive a zeroed insn and may leave it in
 * any state when they fail. Text writers return 0 for bytes that do not decode. */
bool x86_64_decode(const uint8_t *bytes, size_t size, struct insn *insn);
bool riscv64_decode(const uint8_t *bytes, size_t size, struct insn *insn);
/* enum stack_use of an instruction, of which all else is known. */
unsigned x86_64_stack_use(const uint8_t *bytes, size_t size, const struct insn *insn);
size_t x86_64_text(const uint8_t *bytes, size_t size, uint64_t address, char *text,
                   size_t text_size);
size_t riscv64_text(const uint8_t *bytes, size_t size, uint64_t address, char *text,
                    size_t text_size);

/* Each is insn_expression() for one ISA; they get an expression that is NONE and names no
 * register. */
void x86_64_expression(const uint8_t *bytes, size_t size, uint64_t address,
                       struct expression *expression);
void riscv64_expression(const uint8_t *bytes, size_t size, uint64_t address,
                        struct expression *expression);

static inline bool register_list_has(const uint8_t *list, unsigned count, uint8_t reg) {
    return any_where(i, count, list[i] == reg);
}

/* Append unless there already, REG_NONE, or the list is full: the few instructions that name more
 * registers (encodekey, 4fmaps) lose the last ones. */
static inline void insn_add_source(struct insn *insn, uint8_t reg) {
    if (reg != REG_NONE && insn->source_count < INSN_MAX_SOURCES &&
        !register_list_has(insn->source, insn->source_count, reg))
        insn->source[insn->source_count++] = reg;
}

static inline void insn_add_destination(struct insn *insn, uint8_t reg) {
    if (reg != REG_NONE && insn->destination_count < INSN_MAX_DESTINATIONS &&
        !register_list_has(insn->destination, insn->destination_count, reg))
        insn->destination[insn->destination_count++] = reg;
}

/* True when reg forms the address of a memory operand. */
static inline bool insn_addresses_by(const struct insn *insn, uint8_t reg) {
    return any_where(i, insn->memory_count,
                     insn->memory[i].base == reg || insn->memory[i].index == reg);
}

/* Appends the registers that form addresses, after all data sources have been added. */
void insn_add_address_sources(struct insn *insn);
