/* Routines are known by their names (program/lock_routines.h), instructions by where they lie in
 * them. */
#include "simulate/work_code.h"

#include <stdlib.h>
#include <string.h>

#include "program/lock_routines.h"
#include "program/program.h"
#include "util/array.h"
#include "util/order.h"

struct routine {
    uint64_t first, end; /* offsets in the image's file */
};

struct search {
    struct routine *routines;
    size_t count, capacity;
    bool failed;
};

static bool note_routine(void *context, const struct program_function *function) {
    struct search *search = context;
    if (!function->name || lock_routine_of(function->name).action == LOCK_NONE)
        return true;
    const struct routine routine = {function->file_offset, function->file_offset + function->size};
    if (!array_push(search->routines, search->capacity, search->count, routine))
        search->failed = true;
    return !search->failed;
}

static bool has_routine(const struct search *search, uint64_t offset) {
    return any_where(i, search->count,
                     offset >= search->routines[i].first && offset < search->routines[i].end);
}

static bool is_executable(const struct trace *trace, const struct code_image *image) {
    return any_where(i, trace_process_count(trace),
                     trace_process(trace, i)->executable &&
                         strcmp(trace_process(trace, i)->executable, image->path) == 0);
}

static bool is_pause(enum isa isa, const struct static_insn *insn) {
    static const uint8_t X86_64[2] = {0xf3, 0x90}, RISCV64[4] = {0x0f, 0x00, 0x00, 0x01};
    const uint8_t *bytes = isa == ISA_X86_64 ? X86_64 : RISCV64;
    const size_t size = isa == ISA_X86_64 ? sizeof X86_64 : sizeof RISCV64;
    return insn->length == size && memcmp(insn->bytes, bytes, size) == 0;
}

/* The instructions of one image. */
static void mark_image(uint8_t *flags, const struct code *code, uint32_t image, bool foreign,
                       const struct search *search) {
    for (uint32_t i = 0; i < code->insn_count; i++) {
        const struct static_insn *insn = &code->insns[i];
        if (insn->image != image)
            continue;
        if (foreign)
            flags[i] |= WORK_FOREIGN;
        if (has_routine(search, insn->offset))
            flags[i] |= WORK_NONE;
    }
}

uint8_t *work_code(const struct trace *trace, struct error *error) {
    const struct code *code = trace_code(trace);
    struct program *program = program_new_local();
    uint8_t *flags = calloc((size_t)code->insn_count + 1, 1);
    struct search search = {0};
    for (uint32_t i = 0; program && flags && i < code->image_count && !search.failed; i++) {
        const struct code_image *image = &code->images[i];
        search.count = 0;
        if (image->kind == CODE_IMAGE_FILE)
            program_each_function(
                program,
                program_add_image(program, image->path, image->build_id, image->build_id_size),
                note_routine, &search);
        const bool foreign =
            image->kind == CODE_IMAGE_VDSO || (search.count && !is_executable(trace, image));
        if (search.count || foreign)
            mark_image(flags, code, i, foreign, &search);
    }
    for (uint32_t i = 0; flags && i < code->insn_count; i++) {
        const uint8_t branch = code->insns[i].branch;
        if (branch == BRANCH_CONDITIONAL || branch == BRANCH_JUMP)
            flags[i] |= WORK_BRANCH;
        if (branch != BRANCH_NONE)
            flags[i] |= WORK_ENDS;
        if (code->insns[i].flags & INSN_ATOMIC)
            flags[i] |= WORK_ATOMIC;
        if (is_pause(code->isa, &code->insns[i]))
            flags[i] |= WORK_NONE | WORK_PAUSE;
    }
    const bool good = program && flags && !search.failed;
    if (program)
        program_free(program);
    free(search.routines);
    if (good)
        return flags;
    free(flags);
    return error_null(error, "out of memory for symbols");
}
