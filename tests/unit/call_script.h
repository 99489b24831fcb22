/* The instructions of one guest thread written by hand, for shadow stacks: functions of 0x100
 * bytes, each called by a letter, and instructions of 4 bytes at places in them.
 *
 *     plain(&script, at('m', 0));
 *     call(&script, at('m', 4), 0xff8);      its return address lies at 0xff8
 *     back(&script, at('f', 0), 0xff8);      a return that takes it from there */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribute/shadow_stack.h"

enum {
    SCRIPT_INSNS = 512,
    FUNCTION_BYTES = 0x100,
    NAMELESS = 'z',
    UNNAMED = 'q',
    LINKAGE = 'p',
    LOOP = 'l',
    ALLOCATING = 'a',
    RESOLVER = 'r'
};

struct call_script {
    struct static_insn insns[SCRIPT_INSNS];
    struct code_image images[2];
    struct code code;
    struct dynamic_insn steps[SCRIPT_INSNS];
    struct memory_access accesses[SCRIPT_INSNS];
    struct trace_python python[SCRIPT_INSNS];
    uint32_t step_count, access_count, python_count;
};

static inline uint64_t at(char function, unsigned offset) {
    return (uint64_t)function * FUNCTION_BYTES + offset;
}

/* Of 'z' nothing is known, of 'q' only where it is, 'p' is of the linkage table, 'r' the dynamic
 * linker's resolver, 'l' Python's loop, 'a' an allocating routine. */
static inline bool script_locate(void *context, const struct code_image *image, uint64_t offset,
                                 struct path_extent *extent) {
    (void)context, (void)image;
    const uint64_t function = offset / FUNCTION_BYTES;
    *extent = (struct path_extent){.start = function * FUNCTION_BYTES,
                                   .size = FUNCTION_BYTES,
                                   .named = function != UNNAMED,
                                   .linkage = function == LINKAGE,
                                   .loop = function == LOOP,
                                   .resolver = function == RESOLVER,
                                   .allocates = function == ALLOCATING};
    return function != NAMELESS;
}

static inline void script_begin(struct call_script *script, enum isa isa) {
    memset(script, 0, sizeof *script);
    script->code = (struct code){
        .isa = isa, .insns = script->insns, .images = script->images, .image_count = 1};
}

static inline uint32_t script_insn(struct call_script *script, uint64_t offset,
                                   enum branch_kind branch, uint16_t flags) {
    uint32_t number = 0;
    while (number < script->code.insn_count && script->insns[number].offset != offset)
        number++;
    assert_true(number < SCRIPT_INSNS);
    if (number == script->code.insn_count)
        script->insns[script->code.insn_count++] = (struct static_insn){.address = offset,
                                                                        .offset = offset,
                                                                        .target = UINT32_MAX,
                                                                        .length = 4,
                                                                        .branch = branch,
                                                                        .flags = flags};
    return number;
}

/* One instruction; `address` not 0: it accesses memory there. */
static inline void step(struct call_script *script, uint64_t offset, enum branch_kind branch,
                        uint16_t flags, uint64_t address) {
    assert_true(script->step_count < SCRIPT_INSNS);
    script->steps[script->step_count++] =
        (struct dynamic_insn){.insn = script_insn(script, offset, branch, 0),
                              .memory = script->access_count,
                              .memory_count = address != 0,
                              .flags = flags};
    if (address)
        script->accesses[script->access_count++] = (struct memory_access){
            .address = address, .size_bytes = 8, .is_store = branch != BRANCH_RETURN};
}

static inline void plain(struct call_script *script, uint64_t offset) {
    step(script, offset, BRANCH_NONE, 0, 0);
}
static inline void call(struct call_script *script, uint64_t offset, uint64_t slot) {
    step(script, offset, BRANCH_CALL, DYN_TAKEN, slot);
}
static inline void back(struct call_script *script, uint64_t offset, uint64_t slot) {
    step(script, offset, BRANCH_RETURN, DYN_TAKEN, slot);
}
static inline void jump(struct call_script *script, uint64_t offset) {
    step(script, offset, BRANCH_JUMP, DYN_TAKEN, 0);
}
static inline void jump_indirect(struct call_script *script, uint64_t offset) {
    step(script, offset, BRANCH_INDIRECT, DYN_TAKEN, 0);
}
/* From the next instruction on Python runs a line of a function, in a frame of this depth. */
static inline void runs(struct call_script *script, uint16_t depth, uint32_t function,
                        uint32_t line, bool begins) {
    script->python[script->python_count++] =
        (struct trace_python){script->step_count, function, line, depth, begins, true};
}
/* Likewise, of a frame further out. */
static inline void runs_outside(struct call_script *script, uint16_t depth, uint32_t function,
                                uint32_t line, bool begins) {
    runs(script, depth, function, line, begins);
    script->python[script->python_count - 1].innermost = false;
}
/* After it a signal's handler runs, or what it interrupted. */
static inline void interrupted(struct call_script *script, uint64_t offset) {
    step(script, offset, BRANCH_NONE, DYN_SIGNAL, 0);
}
static inline void back_from_handler(struct call_script *script, uint64_t offset) {
    step(script, offset, BRANCH_NONE, DYN_SYSCALL | DYN_SIGNAL, 0);
    script->insns[script->steps[script->step_count - 1].insn].flags = INSN_SYSCALL;
}

static inline struct trace_batch script_piece(const struct call_script *script, uint32_t first,
                                              uint32_t count) {
    return (struct trace_batch){.insns = script->steps + first,
                                .insn_count = count,
                                .accesses = script->accesses,
                                .access_count = script->access_count,
                                .python = script->python,
                                .python_count = script->python_count,
                                .first_insn = first};
}
