/* From dynamic instructions to turns, in program order. The last turn of a branch waits for the
 * branch's successor, which tells where it went. */
#include "core/cores.h"
#include "core/multithreaded/multithreaded.h"
#include "util/array.h"

static bool joins(const struct turn *turn, const struct turn *before) {
    return turn->kind == TURN_PLAIN && before->kind == TURN_PLAIN && !turn->wait && !before->wait &&
           before->count < UINT32_MAX;
}

/* Runs of plain instructions become one turn. */
static void append(struct hardware_thread *thread, struct turn turn) {
    if (thread->end > thread->at && joins(&turn, &thread->turns[thread->end - 1]))
        thread->turns[thread->end - 1].count++;
    else
        thread->turns[thread->end++] = turn;
}

static void wait_for(struct turn *turn, enum suspension cause, uint32_t wait) {
    if (wait <= turn->wait)
        return;
    turn->wait = wait;
    turn->cause = cause;
}

/* ---- branches ---- */

static void resolve(const struct chip *chip, struct hardware_thread *thread, uint64_t next) {
    const struct chip_penalties *penalties = &chip->penalties;
    enum branch_outcome outcome = branch_predict(thread->predictor, thread->branch.address,
                                                 (enum branch_kind)thread->branch.kind,
                                                 thread->branch.length, thread->branch.taken, next);
    wait_for(&thread->held, SUSPENDED_BRANCH,
             outcome == PREDICTED_WRONG  ? penalties->mispredict
             : outcome == PREDICTED_LATE ? penalties->late_branch
             : thread->branch.taken      ? penalties->taken_branch
                                         : 0);
}

/* `next`: the instruction that followed; NULL: not known. */
static void release(const struct chip *chip, struct hardware_thread *thread,
                    const struct static_insn *next) {
    if (!thread->holding)
        return;
    thread->holding = false;
    if (next)
        resolve(chip, thread, next->address);
    append(thread, thread->held);
}

static void hold(struct hardware_thread *thread, const struct static_insn *insn, bool taken,
                 struct turn turn) {
    thread->holding = true;
    thread->held = turn;
    thread->branch.address = insn->address;
    thread->branch.kind = insn->branch;
    thread->branch.length = insn->length;
    thread->branch.taken = taken;
}

/* ---- instructions ---- */

static void put_lines(const struct chip *chip, struct hardware_thread *thread,
                      const struct static_insn *insn) {
    uint32_t shift = (uint32_t)__builtin_ctz(chip->machine.l1i.line);
    uint64_t last = (insn->address + insn->length - 1) >> shift;
    for (uint64_t line = insn->address >> shift; line <= last; line++)
        if (line != thread->line) {
            thread->line = line;
            append(thread, (struct turn){.kind = TURN_FETCH, .count = 1, .address = line << shift});
        }
}

/* Puts all accesses but the last line of the last one, whose turn is returned. */
static struct turn put_accesses(const struct chip *chip, struct hardware_thread *thread,
                                const struct memory_access *accesses, uint32_t count) {
    uint32_t shift = (uint32_t)__builtin_ctz(chip->machine.l1d.line);
    struct turn turn = {.kind = TURN_PLAIN, .count = 1};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t lines = chip_lines(&accesses[i], shift);
        uint64_t first = accesses[i].address >> shift;
        if (i)
            append(thread, turn);
        turn = (struct turn){.kind = TURN_ACCESS, .count = 1, .address = first << shift};
        if (!accesses[i].is_store)
            wait_for(&turn, SUSPENDED_LONG, chip->penalties.l1_hit);
        if (lines < 2)
            continue;
        turn.count = (uint32_t)lines - 1;
        append(thread, turn);
        turn.address = (first + lines - 1) << shift;
        turn.count = 1;
    }
    turn.last = true;
    return turn;
}

static void take(const struct chip *chip, struct hardware_thread *thread, const struct code *code,
                 const struct dynamic_insn *dynamic, const struct memory_access *accesses) {
    const struct static_insn *insn = &code->insns[dynamic->insn];
    if (dynamic->flags & DYN_FAULT) /* did not complete: it leaves no trace but its handler */
        return;
    thread->begun = true;
    put_lines(chip, thread, insn);
    struct turn turn = put_accesses(chip, thread, accesses, dynamic->memory_count);
    wait_for(&turn, SUSPENDED_LONG, chip_long_penalty(&chip->machine, code, insn));
    if (machine_insn_flags(&chip->machine.core, insn->operation, insn->flags, false) & INSN_SYSCALL)
        wait_for(&turn, SUSPENDED_SYSTEM, chip->penalties.system_call);
    if (insn->flags & INSN_FLUSHING || dynamic->flags & DYN_SIGNAL)
        wait_for(&turn, SUSPENDED_SYSTEM, chip->penalties.flush);
    if (insn->branch != BRANCH_NONE && !(dynamic->flags & (DYN_SIGNAL | DYN_GAP)))
        hold(thread, insn, dynamic->flags & DYN_TAKEN, turn);
    else
        append(thread, turn);
}

static void end_program(struct hardware_thread *thread) {
    append(thread, (struct turn){.kind = TURN_END});
    thread->line = NEVER;
    thread->begun = false;
}

/* Makes room: for each instruction two lines of code, a turn, and two turns for each access; and
 * for the turn held and the end of the program. */
static bool make_room(struct hardware_thread *thread, uint32_t insn_count, uint32_t access_count,
                      struct error *error) {
    if (thread->at == thread->end)
        thread->at = thread->end = 0;
    size_t need = thread->end + (size_t)insn_count * 3 + (size_t)access_count * 2 + 2;
    return array_reserve((void **)&thread->turns, &thread->capacity, need, sizeof *thread->turns) ||
           error_set(error, "out of memory for %zu turns of a thread", need);
}

bool chip_push(struct chip *chip, uint32_t number, const struct core_input *input,
               bool program_ends, struct error *error) {
    static const struct memory_access none;
    struct hardware_thread *thread = &chip->threads[number];
    const struct core_input is = *input;
    uint64_t accesses_named = 0;
    for (uint32_t i = 0; i < is.insn_count; i++) {
        if (!core_input_is_there(is.code, &is.insns[i], is.access_count, is.first_access))
            return core_input_error(error);
        accesses_named += is.insns[i].memory_count;
    }
    if (accesses_named > is.access_count) /* instructions that share accesses */
        return core_input_error(error);
    if (!make_room(thread, is.insn_count, is.access_count, error))
        return false;
    for (uint32_t i = 0; i < is.insn_count; i++) {
        const struct dynamic_insn *insn = &is.insns[i];
        release(chip, thread, &is.code->insns[insn->insn]);
        take(chip, thread, is.code, insn,
             insn->memory_count ? is.accesses + (insn->memory - is.first_access) : &none);
    }
    if (!program_ends)
        return true;
    release(chip, thread, NULL);
    if (!thread->begun)
        return error_set(error, "the program of hardware thread %u has no instructions", number);
    end_program(thread);
    return true;
}
