/* What a detailed sample would say of an instruction, had there been one (interaction-cost paper
 * §5.4): inferred from the signature and the binary.
 *
 * Bit 2 says that something happened, but not what. That is taken from a sample of another
 * instruction, of the same kind and with the same two bits: the one whose neighbours' signatures
 * are most alike. Where code is executed for the first time and every other instruction misses the
 * cache, that one did as well. */
#pragma once

#include <stdbool.h>

#include "machine/machine.h"
#include "shotgun/code.h"
#include "shotgun/database.h"

enum insn_kind { KIND_BRANCH, KIND_LOAD, KIND_STORE, KIND_OTHER, KINDS };
enum { KIND_CLASSES = KINDS * 2 }; /* and bit 1 */

struct shotgun_inference {
    const struct shotgun_database *database;
    const struct shotgun_code *code;
    uint32_t *members;              /* samples with bit 2 of their own, by class */
    size_t first[KIND_CLASSES + 1]; /* of a class, in `members` */
    /* Cycles of an instruction miss, and of a data miss that the L2 served (near) or did not (far),
     * where there is no such sample: as the machine says. */
    uint16_t fetch_miss, near_miss, far_miss;
    uint8_t far_level; /* enum memory_level that serves what the L2 does not */
};
/* False: out of memory. */
bool shotgun_inference_new(struct shotgun_inference *inference,
                           const struct shotgun_database *database, const struct shotgun_code *code,
                           const struct machine *machine);
void shotgun_inference_free(struct shotgun_inference *inference);

/* What happened to the instruction. */
struct inferred_events {
    bool mispredicted;
    uint16_t fetch_cache, fetch_tlb; /* of its first µop */
    uint16_t walk, miss;             /* of its load; of its store if it has none */
    uint8_t level;                   /* likewise */
};
struct inferred_events shotgun_infer(const struct shotgun_inference *inference, uint32_t insn,
                                     uint64_t context, uint64_t there, uint64_t *random);
