/* Instructions whose machine code is not known, only what they did: traces that others recorded
 * have registers and kinds of branches, and no bytes. A description is 16 bytes and stands where
 * machine code would; docs/trace-format.md has its layout. What is made of it is an instruction of
 * x86-64 in all other rooms: µops, text.
 *
 * What a description does not say is not made up: any work on registers is one integer operation
 * of one cycle, an access is its first byte. */
#pragma once

#include "isa/insn.h"

enum { DESCRIBED_BYTES = 16, DESCRIBED_SOURCES = 4, DESCRIBED_DESTINATIONS = 2 };

struct insn_description {
    uint8_t length;        /* bytes that it takes in memory, 1 to INSN_MAX_LENGTH */
    uint8_t branch;        /* enum branch_kind */
    bool repeats;          /* executes any number of elements, as with a prefix rep */
    uint8_t loads, stores; /* accesses of one execution, or element; each at most 15 */
    uint8_t destination[DESCRIBED_DESTINATIONS]; /* registers, as insn.h numbers those of x86-64; */
    uint8_t source[DESCRIBED_SOURCES];           /* REG_NONE: none. Addresses come before data */
    int32_t target;                              /* direct branches: target − address */
};

void insn_describe(const struct insn_description *description, uint8_t bytes[DESCRIBED_BYTES]);

/* False: it is no description, and no field is set. */
bool insn_decode_described(const uint8_t bytes[DESCRIBED_BYTES], struct insn *insn);

/* "(load) r0 <- r3", like insn_text(). */
size_t insn_described_text(const uint8_t bytes[DESCRIBED_BYTES], uint64_t address, char *text,
                           size_t text_size);
