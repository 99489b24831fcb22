/* What a repeated string instruction takes however little it moves (core.string_start): its
 * microcode comes from another place than decoded instructions, and nothing else is renamed
 * meanwhile (Fog, microarchitecture.pdf).
 *
 * So many no-ops that they fill the slots for longer than what else there may be to wait for, with
 * a store of 12 words behind them, or with what it does besides, two lines written and two
 * registers stepped. What that takes more is its own. Stores and moves of bytes, which some
 * processors do faster, are reported. */
#include <math.h>

#include "calibrate/parts.h"

enum { FILLERS = 120, MOVED = 96 };
enum { NONE, STORE_WORDS, STORE_BYTES, MOVE_WORDS, MOVE_BYTES, KINDS };

static const struct host_data DATA = {.size = 4096};

static void add_kernel(struct kernel_list *list, unsigned kind) {
    static const ZydisMnemonic MNEMONICS[KINDS] = {ZYDIS_MNEMONIC_INVALID, ZYDIS_MNEMONIC_STOSQ,
                                                   ZYDIS_MNEMONIC_STOSB, ZYDIS_MNEMONIC_MOVSQ,
                                                   ZYDIS_MNEMONIC_MOVSB};
    const bool bytes = kind == STORE_BYTES || kind == MOVE_BYTES;
    const struct host_kernel kernel = {.data = &DATA, .iterations = 200};
    struct assembler *code = kernel_list_add(list, &kernel);
    ASSEMBLE(code, XOR, REG(EAX), REG(EAX));
    struct label loop = host_loop_begin(code);
    ASSEMBLE(code, MOV, REG(RDI), REG(R14));
    ASSEMBLE(code, LEA, REG(RSI), MEMORY(R14, 2048, 64));
    ASSEMBLE(code, MOV, REG(ECX), IMMEDIATE(bytes ? MOVED : MOVED / 8));
    if (kind == NONE) {
        ASSEMBLE(code, MOV, MEMORY(R14, 0, 64), REG(RAX));
        ASSEMBLE(code, MOV, MEMORY(R14, 64, 64), REG(RAX));
        ASSEMBLE(code, LEA, REG(RDI), MEMORY(R14, MOVED, 64));
        ASSEMBLE(code, XOR, REG(ECX), REG(ECX));
    } else {
        const ZydisEncoderRequest request = {.mnemonic = MNEMONICS[kind],
                                             .prefixes = ZYDIS_ATTRIB_HAS_REP};
        assembler_request(code, &request);
    }
    assembler_nops(code, FILLERS);
    host_loop_end(code, &loop);
}

static void report(struct calibration *calibration, const struct host_result *results) {
    static const char *const WHAT[KINDS] = {
        NULL, "a repeated store of 12 words, besides", "a repeated store of 96 bytes, besides",
        "a repeated move of 12 words, besides", "a repeated move of 96 bytes, besides"};
    for (unsigned kind = STORE_WORDS; kind < KINDS; kind++) {
        struct finding finding = {.key = kind == STORE_WORDS ? "core.string_start" : NULL,
                                  .what = WHAT[kind],
                                  .unit = "cycles"};
        const struct host_result pair[] = {results[NONE], results[kind]};
        if (finding_rests_on(&finding, pair, 2)) {
            finding.value = fmax(0, round(pair[1].cycles - pair[0].cycles));
            finding.word = finding.value > 0 ? NULL : "0";
        }
        calibration_found(calibration, &finding);
    }
}

static bool run(struct calibration *calibration, struct error *error) {
    struct kernel_list list = {0};
    for (unsigned kind = 0; kind < KINDS; kind++)
        add_kernel(&list, kind);
    const bool good = calibration_measure_fastest(calibration, &list, error);
    if (good)
        report(calibration, list.results);
    kernel_list_free(&list);
    return good;
}

static const char *const KEYS[] = {"core.string_start", NULL};
const struct calibrate_part calibrate_strings = {
    .name = "strings", .measures = "repeated string instructions", .keys = KEYS, .run = run};
