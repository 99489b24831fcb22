/* The write buffer: lines wait in the order in which stores came, are written one at a time, and
 * keep their entries until they are. A store to a line that waits joins it. */
#include "core/inorder/inorder.h"

static uint64_t line_of(const struct inorder *core, uint64_t address) {
    return address / core->machine.l1d.line;
}

static struct write_line *line_at(struct inorder *core, uint64_t number) {
    return &core->lines[number % WRITE_LINES];
}

uint64_t inorder_next_write(const struct inorder *core) {
    if (core->written == core->entered)
        return UNKNOWN;
    uint64_t entered = core->lines[core->written % WRITE_LINES].entered;
    return entered > core->write_cycle ? entered : core->write_cycle;
}

/* A hit takes a cycle; what misses holds up those behind it. */
void inorder_write(struct inorder *core) {
    struct write_line *line = line_at(core, core->written);
    struct memory_result result;
    uint64_t now = inorder_next_write(core);
    memory_store(core->learned.memory, now, line->line * core->machine.l1d.line, 1, line->uop,
                 line->insn, &result);
    if (result.retry) {
        core->write_cycle = result.retry;
        return;
    }
    uint64_t hit = now + core->machine.l1d.latency;
    line->release = result.ready > hit ? result.ready : now + 1;
    core->write_cycle = line->release;
    core->written++;
}

static bool joins(struct inorder *core, uint64_t line) {
    for (uint64_t i = core->written; i < core->entered; i++)
        if (line_at(core, i)->line == line)
            return true;
    return false;
}

static void free_entries(struct inorder *core, uint64_t cycle) {
    while (core->freed < core->written && line_at(core, core->freed)->release <= cycle)
        core->freed++;
}

uint64_t inorder_store_entry(struct inorder *core, uint64_t address, uint64_t cycle) {
    uint64_t entries = core->machine.core.store_queue;
    inorder_advance(core, cycle);
    free_entries(core, cycle);
    if (core->ideal & IDEAL_BW ? core->entered - core->freed < WRITE_LINES
                               : core->entered - core->freed < entries)
        return cycle;
    if (joins(core, line_of(core, address)))
        return cycle;
    while (core->freed == core->written)
        inorder_advance(core, inorder_next_write(core));
    uint64_t release = line_at(core, core->freed)->release;
    return release > cycle ? release : cycle;
}

void inorder_store_enter(struct inorder *core, const struct inorder_uop *uop, uint64_t sequence,
                         uint64_t cycle) {
    uint64_t last = line_of(core, uop->address + uop->size_bytes - 1);
    for (uint64_t line = line_of(core, uop->address); line <= last; line++) {
        if (joins(core, line) || core->entered - core->freed == WRITE_LINES)
            continue;
        *line_at(core, core->entered++) = (struct write_line){
            .line = line, .entered = cycle, .release = UNKNOWN, .insn = uop->insn, .uop = sequence};
    }
}

uint64_t inorder_stores_done(struct inorder *core) {
    while (core->written < core->entered)
        inorder_advance(core, inorder_next_write(core));
    return core->entered ? line_at(core, core->entered - 1)->release : 0;
}
