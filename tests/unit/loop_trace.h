/* A trace file of two threads that take turns, chunk by chunk, in a loop of four instructions, of
 * which the first loads. */
#pragma once

#include "trace_script.h"

#include <unistd.h>

#include "temporary.h"

enum {
    LOOP_INSNS = 4,
    LOOP_ITERATIONS = 1000, /* of a chunk */
    LOOP_MOST_CHUNKS = 20
};

/* What an iteration loads from. */
typedef uint64_t loop_address(unsigned thread, unsigned chunk, unsigned iteration);

/* 0x1000: mov eax,[rdi]; add rdi,4; dec ecx; jnz 0x1000
 * 0x1000: lw a0,0(a0); addi a1,a1,1; addi a1,a1,1; bnez a1,0x1000 */
static inline void loop_code(struct script *script, enum isa isa) {
    if (isa == ISA_X86_64)
        script_block(script, 0, 0x1000, LOOP_INSNS, "\x8b\x07\x48\x83\xc7\x04\xff\xc9\x75\xf6", 10);
    else
        script_block(script, 0, 0x1000, LOOP_INSNS,
                     "\x03\x25\x05\x00\x93\x85\x15\x00\x93\x85\x15\x00\xe3\x9a\x05\xfe", 16);
}

/* Each thread executes `chunks` chunks. The path is made of the test's name; the file is the
 * caller's to remove. */
static inline void write_loop_trace(char path[TEMPORARY_BYTES], const char *test, enum isa isa,
                                    unsigned chunks, loop_address *address) {
    static struct script script;
    static uint64_t events[LOOP_MOST_CHUNKS][2][2 * LOOP_ITERATIONS];
    struct error error = {0};
    struct trace_batch batch;
    assert_true(chunks <= LOOP_MOST_CHUNKS);
    script_begin(&script, isa);
    loop_code(&script, isa);
    for (unsigned chunk = 0; chunk < chunks; chunk++)
        for (unsigned thread = 0; thread < 2; thread++) {
            uint64_t *event = events[chunk][thread];
            for (unsigned i = 0; i < LOOP_ITERATIONS; i++) {
                event[2 * i] = event_block(0);
                event[2 * i + 1] = event_access(0, 2, 0, address(thread, chunk, i));
            }
            script_data(&script, thread, event, 2 * LOOP_ITERATIONS);
        }
    for (unsigned thread = 0; thread < 2; thread++)
        script_thread_end(&script, thread);
    close(mkstemp(temporary_name(path, test)));
    struct trace *trace = script_open(&script);
    assert_true(trace_keep(trace, path, &error));
    while (trace_next(trace, &batch, &error) > 0)
        continue;
    assert_true(trace_keep_end(trace, &error));
    trace_close(trace);
}
