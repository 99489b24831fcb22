/* A function is entered when the instruction at its first byte executes. Its name is looked up once
 * in every image that appears, and every new static instruction is compared with what was found:
 * until then batches are searched for those instructions only. */
#include "simulate/selection.h"

#include <stdlib.h>

#include "program/program.h"
#include "util/array.h"

struct entry {
    uint32_t image;
    uint64_t offset;
};

struct selector {
    struct selection selection;
    uint64_t skipped, selected;
    bool started;
    struct program *program;
    uint32_t images_known, insns_known;
    struct entry *entries; /* where the function starts, in the images that have it */
    size_t entry_count, entry_capacity;
    uint32_t *starts; /* static instructions at those places */
    size_t start_count, start_capacity;
};

struct selector *selector_new(const struct selection *selection, struct error *error) {
    struct selector *selector = calloc(1, sizeof *selector);
    if (!selector)
        return error_null(error, "out of memory");
    selector->selection = *selection;
    selector->started = !selection->from_symbol;
    if (selection->from_symbol && !(selector->program = program_new())) {
        free(selector);
        return error_null(error, "out of memory");
    }
    return selector;
}

void selector_free(struct selector *selector) {
    if (!selector)
        return;
    if (selector->program)
        program_free(selector->program);
    free(selector->entries);
    free(selector->starts);
    free(selector);
}

struct trace_batch batch_slice(const struct trace_batch *batch, uint32_t begin, uint32_t end) {
    struct trace_batch slice = *batch;
    uint32_t base = (uint32_t)batch->first_access;
    uint32_t first =
        begin < batch->insn_count ? batch->insns[begin].memory - base : batch->access_count;
    uint32_t last = end < batch->insn_count ? batch->insns[end].memory - base : batch->access_count;
    if (last > batch->access_count)
        last = batch->access_count;
    if (first > last)
        first = last;
    slice.insns = batch->insns + begin;
    slice.insn_count = end - begin;
    slice.first_insn = batch->first_insn + begin;
    slice.accesses = batch->accesses + first;
    slice.access_count = last - first;
    slice.first_access = batch->first_access + first;
    uint32_t told = 0, kept = 0; /* events of memory behind an instruction of the slice */
    while (told < batch->memory_count && batch->memory[told].position <= slice.first_insn && begin)
        told++;
    while (told + kept < batch->memory_count &&
           batch->memory[told + kept].position <= slice.first_insn + slice.insn_count)
        kept++;
    slice.memory = batch->memory + told;
    slice.memory_count = kept;
    slice.thread_ended = batch->thread_ended && end == batch->insn_count;
    return slice;
}

uint32_t batch_count(const struct trace_batch *batch, uint32_t begin, uint64_t insns,
                     uint32_t *counted) {
    uint32_t end = begin, count = 0;
    if (batch->all_completed) {
        const uint32_t left = batch->insn_count - begin;
        *counted = insns < left ? (uint32_t)insns : left;
        return begin + *counted;
    }
    for (; end < batch->insn_count && count < insns; end++)
        count += !(batch->insns[end].flags & DYN_FAULT);
    *counted = count;
    return end;
}

static void learn_code(struct selector *selector, const struct code *code) {
    for (; selector->images_known < code->image_count; selector->images_known++) {
        const struct code_image *image = &code->images[selector->images_known];
        if (image->kind != CODE_IMAGE_FILE)
            continue;
        uint32_t number = program_add_image(selector->program, image->path, image->build_id,
                                            image->build_id_size);
        struct entry entry = {.image = selector->images_known};
        uint64_t size;
        if (program_find_function(selector->program, number, selector->selection.from_symbol,
                                  &entry.offset, &size) &&
            array_reserve((void **)&selector->entries, &selector->entry_capacity,
                          selector->entry_count + 1, sizeof entry))
            selector->entries[selector->entry_count++] = entry;
    }
    for (; selector->insns_known < code->insn_count; selector->insns_known++) {
        const struct static_insn *insn = &code->insns[selector->insns_known];
        for (size_t i = 0; i < selector->entry_count; i++)
            if (insn->offset == selector->entries[i].offset &&
                insn->image == selector->entries[i].image &&
                array_room(selector->starts, selector->start_capacity, selector->start_count + 1))
                selector->starts[selector->start_count++] = selector->insns_known;
    }
}

/* Index in the batch of the first instruction of the function; insn_count when it is not there. */
static uint32_t find_start(struct selector *selector, const struct code *code,
                           const struct trace_batch *batch) {
    learn_code(selector, code);
    return (uint32_t)index_where(
        i, batch->insn_count,
        any_where(start, selector->start_count, batch->insns[i].insn == selector->starts[start]));
}

void selector_apply(struct selector *selector, const struct code *code, struct trace_batch *batch) {
    const struct selection *selection = &selector->selection;
    uint32_t begin = 0, end = batch->insn_count;
    if (selection->thread >= 0 && batch->thread != (uint32_t)selection->thread)
        begin = end;
    if (begin < end && !selector->started) {
        begin = find_start(selector, code, batch);
        selector->started = begin < end;
    }
    uint64_t skip = selection->skip - selector->skipped;
    if (skip > end - begin)
        skip = end - begin;
    selector->skipped += skip;
    begin += (uint32_t)skip;
    if (selection->limit) {
        uint64_t left = selection->limit - selector->selected;
        if (left < end - begin)
            end = begin + (uint32_t)left;
    }
    selector->selected += end - begin;
    bool thread_ended = batch->thread_ended;
    *batch = batch_slice(batch, begin, end);
    batch->thread_ended = thread_ended;
}

bool selector_done(const struct selector *selector) {
    return selector->selection.limit && selector->selected >= selector->selection.limit;
}

bool selector_started(const struct selector *selector) {
    return selector->started;
}
