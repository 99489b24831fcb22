/* Assemblers pad with no-ops, linkers with int3 or zeros. */
#include "analyze/padding.h"

#include <string.h>

enum { INT3 = 0xcc };

/* Two zero bytes are an addition on x86-64 that no compiler makes, and no instruction on
 * riscv64. */
static size_t dead_size(enum isa isa, const uint8_t *bytes, size_t size) {
    size_t zeros = 0;
    if (isa == ISA_X86_64 && size > 0 && bytes[0] == INT3)
        return 1;
    while (zeros < size && zeros < 2 && bytes[zeros] == 0)
        zeros++;
    return zeros == 2 || zeros == size ? zeros : 0;
}

bool padding_is_dead(enum isa isa, const uint8_t *bytes, size_t size) {
    return dead_size(isa, bytes, size) > 0;
}

/* endbr64 does nothing as well, but stands where code begins. */
static bool is_endbr64(enum isa isa, const uint8_t *bytes, size_t size) {
    static const uint8_t ENDBR64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    return isa == ISA_X86_64 && size >= sizeof ENDBR64 && !memcmp(bytes, ENDBR64, sizeof ENDBR64);
}

size_t padding_size(enum isa isa, const uint8_t *bytes, size_t size) {
    size_t at = 0;
    struct insn insn;
    while (at < size) {
        size_t dead = dead_size(isa, bytes + at, size - at);
        if (dead > 0) {
            at += dead;
            continue;
        }
        if (is_endbr64(isa, bytes + at, size - at) ||
            !insn_decode(isa, bytes + at, size - at, &insn) || !(insn.flags & INSN_NOP))
            break;
        at += insn.length;
    }
    return at;
}
