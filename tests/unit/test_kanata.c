/* The Konata log of hand-made life records, to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "memory/memory.h"
#include "packed_life.h"
#include "report/kanata.h"

static struct static_insn insns[] = {
    {.address = 0x401000, .length = 1, .bytes = {0x90}},       /* nop */
    {.address = 0x401001, .length = 2, .bytes = {0x8b, 0x07}}, /* mov eax, [rdi] */
};
static const struct code CODE = {.isa = ISA_X86_64, .insns = insns, .insn_count = 2};

static struct life life_of(uint64_t uop, uint32_t insn) {
    struct life life = {.uop = uop, .insn_number = uop, .insn = insn, .flags = LIFE_LAST};
    life.store_producer = life.bringer = UINT64_MAX;
    for (int i = 0; i < UOP_MAX_SOURCES + 1; i++)
        life.producer[i] = UINT64_MAX;
    return life;
}

/* As the tap gives it. */
static void show(struct kanata *kanata, const struct life *life) {
    struct packed_life packed = pack_by_hand(life);
    struct tap_buffer buffer = {.lives = &packed, .life_count = 1};
    struct tap_worker worker = kanata_worker(kanata);
    struct error error;
    assert_true(worker.consume(worker.context, &buffer, &error));
}

static void expect(struct kanata *kanata, const char *expected) {
    char *text;
    size_t size;
    struct error error;
    FILE *file = open_memstream(&text, &size);
    assert_true(kanata_write(kanata, &CODE, file, &error));
    fclose(file);
    assert_string_equal(text, expected);
    free(text);
    kanata_free(kanata);
}

/* A no-op that only passes through, and a load that waits for a unit, misses, and depends on it.
 *
 *            cycle 10 11 12 13 14 15 16 17 18
 *   nop            F  .  Ds .  R                   (ready, issued and complete in 12)
 *   load           F  .  Ds Rd Ex .  .  Cm R       */
static void two_uops(void **state) {
    (void)state;
    struct kanata *kanata = kanata_new(0, 100);
    struct life nop = life_of(7, 0), load = life_of(8, 1);
    nop.fetch = 10, nop.dispatch = nop.ready = nop.issue = 12, nop.complete = 12, nop.commit = 14;
    load.fetch = 10, load.dispatch = 12, load.ready = 13, load.issue = 14, load.complete = 17;
    load.commit = 18, load.operation = OP_LOAD, load.memory_level = LEVEL_L2;
    load.psv = PSV_ST_L1, load.l1_latency = 1, load.miss_latency = 2, load.producer[0] = 7;
    show(kanata, &nop);
    show(kanata, &load);
    assert_int_equal(kanata_count(kanata), 2);
    expect(kanata, "Kanata\t0004\n"
                   "C=\t10\n"
                   "I\t0\t7\t0\n"
                   "L\t0\t0\t401000: nop\n"
                   "L\t0\t1\tinstruction 7, events Base\n"
                   "S\t0\t0\tF\n"
                   "I\t1\t8\t0\n"
                   "L\t1\t0\t401001: mov eax, dword ptr [rdi]\n"
                   "L\t1\t1\tinstruction 8, events ST-L1, L2, 1 cycles in L1 and 2 beyond\n"
                   "S\t1\t0\tF\n"
                   "C\t2\n"
                   "E\t0\t0\tF\n"
                   "S\t0\t0\tCm\n"
                   "E\t1\t0\tF\n"
                   "S\t1\t0\tDs\n"
                   "C\t1\n"
                   "E\t1\t0\tDs\n"
                   "S\t1\t0\tRd\n"
                   "C\t1\n"
                   "E\t0\t0\tCm\n"
                   "R\t0\t0\t0\n"
                   "E\t1\t0\tRd\n"
                   "W\t1\t0\t0\n"
                   "S\t1\t0\tEx\n"
                   "C\t3\n"
                   "E\t1\t0\tEx\n"
                   "S\t1\t0\tCm\n"
                   "C\t1\n"
                   "E\t1\t0\tCm\n"
                   "R\t1\t1\t0\n");
}

/* A load squashed after it was issued (it has no commit), fetched again and committed. */
static void squashed_and_fetched_again(void **state) {
    (void)state;
    struct kanata *kanata = kanata_new(0, 100);
    struct life first = life_of(3, 0), again = life_of(3, 0);
    first.fetch = 1, first.dispatch = 2, first.ready = first.issue = 3;
    first.flags |= LIFE_FLUSHED, first.complete = UINT64_MAX; /* never */
    again.fetch = 5, again.dispatch = again.ready = again.issue = 6, again.complete = 7;
    again.commit = 8;
    show(kanata, &first);
    show(kanata, &again);
    expect(kanata, "Kanata\t0004\n"
                   "C=\t1\n"
                   "I\t0\t3\t0\n"
                   "L\t0\t0\t401000: nop\n"
                   "L\t0\t1\tinstruction 3, events Base\n"
                   "S\t0\t0\tF\n"
                   "C\t1\n"
                   "E\t0\t0\tF\n"
                   "S\t0\t0\tDs\n"
                   "C\t1\n"
                   "E\t0\t0\tDs\n"
                   "R\t0\t0\t1\n"
                   "C\t2\n"
                   "I\t1\t3\t0\n"
                   "L\t1\t0\t401000: nop\n"
                   "L\t1\t1\tinstruction 3, events Base\n"
                   "S\t1\t0\tF\n"
                   "C\t1\n"
                   "E\t1\t0\tF\n"
                   "S\t1\t0\tEx\n"
                   "C\t1\n"
                   "E\t1\t0\tEx\n"
                   "S\t1\t0\tCm\n"
                   "C\t1\n"
                   "E\t1\t0\tCm\n"
                   "R\t1\t0\t0\n");
}

static void window_keeps_what_overlaps(void **state) {
    (void)state;
    struct kanata *kanata = kanata_new(100, 10);
    struct life life = life_of(1, 0);
    static const struct {
        uint64_t fetch, commit;
        uint64_t kept;
    } cases[] = {{90, 99, 0}, {90, 100, 1}, {109, 200, 2}, {110, 120, 2}, {50, 500, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        life.fetch = life.dispatch = life.ready = life.issue = life.complete = cases[i].fetch;
        life.commit = cases[i].commit;
        show(kanata, &life);
        assert_int_equal(kanata_count(kanata), cases[i].kept);
    }
    kanata_free(kanata);
    expect(kanata_new(5, 1), "Kanata\t0004\nC=\t5\n");
}

/* The first µop is fetched in cycle 2500, so the window is [2500, 2510). */
static void window_begins_with_the_first(void **state) {
    (void)state;
    struct kanata *kanata = kanata_new(KANATA_FIRST, 10);
    struct life life = life_of(1, 0);
    static const struct { uint64_t fetch, kept; } cases[] = {{2500, 1}, {2509, 2}, {2510, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        life.fetch = life.dispatch = life.ready = life.issue = cases[i].fetch;
        life.complete = life.commit = 2600;
        show(kanata, &life);
        assert_int_equal(kanata_count(kanata), cases[i].kept);
    }
    kanata_free(kanata);
    expect(kanata_new(KANATA_FIRST, 1), "Kanata\t0004\nC=\t0\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_uops),
        cmocka_unit_test(squashed_and_fetched_again),
        cmocka_unit_test(window_keeps_what_overlaps),
        cmocka_unit_test(window_begins_with_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
