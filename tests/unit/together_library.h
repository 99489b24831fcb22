/* Hand-made threads that call routines of the C library, found by name in the one that is here. */
#pragma once

#include "together_script.h"

#include <dlfcn.h>
#include <pthread.h>

#include "program/program.h"

static Dl_info library; /* the C library */
static uint64_t routine_offset;

static inline bool find_routine(void *context, const struct program_function *function) {
    if (function->name && !strcmp(function->name, context))
        routine_offset = function->file_offset;
    return !routine_offset;
}

/* Makes it known where in its file a routine of the C library is. False: it has none of that name,
 * or none can be read. */
static inline bool find(const char *name) {
    char wanted[32];
    struct program *program = program_new_local();
    assert_non_null(program);
    routine_offset = 0;
    snprintf(wanted, sizeof wanted, "%s", name);
    if (dladdr((void *)(uintptr_t)pthread_create, &library) && library.dli_fname)
        program_each_function(program, program_add_image(program, library.dli_fname, NULL, 0),
                              find_routine, wanted);
    program_free(program);
    return routine_offset;
}

static inline void add_library(void) {
    struct item_image *image = &script_add(&script, ITEM_IMAGE)->image;
    *image = (struct item_image){.image = 1, .path = library.dli_fname, .kind = CODE_IMAGE_FILE};
    image->start = 0x100000;
    image->end = 0x900000;
    image->file_offset = routine_offset;
}

/* Code of the routine that was found, so far behind its beginning. */
static inline void add_routine(uint64_t address, uint64_t behind, uint32_t insns, const char *bytes,
                               uint32_t size) {
    script_block(&script, 0, address + behind, insns, bytes, size);
    script.items[script.count - 1].code.image = 1;
    script.items[script.count - 1].code.offset = routine_offset + behind;
}

/* 0x3000: call 0x110000, pthread_mutex_lock(): nop; lock xadd [rdi], eax; ret; 0x3005: nop; 0x3010:
 * call 0x120000, ..._unlock(), the same; 0x3015: nop; 0x4000: mov [rdi], eax; 0x4002: mov eax,
 * [rdi]. */
enum { BLOCK_LOCK = 2, BLOCK_LOCKS, BLOCK_LOCKED, BLOCK_UNLOCK, BLOCK_UNLOCKS, BLOCK_UNLOCKED };
enum {
    BLOCK_STORE = BLOCK_UNLOCKED + 1,
    BLOCK_LOAD,
    OUTER = 0x9000,
    INNER = 0xa000,
    MESSAGE = 0xb000
};

static inline bool add_lock_code(void) {
    static const char *const NAMES[] = {"pthread_mutex_lock", "pthread_mutex_unlock"};
    static const char *const CALLS[] = {"\xe8\xfb\xcf\x10\x00", "\xe8\xeb\xcf\x11\x00"};
    for (unsigned i = 0; i < 2; i++) {
        if (!find(NAMES[i]))
            return false;
        if (!i)
            add_library();
        script_block(&script, 0, 0x3000 + 0x10 * i, 1, CALLS[i], 5);
        add_routine(0x110000 + 0x10000 * i, 0, 3, "\x90\xf0\x0f\xc1\x07\xc3", 6);
        script_block(&script, 0, 0x3005 + 0x10 * i, 1, "\x90", 1);
    }
    script_block(&script, 0, 0x4000, 1, "\x89\x07", 2);
    script_block(&script, 0, 0x4002, 1, "\x8b\x07", 2);
    return true;
}

/* Calls a routine: its call, itself, and what comes behind are three blocks. */
static inline void add_call(uint32_t thread, uint32_t first, uint64_t lock) {
    uint64_t *next = events[chunks++];
    next[0] = event_block(first);
    next[1] = event_block(first + 1);
    next[2] = event_access(0, 2, 1, lock);
    next[3] = event_access(1, 2, 1, lock);
    next[4] = event_block(first + 2);
    script_data(&script, thread, next, 5);
}
