/* Stores of a part of a word (core.partial_store): a cache that checks words of 4 bytes reads the
 * word first, and a store to it shortly before makes it wait.
 *
 * Stores by turns to 1 to 8 lines, as many in each kernel, of which the last writes a byte or 8 of
 * them. What the byte takes more, by round, is the wait; the most lines with which it waits, each
 * written in a cycle of its own, is how long ago the word may have been written. Two at least,
 * since stores to one block that follow each other may be written together. */
#include <math.h>
#include <stdio.h>

#include "calibrate/parts.h"

enum { ROUNDS = 24, MOST = 8, KINDS = 2 };

static const struct host_data DATA = {.size = 4096};

static void add_kernel(struct kernel_list *list, unsigned lines, bool whole) {
    const struct host_kernel kernel = {.data = &DATA, .iterations = 60};
    struct assembler *code = kernel_list_add(list, &kernel);
    ASSEMBLE(code, XOR, REG(ECX), REG(ECX));
    struct label loop = host_loop_begin(code);
    for (unsigned i = 0; i < ROUNDS * lines; i++) {
        const int64_t offset = 64 * (i % lines);
        if (i % lines + 1 < lines || whole)
            ASSEMBLE(code, MOV, MEMORY(R14, offset, 64), REG(RCX));
        else
            ASSEMBLE(code, MOV, MEMORY(R14, offset, 8), REG(CL));
    }
    host_loop_end(code, &loop);
}

/* By number of lines, from two on: a byte, all of a word. */
static double wait_of(const struct host_result *results, unsigned lines) {
    const struct host_result *pair = &results[KINDS * (lines - 2)];
    return (pair[0].cycles - pair[1].cycles) / ROUNDS;
}

static void report(struct calibration *calibration, const struct host_result *results) {
    struct finding wait = {.key = "core.partial_store",
                           .what = "a byte to a word just written, besides",
                           .unit = "cycles"};
    struct finding recent = {
        .key = "core.partial_store_recent", .what = "just: so long before", .unit = "cycles"};
    const bool known = finding_rests_on(&wait, results, KINDS * (MOST - 1));
    if (known) {
        wait.value = fmax(0, round(wait_of(results, 2)));
        wait.word = wait.value > 0 ? NULL : "0";
        wait.spread *= 2.0 / ROUNDS;
    }
    calibration_found(calibration, &wait);
    if (!known || !(wait.value > 0))
        return;
    unsigned lines = 2;
    while (lines < MOST && wait_of(results, lines + 1) > wait.value / 2)
        lines++;
    recent.value = lines;
    if (lines == MOST) {
        recent.state = FINDING_UNKNOWN;
        snprintf(recent.note, sizeof recent.note, "%d or more", MOST);
    }
    calibration_found(calibration, &recent);
}

static bool run(struct calibration *calibration, struct error *error) {
    struct kernel_list list = {0};
    for (unsigned lines = 2; lines <= MOST; lines++)
        for (unsigned whole = 0; whole < KINDS; whole++)
            add_kernel(&list, lines, whole);
    const bool good = calibration_measure_fastest(calibration, &list, error);
    if (good)
        report(calibration, list.results);
    kernel_list_free(&list);
    return good;
}

static const char *const KEYS[] = {"core.partial_store", "core.partial_store_recent", NULL};
const struct calibrate_part calibrate_words = {
    .name = "words", .measures = "stores of a part of a word", .keys = KEYS, .run = run};
