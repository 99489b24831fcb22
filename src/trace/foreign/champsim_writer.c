/* Instructions to records. Registers come from the µops, which name what an instruction reads and
 * writes; of a branch the three by which ChampSim knows its kind come first. A repeated instruction
 * is a record for each element, as ChampSim's own tracer has it. */
#include <stdlib.h>
#include <string.h>

#include "trace/convert.h"
#include "trace/foreign/champsim.h"
#include "trace/foreign/pack.h"
#include "util/array.h"
#include "util/clock.h"

struct writer {
    struct pack *pack;
    const struct code *code;
    struct champsim_record *kinds; /* of each static instruction, without accesses */
    size_t capacity;
    uint32_t known; /* of them */
    struct champsim_lost *lost;
};

static void add(uint8_t *list, unsigned room, uint8_t number) {
    if (!number || memchr(list, number, room))
        return;
    uint8_t *free_place = memchr(list, 0, room);
    if (free_place)
        *free_place = number;
}

static uint8_t number_of(enum isa isa, uint8_t reg) {
    enum { RISCV_SP = 2, RISCV_GENERALS = 32 };
    if (reg >= REG_TEMPORARY)
        return 0;
    if (isa == ISA_RISCV64)
        return reg == RISCV_SP ? CHAMPSIM_STACK : (uint8_t)(CHAMPSIM_OTHERS + reg);
    if (reg == REG_X86_CF || reg == REG_X86_FLAGS)
        return CHAMPSIM_FLAGS;
    return reg < REG_X86_CF ? champsim_general(reg) : (uint8_t)(CHAMPSIM_OTHERS + reg);
}

static void add_source(const struct writer *writer, struct champsim_record *record, uint8_t reg,
                       enum branch_kind kind) {
    const uint8_t number = number_of(writer->code->isa, reg);
    /* These would make another kind of branch of it. */
    if (kind &&
        (number == CHAMPSIM_STACK || (kind != BRANCH_CONDITIONAL && number == CHAMPSIM_FLAGS)))
        return;
    if (kind == BRANCH_JUMP || kind == BRANCH_CALL)
        return;
    add(record->read, CHAMPSIM_READ, number);
}

static void add_branch(struct champsim_record *record, enum branch_kind kind) {
    record->branch = true;
    record->written[0] = CHAMPSIM_IP;
    if (kind >= BRANCH_CALL && kind != BRANCH_INDIRECT) {
        record->written[1] = CHAMPSIM_STACK;
        add(record->read, CHAMPSIM_READ, CHAMPSIM_STACK);
    }
    if (kind != BRANCH_INDIRECT && kind != BRANCH_RETURN)
        add(record->read, CHAMPSIM_READ, CHAMPSIM_IP);
}

/* What a branch must read besides, if it reads nothing: a register that nothing writes. */
static void complete_branch(struct champsim_record *record, enum branch_kind kind) {
    if (champsim_branch(record) != kind)
        add(record->read, CHAMPSIM_READ,
            kind == BRANCH_CONDITIONAL ? CHAMPSIM_FLAGS : CHAMPSIM_OTHERS);
}

static bool is_memory(const struct uop *uop) {
    return uop->operation == OP_LOAD || uop->operation == OP_STORE;
}

/* Registers of addresses come before those of data, as ChampSim's tracer has them. */
static struct champsim_record kind_of(const struct writer *writer, const struct static_insn *insn) {
    struct champsim_record record = {.address = insn->address};
    const struct uop *uops = &writer->code->uops[insn->first_uop];
    const enum branch_kind kind = insn->branch;
    if (kind)
        add_branch(&record, kind);
    if (!kind && insn->stack_use & STACK_MOVED) {
        add(record.read, CHAMPSIM_READ, CHAMPSIM_STACK);
        add(record.written, CHAMPSIM_WRITTEN, CHAMPSIM_STACK);
    }
    for (int memory = 1; memory >= 0; memory--)
        for (unsigned i = 0; i < insn->uop_count; i++)
            for (unsigned k = 0; k < uops[i].source_count && is_memory(&uops[i]) == memory; k++)
                add_source(writer, &record, uops[i].source[k], kind);
    for (unsigned i = 0; i < insn->uop_count; i++)
        add_source(writer, &record, uops[i].data, kind);
    for (unsigned i = 0; i < insn->uop_count && !kind; i++)
        for (unsigned k = 0; k < uops[i].destination_count; k++)
            add(record.written, CHAMPSIM_WRITTEN,
                number_of(writer->code->isa, uops[i].destination[k]));
    if (kind)
        complete_branch(&record, kind);
    return record;
}

static bool learn_kinds(struct writer *writer, struct error *error) {
    if (!array_room(writer->kinds, writer->capacity, writer->code->insn_count))
        return error_set(error, "out of memory for the trace's code");
    for (; writer->known < writer->code->insn_count; writer->known++)
        writer->kinds[writer->known] = kind_of(writer, &writer->code->insns[writer->known]);
    return true;
}

static bool put_record(struct writer *writer, const struct champsim_record *record,
                       struct error *error) {
    uint8_t bytes[CHAMPSIM_RECORD_BYTES];
    champsim_encode(record, bytes);
    writer->lost->records++;
    return pack_bytes(writer->pack, bytes, sizeof bytes, error);
}

/* Where element `element` of `count` is in an access that covers all of them. */
static uint64_t address_of(const struct memory_access *access, uint64_t element, uint64_t count) {
    const uint64_t size = count ? access->size_bytes / count : 0;
    return access->address + size * (access->descending ? count - 1 - element : element);
}

static void add_access(struct writer *writer, struct champsim_record *record, bool store,
                       uint64_t address, unsigned *loads, unsigned *stores) {
    if (store && *stores < CHAMPSIM_STORES)
        record->stores[(*stores)++] = address;
    else if (!store && *loads < CHAMPSIM_LOADS)
        record->loads[(*loads)++] = address;
    else
        writer->lost->accesses++;
}

static bool put_insn(struct writer *writer, const struct dynamic_insn *insn,
                     const struct memory_access *accesses, struct error *error) {
    struct champsim_record record = writer->kinds[insn->insn];
    const bool repeats = insn->flags & DYN_REP;
    const uint64_t count = repeats && insn->repeat ? insn->repeat : 1;
    const unsigned accessed = repeats && !insn->repeat ? 0 : insn->memory_count;
    record.taken = insn->flags & DYN_TAKEN && record.branch;
    for (uint64_t element = 0; element < count; element++) {
        unsigned loads = 0, stores = 0;
        for (unsigned i = 0; i < accessed; i++)
            add_access(writer, &record, accesses[i].is_store,
                       repeats ? address_of(&accesses[i], element, count) : accesses[i].address,
                       &loads, &stores);
        if (!put_record(writer, &record, error))
            return false;
    }
    return true;
}

static bool put_batch(struct writer *writer, const struct trace_batch *batch, struct error *error) {
    if (!learn_kinds(writer, error))
        return false;
    for (uint32_t i = 0; i < batch->insn_count && writer->kinds; i++) {
        const struct dynamic_insn *insn = &batch->insns[i];
        const struct memory_access *accesses =
            batch->accesses + (insn->memory - (uint32_t)batch->first_access);
        if (!(insn->flags & DYN_FAULT) && !put_insn(writer, insn, accesses, error))
            return false;
    }
    return true;
}

bool trace_write_champsim(struct trace *trace, uint32_t thread, const char *path,
                          const struct watcher *watcher, struct capture_result *result,
                          struct champsim_lost *lost, struct error *error) {
    struct writer writer = {.code = trace_code(trace), .lost = lost};
    *result = (struct capture_result){0};
    *lost = (struct champsim_lost){0};
    if (!(writer.pack = pack_open(path, error)))
        return false;
    const double start = clock_monotonic();
    struct trace_batch batch;
    int status;
    bool good = true;
    while (good && !watcher_stops(watcher) && (status = trace_next(trace, &batch, error))) {
        good = status > 0;
        if (good && batch.thread != thread)
            lost->others += batch.insn_count;
        if (!good || batch.thread != thread)
            continue;
        good = put_batch(&writer, &batch, error);
        result->instructions += batch.insn_count;
        result->bytes = pack_written(writer.pack);
        result->seconds = clock_monotonic() - start;
        watcher_tell(watcher, result->instructions);
    }
    if (good && !result->instructions)
        good = error_set(error, "no instruction of thread %u was captured", thread);
    result->threads = result->processes = 1;
    result->exit = trace_exit_status(trace);
    free(writer.kinds);
    return pack_close(writer.pack, good, &result->bytes, error) && good;
}
