/* Pages that are stored to for the first time: the kernel clears them then, and may leave their
 * lines in the caches.
 *
 * In page after page a loop stores to one line, and loads lines of it, each when the one before is
 * there: in no order that a prefetcher knows, and as often the line that was stored to. What the
 * first takes more is what the lines are away, whatever the kernel takes for a page. Pages that
 * were all there before, of more memory than caches hold, give the measure. */
#include <stdio.h>

#include "calibrate/parts.h"

enum {
    LINE_SHIFT = 6,
    LINES = HOST_PAGE >> LINE_SHIFT,
    LOADS = 24, /* of a page */
    FIRST_PAGE = HOST_HUGE_PAGE,
    NEXT_PAGE = 5003 * HOST_PAGE, /* an odd number of pages on */
    NEW_BYTES = 128 << 20,        /* powers of two: more pages than the most repetitions touch, */
    OLD_BYTES = 256 << 20,        /* more memory than caches hold */
    ITERATIONS = 16,              /* longer than what the meter wants: it runs no more of them */
    PLACE_AT = 8                  /* of the data: where it goes on */
};
/* Of what a line of an old page takes more. */
static const double THERE = 0.2, AWAY = 0.5;
/* How far old ones are varies with what others do, and need not be known well. */
static const double PRECISION = 0.02, OLD_PRECISION = 0.1;
static const double LEAST = 20; /* cycles more of a line of an old page, to tell anything */

/* Pages that are new, or old; loads of many of their lines, or of one. */
enum kind { NEW_MANY, NEW_ONE, OLD_MANY, OLD_ONE, KINDS };

/* RAX is the page, RSI the number of a line, RDX what the last load found, zero. Of old pages none
 * is stored to: where they are simulated, that would be the first store to them. */
static void add_kernel(struct kernel_list *list, const struct host_data *data, bool new,
                       bool many) {
    const struct host_kernel kernel = {.data = data,
                                       .iterations = ITERATIONS,
                                       .warm = ITERATIONS,
                                       .precision = new ? PRECISION : OLD_PRECISION};
    struct assembler *code = kernel_list_add(list, &kernel);
    ASSEMBLE(code, MOV, REG(R8), MEMORY(R14, PLACE_AT, 64));
    struct label loop = host_loop_begin(code);
    ASSEMBLE(code, ADD, REG(R8), IMMEDIATE(NEXT_PAGE));
    ASSEMBLE(code, AND, REG(R8D), IMMEDIATE((new ? NEW_BYTES : OLD_BYTES) - 1));
    ASSEMBLE(code, LEA, REG(RAX), MEMORY(R14, FIRST_PAGE, 64));
    ASSEMBLE(code, ADD, REG(RAX), REG(R8));
    ASSEMBLE(code, ADD, REG(RAX), REG(RDX));
    if (new)
        ASSEMBLE(code, MOV, MEMORY(RAX, 8, 64), REG(RDX));
    ASSEMBLE(code, MOV, REG(ESI), REG(EDX));
    ASSEMBLE(code, MOV, REG(EDI), IMMEDIATE(LOADS));
    struct label next = assembler_here(code);
    ASSEMBLE(code, LEA, REG(ESI),
             operand_memory(ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RSI, 4, 17, 64));
    ASSEMBLE(code, ADD, REG(ESI), REG(EDX));
    ASSEMBLE(code, AND, REG(ESI), IMMEDIATE(many ? LINES - 1 : 0));
    ASSEMBLE(code, MOV, REG(ECX), REG(ESI));
    ASSEMBLE(code, SHL, REG(ECX), IMMEDIATE(LINE_SHIFT));
    ASSEMBLE(code, MOV, REG(RDX), operand_memory(ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_RCX, 1, 0, 64));
    ASSEMBLE(code, DEC, REG(EDI));
    assembler_branch(code, ZYDIS_MNEMONIC_JNZ, &next);
    host_loop_end(code, &loop);
    ASSEMBLE(code, MOV, MEMORY(R14, PLACE_AT, 64), REG(R8));
}

static void conclude(struct calibration *calibration, const struct host_result results[KINDS]) {
    struct finding away = {.what = "line of a new page, later by", .unit = "cycles"};
    struct finding memory = {.what = "line of an old page, later by", .unit = "cycles"};
    struct finding cleared = {
        .key = "l1d.cleared_pages", .what = "lines of new pages are there", .unit = ""};
    if (finding_rests_on(&away, &results[NEW_MANY], 2)) {
        away.value = (results[NEW_MANY].cycles - results[NEW_ONE].cycles) / LOADS;
        away.spread /= LOADS;
    }
    if (finding_rests_on(&memory, &results[OLD_MANY], 2)) {
        memory.value = (results[OLD_MANY].cycles - results[OLD_ONE].cycles) / LOADS;
        memory.spread /= LOADS;
    }
    if (finding_rests_on(&cleared, results, KINDS)) {
        cleared.spread = 0;
        cleared.word = away.value < THERE * memory.value ? "yes" : "no";
        if (memory.value < LEAST) {
            cleared.state = FINDING_UNKNOWN;
            snprintf(cleared.note, sizeof cleared.note, "lines of old pages are there, too");
        } else if (away.value >= THERE * memory.value && away.value < AWAY * memory.value) {
            cleared.state = FINDING_UNKNOWN;
            snprintf(cleared.note, sizeof cleared.note, "some are, or are in an outer cache");
        }
    }
    calibration_found(calibration, &away);
    calibration_found(calibration, &memory);
    calibration_found(calibration, &cleared);
}

static bool run(struct calibration *calibration, struct error *error) {
    struct host_data data[KINDS];
    struct kernel_list list = {0};
    for (enum kind kind = 0; kind < KINDS; kind++) {
        const bool new = kind < OLD_MANY;
        data[kind] = (struct host_data){.size = FIRST_PAGE + (new ? NEW_BYTES : OLD_BYTES),
                                        .huge_pages = !new,
                                        .untouched = new};
        add_kernel(&list, &data[kind], new, kind == NEW_MANY || kind == OLD_MANY);
    }
    const bool good = calibration_measure_fastest(calibration, &list, error);
    if (good)
        conclude(calibration, list.results);
    kernel_list_free(&list);
    return good;
}

static const char *const KEYS[] = {"l1d.cleared_pages", NULL};
const struct calibrate_part calibrate_pages = {
    .name = "pages",
    .measures = "lines of a page that is stored to for the first time",
    .keys = KEYS,
    .run = run};
