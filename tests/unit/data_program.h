/* Hand-made programs for tests of the hybrid model: a list of loads, stores and operations on
 * numbered registers, each of one µop, with the addresses they access. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "model/data_trace.h"
#include "model/hybrid.h"
#include "trace/dynamic.h"

enum { NO = REG_NONE, PROGRAM_MAX = 8192, PROGRAM_EVENTS = 65536 };

/* One instruction: `operation` writes `to` from `from` and `also`; a load reads its address from
 * `from`, a store from `from` and its data from `also`. */
struct line {
    enum operation operation;
    uint8_t to, from, also;
    uint64_t address; /* of loads and stores */
};
#define LOAD(to, from, address)    ((struct line){OP_LOAD, to, from, NO, address})
#define STORE(data, from, address) ((struct line){OP_STORE, NO, from, data, address})
#define OPERATION(to, from, also)  ((struct line){OP_INT_ALU, to, from, also, 0})
#define NOTHING                    OPERATION(NO, NO, NO)

struct program_trace {
    struct static_insn insns[PROGRAM_MAX];
    struct uop uops[PROGRAM_MAX];
    struct dynamic_insn dynamic[PROGRAM_MAX];
    struct memory_access accesses[PROGRAM_MAX];
    struct code code;
    uint32_t count, access_count;
};

static inline void add_register(uint8_t *list, uint8_t *count, uint8_t reg) {
    if (reg != NO)
        list[(*count)++] = reg;
}

static inline void make_line(struct program_trace *trace, const struct line *line) {
    const uint32_t i = trace->count++;
    assert_true(i < PROGRAM_MAX);
    struct uop *uop = &trace->uops[i];
    *uop = (struct uop){.operation = (uint8_t)line->operation,
                        .flags = UOP_FIRST | UOP_LAST,
                        .memory = 255,
                        .data = REG_NONE};
    add_register(uop->source, &uop->source_count, line->from);
    add_register(uop->destination, &uop->destination_count, line->to);
    const bool accesses = line->operation == OP_LOAD || line->operation == OP_STORE;
    if (line->operation == OP_STORE)
        uop->data = line->also;
    else
        add_register(uop->source, &uop->source_count, line->also);
    trace->insns[i] = (struct static_insn){.address = 0x1000 + 4 * i,
                                           .first_uop = i,
                                           .uop_count = 1,
                                           .length = 4,
                                           .memory_count = accesses,
                                           .operation = (uint8_t)line->operation};
    trace->dynamic[i] =
        (struct dynamic_insn){.insn = i, .memory = trace->access_count, .memory_count = accesses};
    if (accesses) {
        uop->memory = 0;
        trace->accesses[trace->access_count++] = (struct memory_access){
            .address = line->address, .size_bytes = 8, .is_store = line->operation == OP_STORE};
    }
}

static inline struct program_trace *new_program(const struct line *lines, uint32_t count) {
    struct program_trace *trace = calloc(1, sizeof *trace);
    assert_non_null(trace);
    for (uint32_t i = 0; i < count; i++)
        make_line(trace, &lines[i]);
    trace->code = (struct code){.isa = ISA_RISCV64,
                                .insns = trace->insns,
                                .insn_count = count,
                                .uops = trace->uops,
                                .uop_count = count};
    return trace;
}

/* The load on this line and the operation on the next are one instruction, and none of
 * the lines before is joined yet. */
static inline void join_lines(struct program_trace *trace, uint32_t load) {
    trace->insns[load].uop_count = 2;
    trace->uops[load].flags &= (uint8_t)~UOP_LAST;
    trace->uops[load + 1].flags &= (uint8_t)~UOP_FIRST;
    trace->count--;
    memmove(&trace->dynamic[load + 1], &trace->dynamic[load + 2],
            (trace->count - load - 1) * sizeof *trace->dynamic);
}

/* Caches that hold whatever these programs touch; blocks of 64 bytes. */
static inline struct machine roomy_machine(enum prefetcher_kind prefetcher) {
    struct machine machine = {.name = "roomy", .clock_ghz = 1, .page_size = 4096};
    machine.l1d = (struct machine_cache){.present = true,
                                         .size = 1 << 20,
                                         .ways = 16,
                                         .line = 64,
                                         .latency = 2,
                                         .prefetcher = prefetcher,
                                         .prefetch_degree = 1};
    machine.dram.latency = 200;
    return machine;
}

struct event_list {
    struct data_event events[PROGRAM_EVENTS];
    uint32_t count;
};

static inline void keep_events(void *context, const struct data_event *events, uint32_t count) {
    struct event_list *list = context;
    assert_true(list->count + count <= PROGRAM_EVENTS);
    memcpy(&list->events[list->count], events, count * sizeof *events);
    list->count += count;
}

/* The events of a program, to be freed. */
static inline struct event_list *events_of(const struct program_trace *program,
                                           const struct machine *machine, struct data_reach reach) {
    struct error error = {0};
    struct event_list *list = calloc(1, sizeof *list);
    assert_non_null(list);
    struct data_trace *trace =
        data_trace_new(machine, reach, (struct data_sink){keep_events, list}, &error);
    if (!trace)
        fail_msg("%s", error.message);
    if (!data_trace_add(trace,
                        &(struct core_input){&program->code, program->dynamic, program->accesses,
                                             program->count, program->access_count, 0},
                        &error))
        fail_msg("%s", error.message);
    data_trace_finish(trace);
    data_trace_free(trace);
    return list;
}

static inline struct hybrid_result evaluate(const struct hybrid_config *config,
                                            const struct data_event *events, uint32_t count) {
    struct error error = {0};
    struct hybrid *hybrid = hybrid_new(config, 1, &error);
    if (!hybrid)
        fail_msg("%s", error.message);
    hybrid_add(hybrid, events, count);
    const struct hybrid_result result = hybrid_result(hybrid, 0);
    hybrid_free(hybrid);
    return result;
}
