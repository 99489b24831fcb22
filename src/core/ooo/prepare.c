/* Static instructions as this machine has them: made when an instruction is first executed, from
 * its µops and the machine's classes. */
#include "core/ooo/load_operation.h"
#include "core/ooo/memory_renaming.h"

#include <stdlib.h>
#include <string.h>

#include "core/elimination.h"
#include "core/places.h"

/* What the instruction loads it computes with, and keeps in a register. */
static bool is_operand(const struct ooo *core, const struct static_insn *insn) {
    const struct uop *last = &core->code->uops[insn->first_uop + insn->uop_count - 1u];
    return last->operation != OP_LOAD && last->operation != OP_STORE;
}

/* Whether the address has the stack pointer of x86-64 and no other register. */
static bool is_on_stack(const struct uop *uop) {
    enum { RSP = 4 };
    return uop->source_count == 1 && uop->source[0] == RSP;
}

/* Whether the instruction changes what it loads, and stores it again, by more than a constant. */
static bool changes_by_register(const struct ooo *core, const struct static_insn *insn) {
    const struct uop *uops = &core->code->uops[insn->first_uop];
    return !is_operand(core, insn) &&
           any_where(i, insn->uop_count,
                     uops[i].operation != OP_LOAD && uops[i].operation != OP_STORE &&
                         uops[i].source_count > 1);
}

/* Whether memory renaming may take the load or store, as this machine has it. */
static bool takes_part(const struct ooo *core, const struct static_insn *insn,
                       const struct uop *uop) {
    const struct machine_core *machine = &core->machine;
    return machine->memory_renaming && may_rename(insn, uop) &&
           !(machine->renaming_moves && uop->operation == OP_LOAD && is_operand(core, insn)) &&
           !(machine->renaming_constants && uop->operation == OP_LOAD &&
             changes_by_register(core, insn)) &&
           (machine->renaming_base ? uop->source_count <= 1 : uop->source_count > 0) &&
           !(machine->renaming_stack && !is_on_stack(uop));
}

static uint32_t prepare_flags(const struct ooo *core, const struct static_insn *insn,
                              const struct uop *uop, uint32_t unit, bool first) {
    bool last = uop->flags & UOP_LAST;
    uint16_t traits =
        machine_insn_flags(&core->machine, insn->operation, insn->flags, insn->is_cpuid);
    uint32_t flags = (last ? U_LAST : 0) | (first ? U_FIRST : 0);
    if (uop->operation == OP_LOAD)
        flags |= U_LOAD | U_LOAD_ENTRY;
    if (uop->operation == OP_STORE)
        flags |= U_STORE;
    if (uop->flags & UOP_BRANCH)
        flags |= U_BRANCH | U_BRANCH_ENTRY;
    if (first && (insn->address ^ (insn->address + insn->length - 1)) & core->fetch_line_mask)
        flags |= U_CROSSES_LINE;
    if (last && traits & INSN_SYSCALL)
        flags |= U_FLUSH | U_SYSCALL;
    if (last && insn->flags & INSN_FLUSHING)
        flags |= U_FLUSH;
    if (first && insn->flags & INSN_SERIALISING)
        flags |= U_SERIAL;
    if (last && insn->flags & INSN_SERIALISING)
        flags |= U_SERIAL_END;
    if (last && traits & INSN_FENCE_LOAD)
        flags |= U_HOLD_LOADS;
    if (last && insn->flags & INSN_REP && core->machine.string_start)
        flags |= (uint32_t)U_MICROCODED;
    if (first && insn->flags & INSN_FENCE_STORE)
        flags |= U_WAIT_HEAD;
    if (insn->flags & INSN_PREFETCH)
        flags |= U_PREFETCH;
    if (uop->source_count > 2 || uop->destination_count > 2)
        flags |= U_MANY;
    if (takes_part(core, insn, uop))
        flags |= U_RENAMES;
    if (core->units[unit].interval > 1)
        flags |= U_LONG;
    const enum elimination elimination = eliminates(&core->machine, insn, uop);
    if (elimination != NOT_ELIMINATED)
        flags |= U_ELIMINATED | (elimination == OTHER_NAME ? U_MOVE : 0);
    else
        for (uint32_t i = 0; i < uop->destination_count; i++)
            flags |= machine_flag_register(&core->machine, core->code->isa, uop->destination[i])
                         ? U_FLAG_REGISTER
                     : register_is_fp(uop->destination[i]) ? U_FP_REGISTER
                                                           : U_INT_REGISTER;
    return flags;
}

/* Linux maps the executable far below all else (0x400000 or 0x55..., libraries at 0x7f...). The
 * emulator leaves less between them, but keeps the order. Code made at run time is where its
 * address says: those who make it ask for a place near to the code that it calls. */
static uint8_t file_of(const struct code *code, const struct static_insn *insn) {
    const struct code_image *image = &code->images[insn->image];
    if (insn->image >= code->image_count || image->kind != CODE_IMAGE_FILE ||
        (image->path && !strncmp(image->path, "/memfd:", 7)))
        return 0;
    for (uint32_t i = 0; i < code->image_count; i++)
        if (code->images[i].kind == CODE_IMAGE_FILE && code->images[i].base < image->base)
            return KNOWN_LIBRARY;
    return KNOWN_EXECUTABLE;
}

static struct known_insn know(const struct ooo *core, const struct static_insn *insn,
                              unsigned stack, const struct prepared_uop *uops) {
    const struct uop *last = &core->code->uops[insn->first_uop + insn->uop_count - 1u];
    uint8_t traits = 0;
    if (core->machine.fuse_compare_branch && insn_fuses_compare(insn, last))
        traits |= KNOWN_COMPARE;
    if (core->machine.fuse_compare_branch && insn_fuses_branch(insn))
        traits |= KNOWN_FUSING_BRANCH;
    if (core->machine.stack_sync)
        traits |= (stack & STACK_MOVED ? KNOWN_MOVES_STACK : 0) |
                  (stack & STACK_READ ? KNOWN_READS_STACK : 0) |
                  (stack & STACK_WRITTEN ? KNOWN_WRITES_STACK : 0);
    if (core->far_bubble)
        traits |= file_of(core->code, insn);
    return (struct known_insn){.uops = uops,
                               .uop_count = insn->uop_count,
                               .branch = last->flags & UOP_BRANCH ? insn->branch : BRANCH_NONE,
                               .traits = traits};
}

/* Room for an instruction's µops, which lie in one chunk; or NULL. */
static struct prepared_uop *make_room(struct ooo *core, uint32_t count, struct error *error) {
    if (core->prepared_count % PREPARED_CHUNK + count > PREPARED_CHUNK)
        core->prepared_count += PREPARED_CHUNK - core->prepared_count % PREPARED_CHUNK;
    const uint32_t chunk = core->prepared_count / PREPARED_CHUNK;
    if (chunk >= PREPARED_CHUNKS)
        return error_null(error, "the program has more than %u static µops",
                          PREPARED_CHUNKS * PREPARED_CHUNK);
    if (!core->prepared[chunk] &&
        !(core->prepared[chunk] = calloc(PREPARED_CHUNK, sizeof *core->prepared[chunk])))
        return error_null(error, "out of memory for static µops");
    return core->prepared[chunk] + core->prepared_count % PREPARED_CHUNK;
}

/* Where the µop executes. MOST_UNITS, and the error: there is no room for more. */
static uint32_t find_unit(struct ooo *core, const struct machine_form *form,
                          const struct static_insn *insn, uint32_t number, struct error *error) {
    const struct uop *uops = &core->code->uops[insn->first_uop];
    const enum operation operation = uops[number].operation;
    const bool pairs = has_operation(&core->machine, uops, number, insn->uop_count);
    if (!form && !(core->described && pairs))
        return operation;
    const struct uop_timing timing = uop_timing(core->described, form, insn, uops, number);
    const uint32_t unit = unit_row(core, operation, &timing);
    if (pairs && unit < MOST_UNITS)
        unit_row_alone(core, unit, &timing);
    if (unit == MOST_UNITS)
        error_set(error,
                  "the forms of %.60s have more than %u different timings: give fewer of them",
                  core->described->forms_file, MOST_UNITS);
    return unit;
}

static struct prepared_uop prepare_uop(const struct ooo *core, const struct static_insn *insn,
                                       const struct uop *uop, uint32_t unit, uint32_t index,
                                       bool first, unsigned stack) {
    const uint32_t flags = prepare_flags(core, insn, uop, unit, first);
    struct prepared_uop prepared = {
        .flags = flags,
        .index = (uint8_t)index,
        .operation = uop->operation,
        .unit = (uint16_t)unit,
        .insn_address = insn->address,
        .data = flags & U_STORE && uop->data != REG_NONE ? uop->data : RENAME_READ_NONE,
        .insn_length = insn->length,
        .memory = uop->memory,
        .steps = stack & STACK_STEPPED ? REG_X86_RSP : RENAME_READ_NONE,
    };
    if (core->machine.renaming_overwritten && core->code->isa == ISA_X86_64) {
        prepared.loads = loaded_register(insn);
        prepared.overwrites = overwritten_register(insn);
    }
    for (uint32_t i = 0; i < UOP_MAX_SOURCES; i++)
        prepared.source[i] = i < uop->source_count ? uop->source[i] : RENAME_READ_NONE;
    for (uint32_t i = 0; i < UOP_MAX_DESTINATIONS; i++)
        prepared.destination[i] =
            i < uop->destination_count ? uop->destination[i] : RENAME_WRITE_NONE;
    return prepared;
}

/* The µop that brings the stack pointer up to date, before the instruction's own. */
static struct prepared_uop prepare_sync(const struct ooo *core, const struct static_insn *insn) {
    const struct uop sync = {.operation = OP_INT_ALU,
                             .memory = 255,
                             .data = REG_NONE,
                             .source_count = 1,
                             .destination_count = 1,
                             .source = {REG_X86_RSP},
                             .destination = {REG_X86_RSP}};
    struct prepared_uop prepared =
        prepare_uop(core, insn, &sync, OP_INT_ALU, 0, true, STACK_STEPPED);
    /* Also before what is eliminated itself. */
    prepared.flags = (prepared.flags & ~(uint32_t)(U_ELIMINATED | U_MOVE)) | U_INT_REGISTER;
    return prepared;
}

/* The instruction as this machine has it, made when it is first executed. */
bool prepare(struct ooo *core, uint32_t insn_number, struct error *error) {
    const struct static_insn *insn = &core->code->insns[insn_number];
    const unsigned stack =
        core->machine.stack_sync || core->machine.memory_renaming ? insn->stack_use : 0u;
    const uint32_t before = core->machine.stack_sync && stack & STACK_READ;
    struct prepared_uop *uops = make_room(core, before + insn->uop_count, error);
    if (!uops)
        return false;
    if (before)
        *uops++ = prepare_sync(core, insn);
    const struct machine_form *form =
        core->described ? uop_timing_form(core->described, insn) : NULL;
    const struct uop *own = &core->code->uops[insn->first_uop];
    for (uint32_t k = 0; k < insn->uop_count; k++) {
        const uint32_t unit = find_unit(core, form, insn, k, error);
        if (unit == MOST_UNITS)
            return false;
        uops[k] = prepare_uop(core, insn, &own[k], unit, k, k == 0, stack);
        uops[k].flags |= shares_place(&core->machine, own, k) ? U_SHARES : 0;
    }
    core->known[insn_number] = know(core, insn, stack, uops);
    core->prepared_count += before + insn->uop_count;
    return true;
}

/* How many µops may hold one until commit: beyond the window's size that is no limit. */
static void limit_held(struct ooo *core, enum held_kind kind, uint32_t size, uint32_t fixed) {
    if (!size || size - fixed >= core->machine.rob)
        return;
    core->limits[kind] = size - fixed;
    core->limited |= held_flag(kind);
}

/* Registers that renaming may hand out: those beyond the architectural state. */
bool set_registers(struct ooo *core, enum isa isa, struct error *error) {
    uint32_t integer = isa == ISA_X86_64 ? 16 : 32, fp = 32;
    const struct machine_core *machine = &core->machine;
    if ((machine->int_registers && machine->int_registers <= integer) ||
        (machine->fp_registers && machine->fp_registers <= fp))
        return error_set(error,
                         "machine: %u and %u physical registers do not hold the architectural "
                         "state: core.int_registers above %u and core.fp_registers above %u are "
                         "needed",
                         machine->int_registers, machine->fp_registers, integer, fp);
    limit_held(core, HELD_INT, machine->int_registers, integer);
    limit_held(core, HELD_FP, machine->fp_registers, fp);
    limit_held(core, HELD_FLAG, machine->flag_registers, 1);
    limit_held(core, HELD_LOAD, machine->load_queue, 0);
    core->isa_known = true;
    return true;
}
