/* Inside of the exchange room: what the writers of compilers' profiles are given, by addresses. */
#pragma once

#include "exchange/compiler_profile.h"

struct counted_insn {
    uint64_t address, times;
    uint8_t length; /* bytes */
};

#define COUNTED_ELSEWHERE UINT64_MAX /* an address in another file */

struct counted_edge {
    uint64_t from, to; /* of instructions; not both are elsewhere */
    uint64_t times;
    enum edge_kind kind;
    uint8_t branch; /* as of struct executed */
};

struct compiler_input {
    const struct compiler_profile *profile;
    struct counted_insn *insns; /* by address, each executed */
    size_t insn_count;
    struct counted_edge *edges; /* by `from` */
    size_t edge_count;
    uint64_t functions; /* that the writer tells of */
};

/* Executions of the instructions that begin in [start, end). */
struct counted_times {
    uint64_t most; /* of one of them */
    uint64_t all;
};
struct counted_times compiler_input_times(const struct compiler_input *input, uint64_t start,
                                          uint64_t end);

static inline bool branch_is_call(uint8_t branch) {
    return branch == BRANCH_CALL || branch == BRANCH_INDIRECT_CALL;
}

bool autofdo_write(struct compiler_input *input, struct error *error);
bool bolt_write(struct compiler_input *input, struct error *error);
bool ranges_write(struct compiler_input *input, struct error *error);
