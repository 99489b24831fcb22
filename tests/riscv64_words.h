/* Words of riscv64 machine code, for procedures made by hand. Registers by number: ra 1, sp 2, t0
 * 5, s0 8, a0 10 ... Displacements of branches in bytes from the branch. */
#pragma once

#include <stdint.h>

enum { RA = 1, SP = 2, T0 = 5, T1, T2, S0, S1, A0, A1, A2, A3, A4, A5, A6, A7, S2, T3 = 28 };

static inline uint32_t word_i(uint32_t opcode, uint32_t funct3, uint32_t rd, uint32_t rs1,
                              int32_t imm) {
    return (uint32_t)imm << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
static inline uint32_t word_r(uint32_t funct7, uint32_t funct3, uint32_t rd, uint32_t rs1,
                              uint32_t rs2) {
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33;
}
static inline uint32_t word_b(uint32_t funct3, uint32_t rs1, uint32_t rs2, int32_t to) {
    uint32_t imm = (uint32_t)to;
    return (imm >> 12 & 1) << 31 | (imm >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 |
           (imm >> 1 & 15) << 8 | (imm >> 11 & 1) << 7 | 0x63;
}

static inline uint32_t ld(uint32_t rd, int32_t imm, uint32_t rs1) {
    return word_i(0x03, 3, rd, rs1, imm);
}
static inline uint32_t sd(uint32_t rs2, int32_t imm, uint32_t rs1) {
    return ((uint32_t)imm >> 5 & 127) << 25 | rs2 << 20 | rs1 << 15 | 3 << 12 |
           ((uint32_t)imm & 31) << 7 | 0x23;
}
static inline uint32_t addi(uint32_t rd, uint32_t rs1, int32_t imm) {
    return word_i(0x13, 0, rd, rs1, imm);
}
static inline uint32_t add(uint32_t rd, uint32_t rs1, uint32_t rs2) {
    return word_r(0, 0, rd, rs1, rs2);
}
static inline uint32_t sltu(uint32_t rd, uint32_t rs1, uint32_t rs2) {
    return word_r(0, 3, rd, rs1, rs2);
}
static inline uint32_t divide(uint32_t rd, uint32_t rs1, uint32_t rs2) {
    return word_r(1, 4, rd, rs1, rs2);
}
static inline uint32_t beqz(uint32_t rs1, int32_t to) {
    return word_b(0, rs1, 0, to);
}
static inline uint32_t bnez(uint32_t rs1, int32_t to) {
    return word_b(1, rs1, 0, to);
}
static inline uint32_t jal(uint32_t rd, int32_t to) {
    uint32_t imm = (uint32_t)to;
    return (imm >> 20 & 1) << 31 | (imm >> 1 & 1023) << 21 | (imm >> 11 & 1) << 20 |
           (imm >> 12 & 255) << 12 | rd << 7 | 0x6f;
}
static inline uint32_t jump(int32_t to) {
    return jal(0, to);
}
static inline uint32_t call(int32_t to) {
    return jal(RA, to);
}
static inline uint32_t jr(uint32_t rs1) {
    return word_i(0x67, 0, 0, rs1, 0);
}
#define NOP     UINT32_C(0x00000013)
#define RET     UINT32_C(0x00008067)
#define ECALL   UINT32_C(0x00000073)
#define FENCE   UINT32_C(0x0ff0000f)
#define FRFLAGS UINT32_C(0x00102573) /* a0 */
