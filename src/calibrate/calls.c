/* Cycles that prediction loses behind taken branches which are always predicted right: loops of
 * sixteen calls, of calls and returns, and of jumps, which take what the loop's own one takes.
 *
 * A target buffer that keeps only the lower bits of targets takes longer where a target's upper
 * bits are not those of its branch. Calls through a register go to a return on a page of its own,
 * at an address that differs from the code's in one bit. The least bit from which on they take
 * longer is the first that the buffer does not keep. */
#include <math.h>
#include <stdio.h>

#include "calibrate/parts.h"

enum {
    BRANCHES = 16,
    SPACING = 16, /* bytes from one call to the next that returns */
    ROOM = 2 * BRANCHES * SPACING,
    LOOPS = 200,
    FIRST_BIT = 31, /* of those tried */
    BITS = 16,
    NEAR = BITS /* number of the kernel whose return is near */
};

static struct assembler *add_loop(struct kernel_list *list, const struct host_kernel *like) {
    struct host_kernel kernel = *like;
    kernel.iterations = LOOPS;
    struct assembler *code = kernel_list_add(list, &kernel);
    assembler_align(code, 64);
    return code;
}

enum kind { JUMPS, CALLS, PAIRS, KINDS };

/* Returns go to the block of code that they were called from, as they nearly always do. */
static void add_kind(struct kernel_list *list, enum kind kind) {
    struct assembler *code = add_loop(list, &(struct host_kernel){0});
    struct label begin = {0}, function = assembler_here(code);
    if (kind == PAIRS) {
        function = (struct label){0};
        assembler_branch(code, ZYDIS_MNEMONIC_JMP, &begin);
        assembler_align(code, 64);
        assembler_bind(code, &function);
        assembler_put(code, ZYDIS_MNEMONIC_RET, NULL, 0);
        assembler_align(code, 64);
        assembler_bind(code, &begin);
    }
    struct label loop = host_loop_begin(code);
    for (unsigned i = 0; i < BRANCHES; i++) {
        struct label next = {0};
        assembler_branch(code, kind == JUMPS ? ZYDIS_MNEMONIC_JMP : ZYDIS_MNEMONIC_CALL,
                         kind == PAIRS ? &function : &next);
        assembler_align(code, kind == PAIRS ? SPACING : 64);
        assembler_bind(code, &next);
        if (kind == CALLS)
            ASSEMBLE(code, POP, REG(RCX));
    }
    host_loop_end(code, &loop);
}

/* All kernels begin at the same address. A branch that has gone to several targets takes longer for
 * that alone, so calls to each target lie where no others do. */
static void leave_room(struct assembler *code, unsigned bytes) {
    static const uint8_t room[ROOM];
    struct label behind = {0};
    assembler_branch(code, ZYDIS_MNEMONIC_JMP, &behind);
    for (unsigned done = 0; done < bytes; done += ROOM)
        assembler_bytes(code, room, sizeof room);
    assembler_bind(code, &behind);
}

/* Calls to a return, so many bytes behind the beginning of a page; NULL: where the code is. */
static void add_calls_to(struct kernel_list *list, const uint64_t *page, unsigned offset,
                         unsigned number) {
    static const uint8_t near_return[] = {0x48, 0x8d, 0x05, 0x02, 0x00, 0x00, 0x00, /* lea rax */
                                          0xeb, 0x01, 0xc3}; /* jmp behind the return */
    struct assembler *code = add_loop(
        list, &(struct host_kernel){.pages = page, .page_count = page ? 1 : 0, .run_pages = true});
    if (page) {
        ASSEMBLE(code, MOV, REG(RAX), IMMEDIATE((int64_t)*page + offset));
        ASSEMBLE(code, MOV, MEMORY(RAX, 0, 8), IMMEDIATE(-0x3d)); /* ret */
    } else {
        assembler_bytes(code, near_return, sizeof near_return);
    }
    leave_room(code, number * ROOM);
    assembler_align(code, 64);
    struct label loop = host_loop_begin(code);
    for (unsigned i = 0; i < BRANCHES; i++) {
        ASSEMBLE(code, CALL, REG(RAX));
        assembler_align(code, SPACING);
    }
    host_loop_end(code, &loop);
}

static double whole(double cycles) {
    return cycles > 0.5 ? round(cycles) : 0;
}

static void conclude_kinds(struct calibration *calibration, const struct host_result *results) {
    const double jump = results[JUMPS].cycles / BRANCHES, call = results[CALLS].cycles / BRANCHES,
                 pair = results[PAIRS].cycles / BRANCHES;
    struct finding both = {.what = "a call and its return", .unit = "cycles", .value = pair};
    struct finding call_bubble = {.key = "branch.call_bubble",
                                  .what = "a call, beside another taken branch",
                                  .unit = "cycles",
                                  .value = whole(call - jump)};
    struct finding return_bubble = {.key = "branch.return_bubble",
                                    .what = "a return, likewise",
                                    .unit = "cycles",
                                    .value = whole(pair - call - jump)};
    finding_rests_on(&both, results, KINDS);
    finding_rests_on(&call_bubble, results, KINDS);
    finding_rests_on(&return_bubble, results, KINDS);
    both.spread /= BRANCHES;
    call_bubble.spread /= BRANCHES;
    return_bubble.spread /= BRANCHES;
    calibration_found(calibration, &both);
    calibration_found(calibration, &call_bubble);
    calibration_found(calibration, &return_bubble);
}

static void conclude_far(struct calibration *calibration, const struct host_result *results) {
    const double near = results[NEAR].cycles / BRANCHES;
    const double far = results[BITS - 1].cycles / BRANCHES;
    struct finding bubble = {.key = "branch.far_bubble",
                             .what = "a call to a far target, besides",
                             .unit = "cycles",
                             .value = whole(far - near)};
    struct finding bit = {
        .key = "branch.far_bit", .what = "first bit of a target that is not kept", .unit = ""};
    const bool known = finding_rests_on(&bubble, results, BITS + 1);
    bubble.spread /= BRANCHES;
    calibration_found(calibration, &bubble);
    if (!known || !(bubble.value > 0))
        return;
    unsigned first = BITS - 1;
    while (first && results[first - 1].cycles / BRANCHES > (near + far) / 2)
        first--;
    bit.value = FIRST_BIT + first;
    if (!first) {
        bit.state = FINDING_UNKNOWN;
        snprintf(bit.note, sizeof bit.note, "lower than %d", FIRST_BIT + 1);
    }
    calibration_found(calibration, &bit);
}

static bool find_kinds(struct calibration *calibration, struct error *error) {
    struct kernel_list list = {0};
    for (unsigned kind = 0; kind < KINDS; kind++)
        add_kind(&list, (enum kind)kind);
    const bool good = calibration_measure_fastest(calibration, &list, error);
    if (good)
        conclude_kinds(calibration, list.results);
    kernel_list_free(&list);
    return good;
}

static bool find_far(struct calibration *calibration, struct error *error) {
    uint64_t pages[BITS];
    struct kernel_list list = {0};
    for (unsigned i = 0; i < BITS; i++) {
        pages[i] = HOST_KERNELS_AT | UINT64_C(1) << (FIRST_BIT + i);
        add_calls_to(&list, &pages[i], 64 * i, i); /* pages may show the same memory */
    }
    add_calls_to(&list, NULL, 0, BITS);
    const bool good = calibration_measure_fastest(calibration, &list, error);
    if (good)
        conclude_far(calibration, list.results);
    kernel_list_free(&list);
    return good;
}

static bool run(struct calibration *calibration, struct error *error) {
    return find_kinds(calibration, error) &&
           (calibration_stops(calibration) || find_far(calibration, error));
}

static const char *const KEYS[] = {"branch.call_bubble", "branch.return_bubble",
                                   "branch.far_bubble", "branch.far_bit", NULL};
const struct calibrate_part calibrate_calls = {
    .name = "calls", .measures = "calls, returns and far targets", .keys = KEYS, .run = run};
