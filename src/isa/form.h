/* Instruction forms: what distinguishes instructions of x86-64 whose timing may differ. A form is a
 * mnemonic with the kinds and widths of its operands, as in the tables of uops.info (Abel and
 * Reineke 2019): "add r64, r64", "vpaddd ymm, ymm, m256", "shl r32, cl", "lea r64,
 * [b+i*s+d]".
 *
 * In memory a form is one number, which hot code compares; files and reports have its text. Numbers
 * belong to one build (Zydis numbers the mnemonics), texts do not. Two encodings of the same
 * operation (VEX, EVEX; the short form for the accumulator) are one form.
 *
 * The words of operands:
 *   r8 r16 r32 r64   general registers     mm xmm ymm zmm k st tmm bnd sr cr dr   others
 *   i8 i16 i32 i64   immediates as encoded 1 cl   shifts by them
 *   m8 .. m512       memory; m: of a size that only the processor knows
 *   m16bcst m32bcst m64bcst   one element for all lanes (AVX-512)
 *   vmx vmy vmz      a vector of addresses, by the vector register that holds the indices
 *   rel              target of a direct branch
 *   [b+i*s+d]        address of lea, by its parts: base, index, index times 2, 4 or 8,
 * displacement; [d] also relative to the instruction
 * "{k}" and "{k}{z}" behind the first operand: a mask. Before the mnemonic: lock, rep, repne. */
#pragma once

#include "isa/insn.h"

typedef uint64_t insn_form;
#define FORM_NONE UINT64_C(0)

enum { FORM_TEXT_SIZE = 96, FORM_OPERANDS = 5 };

/* The form of the instruction at `bytes`, which insn_decode() also says (insn.form); FORM_NONE: not
 * x86-64, or no instruction. */
insn_form insn_form_of(enum isa isa, const uint8_t *bytes, size_t size);

/* Writes a form's text; always NUL-terminated, "" of what is no form. */
void form_text(insn_form form, char text[FORM_TEXT_SIZE]);

/* Reads a form at the beginning of `text` and sets *end to what follows it. Between its words is
 * any white space. FORM_NONE: there is none; *end then is the word that does not belong. */
insn_form form_parse(const char *text, const char **end);
