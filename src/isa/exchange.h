/* Which instructions, of those that may be atomic, put a value in the place of another that they
 * take, or only if it is what they expect: locks and queues are made of these. Atomic additions and
 * the like are not. From machine code alone, for the emulator's plugin has no decoder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"

static inline bool insn_is_x86_prefix(uint8_t byte) {
    return byte == 0xf0 || byte == 0xf2 || byte == 0xf3 || byte == 0x66 || byte == 0x67 ||
           byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
           byte == 0x65 || (byte & 0xf0) == 0x40;
}

/* xchg, and cmpxchg of any size. */
static inline bool insn_exchanges_x86(const uint8_t *bytes, size_t size) {
    size_t i = 0;
    while (i < size && insn_is_x86_prefix(bytes[i]))
        i++;
    if (i + 1 >= size)
        return false;
    if ((bytes[i] & 0xfe) == 0x86)
        return true;
    return bytes[i] == 0x0f &&
           ((bytes[i + 1] & 0xfe) == 0xb0 ||
            (bytes[i + 1] == 0xc7 && i + 2 < size && (bytes[i + 2] >> 3 & 7) == 1));
}

/* sc, amoswap and amocas. */
static inline bool insn_exchanges_riscv(const uint8_t *bytes, size_t size) {
    const unsigned function = size >= 4 ? bytes[3] >> 3 : 0;
    return size >= 4 && (bytes[0] & 0x7f) == 0x2f &&
           (function == 0x01 || function == 0x03 || function == 0x05);
}

static inline bool insn_exchanges(enum isa isa, const uint8_t *bytes, size_t size) {
    return isa == ISA_X86_64 ? insn_exchanges_x86(bytes, size) : insn_exchanges_riscv(bytes, size);
}
