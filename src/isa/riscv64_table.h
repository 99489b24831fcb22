/* The RV64GC instruction set as a table: one row per 32-bit instruction, and the expansion of
 * compressed instructions to those. Inside of this room. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which fields an instruction has; tells its registers and how it is written. */
enum riscv64_format {
    FORMAT_NONE,       /* ecall */
    FORMAT_R,          /* rd, rs1, rs2 */
    FORMAT_I,          /* rd, rs1, immediate */
    FORMAT_SHIFT,      /* rd, rs1, shift amount */
    FORMAT_LOAD,       /* rd, immediate(rs1) */
    FORMAT_STORE,      /* rs2, immediate(rs1) */
    FORMAT_BRANCH,     /* rs1, rs2, target */
    FORMAT_U,          /* rd, upper immediate */
    FORMAT_JAL,        /* rd, target */
    FORMAT_JALR,       /* rd, immediate(rs1) */
    FORMAT_FENCE,      /* predecessor, successor */
    FORMAT_CSR,        /* rd, csr, rs1 */
    FORMAT_CSR_IMM,    /* rd, csr, immediate */
    FORMAT_LR,         /* rd, (rs1) */
    FORMAT_AMO,        /* rd, rs2, (rs1): also sc */
    FORMAT_FP_LOAD,    /* fd, immediate(rs1) */
    FORMAT_FP_STORE,   /* fs2, immediate(rs1) */
    FORMAT_FP2,        /* fd, fs1, fs2 */
    FORMAT_FP2_ROUND,  /* fd, fs1, fs2, rounding mode */
    FORMAT_FP3_ROUND,  /* fd, fs1, fs2, fs3, rounding mode */
    FORMAT_FP1_ROUND,  /* fd, fs1, rounding mode */
    FORMAT_FP_COMPARE, /* rd, fs1, fs2 */
    FORMAT_FP_TO_INT,  /* rd, fs1 */
    FORMAT_FP_TO_INT_ROUND,
    FORMAT_INT_TO_FP, /* fd, rs1 */
    FORMAT_INT_TO_FP_ROUND,
    FORMAT_SFENCE /* rs1, rs2 */
};

struct riscv64_row {
    uint32_t mask, match; /* an instruction is this row's when (word & mask) == match */
    char name[12];
    uint8_t format;    /* enum riscv64_format */
    uint8_t operation; /* enum operation */
};

/* One instruction: its 32-bit form (expanded if it was compressed) and its row. */
struct riscv64_word {
    const struct riscv64_row *row;
    uint32_t word;
    uint8_t length; /* 2 or 4 bytes as encoded */
};

/* False: not RV64GC, or truncated. */
bool riscv64_read(const uint8_t *bytes, size_t size, struct riscv64_word *out);

/* The 32-bit form of a compressed instruction; 0 if it is none. */
uint32_t riscv64_expand(uint16_t compressed);

enum {
    RISCV64_FFLAGS = 1,
    RISCV64_FRM = 2,
    RISCV64_FCSR = 3,
    RISCV64_ROUND_DYNAMIC = 7,
    RISCV64_PAUSE = 0x0100000f,
    RISCV64_UNIMP = 0xc0001073 /* csrrw x0, cycle, x0: what c.unimp stands for too */
};

static inline unsigned riscv64_rd(uint32_t word) {
    return word >> 7 & 31;
}
static inline unsigned riscv64_rs1(uint32_t word) {
    return word >> 15 & 31;
}
static inline unsigned riscv64_rs2(uint32_t word) {
    return word >> 20 & 31;
}
static inline unsigned riscv64_rs3(uint32_t word) {
    return word >> 27;
}
static inline unsigned riscv64_funct3(uint32_t word) {
    return word >> 12 & 7;
}
static inline unsigned riscv64_csr(uint32_t word) {
    return word >> 20;
}
static inline int32_t riscv64_imm_i(uint32_t word) {
    return (int32_t)word >> 20;
}
static inline int32_t riscv64_imm_s(uint32_t word) {
    return ((int32_t)word >> 25) * 32 + (int32_t)riscv64_rd(word);
}
static inline int32_t riscv64_imm_b(uint32_t word) {
    return ((int32_t)word >> 31) * 4096 +
           (int32_t)((word >> 7 & 1) << 11 | (word >> 25 & 63) << 5 | (word >> 8 & 15) << 1);
}
static inline int32_t riscv64_imm_j(uint32_t word) {
    return ((int32_t)word >> 31) * 1048576 +
           (int32_t)((word >> 12 & 255) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 1023) << 1);
}
