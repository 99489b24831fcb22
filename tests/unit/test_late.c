/* Skid, and samples that are put back by it: worked by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/late.h"
#include "calibrate/skid.h"
#include "temporary.h"

#define DMISS (1U << STALL_DMISS)

/* ---- skid ---- */

static struct skid skid_of(unsigned distance, double share, unsigned other) {
    struct skid skid = {.samples = 1000};
    skid.shares[distance] += share;
    skid.shares[other] += 1 - share;
    return skid;
}

static void window_is_the_narrowest(void **state) {
    (void)state;
    struct skid skid = skid_of(1, 0.97, 30);
    struct skid_window window = skid_window(&skid);
    assert_int_equal(window.least, 1);
    assert_int_equal(window.most, 1);
    assert_float_equal(window.share, 0.97, 1e-12);
    assert_int_equal(skid_median(&skid), 1);

    skid = skid_of(2, 0.6, 4); /* 60 % at 2, 40 % at 4: both are needed */
    window = skid_window(&skid);
    assert_int_equal(window.least, 2);
    assert_int_equal(window.most, 4);
    assert_float_equal(window.share, 1, 1e-12);
    assert_int_equal(skid_median(&skid), 2);

    skid = skid_of(SKID_MOST, 1, 0);
    assert_int_equal(skid_window(&skid).least, SKID_MOST);
    assert_int_equal(skid_median(&skid), SKID_MOST);
}

/* 15 of 16 equal shares are 93.75 %, 14 are 87.5 %. */
static void assumed_is_wide(void **state) {
    (void)state;
    const struct skid skid = skid_assumed();
    const struct skid_window window = skid_window(&skid);
    assert_int_equal(skid.samples, 0);
    assert_int_equal(window.least, 0);
    assert_int_equal(window.most, 14);
    assert_int_equal(skid_median(&skid), 7);
}

static void kept_in_a_file(void **state) {
    (void)state;
    struct skid skid = skid_of(1, 0.75, 3), read;
    char folder[TEMPORARY_BYTES], file[TEMPORARY_BYTES + 32];
    assert_non_null(mkdtemp(temporary_name(folder, "skid")));
    snprintf(file, sizeof file, "%s/skid", folder);
    assert_false(skid_read(file, &read));
    assert_true(skid_write(file, &skid));
    assert_true(skid_read(file, &read));
    assert_int_equal(read.samples, 1000);
    assert_memory_equal(read.shares, skid.shares, sizeof skid.shares);
    assert_int_equal(chmod(file, 0666), 0); /* anybody can have written it */
    assert_false(skid_read(file, &read));
    assert_int_equal(chmod(file, 0600), 0);
    static const char *const BAD[] = {"", "culprit skid 2\n1\n", "culprit skid 1\n5\n0.5 nan",
                                      "culprit skid 1\n5\n1 0 0"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        FILE *out = fopen(file, "w");
        assert_non_null(out);
        fputs(BAD[i], out);
        assert_int_equal(fclose(out), 0);
        assert_false(skid_read(file, &read));
    }
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* ---- placing ---- */

enum { INSNS_MOST = 16, CODE_MOST = 64 };

struct placed {
    struct cfg cfg;
    struct late late;
};

static void place(struct placed *placed, const uint8_t *bytes, size_t size, struct skid skid,
                  const double *cycles, double period, const uint32_t *possible) {
    static struct procedure_code code;
    struct error error = {0};
    code = (struct procedure_code){.isa = ISA_X86_64, .bytes = bytes, .size = size};
    assert_true(cfg_build(&placed->cfg, &code, &error));
    assert_true(placed->cfg.insn_count <= CODE_MOST);
    if (!late_place(&placed->late, &placed->cfg, &skid, cycles, period, possible, &error))
        fail_msg("%s", error.message);
}

static void forget(struct placed *placed) {
    late_free(&placed->late);
    cfg_free(&placed->cfg);
}

static void assert_cycles(struct late_cycles cycles, double likely, double least, double most) {
    assert_float_equal(cycles.likely, likely, 1e-9);
    assert_float_equal(cycles.least, least, 1e-9);
    assert_float_equal(cycles.most, most, 1e-9);
}

/* 0 mov rax, [rax]; 1 add rcx, 1; 2 sub rsi, 1; 3 jne 0; 4 ret */
static const uint8_t CHASE[] = {0x48, 0x8b, 0x00, 0x48, 0x83, 0xc1, 0x01,
                                0x48, 0x83, 0xee, 0x01, 0x75, 0xf3, 0xc3};
static const uint32_t CHASE_CAUSES[INSNS_MOST] = {DMISS};

/* Each sample lies one instruction behind the one that waits. The four at the load are of the
 * branch, or of the caller: the block has 100 / 4 samples an instruction, the background is 100 / 5
 * / 1000 = 0.02, so ways weigh 25.02 and 0.02. The branch may be one operation with the
 * subtraction, which then may have them as well. */
static void one_behind(void **state) {
    (void)state;
    static const double CYCLES[INSNS_MOST] = {4, 90, 6};
    struct placed placed;
    place(&placed, CHASE, sizeof CHASE, skid_of(1, 1, 0), CYCLES, 0, CHASE_CAUSES);
    const struct late *late = &placed.late;
    const double back = 4 * 25.02 / 25.04;
    assert_float_equal(late->total, 100, 1e-9);
    assert_cycles(late->insns[0], 90, 90, 90);
    assert_cycles(late->insns[1], 6, 6, 6);
    assert_cycles(late->insns[2], 0, 0, 4);
    assert_cycles(late->insns[3], back, 0, 4);
    assert_cycles(late->elsewhere, 4 - back, 0, 4);
    assert_cycles(late->blocks[0], 96 + back, 96, 100);
    /* The load missed, or it did not; the addition did not. */
    assert_float_equal(late->ranges[STALL_DMISS].least, 0, 1e-9);
    assert_float_equal(late->ranges[STALL_DMISS].most, 90, 1e-9);
    assert_float_equal(late->ranges[STALL_NONE].least, 6, 1e-9);
    assert_float_equal(late->ranges[STALL_NONE].most, 100, 1e-9);
    assert_float_equal(late->ranges[STALL_IMISS].most, 0, 1e-9);
    forget(&placed);
}

/* Two distances as likely: at the subtraction, of the addition or the load. */
static void two_distances(void **state) {
    (void)state;
    static const double CYCLES[INSNS_MOST] = {[2] = 100};
    struct placed placed;
    place(&placed, CHASE, sizeof CHASE, skid_of(1, 0.5, 2), CYCLES, 0, CHASE_CAUSES);
    const struct late *late = &placed.late;
    assert_cycles(late->insns[0], 50, 0, 100);
    assert_cycles(late->insns[1], 50, 0, 100);
    assert_cycles(late->blocks[0], 100, 100, 100);
    assert_float_equal(late->ranges[STALL_DMISS].most, 100, 1e-9);
    assert_float_equal(late->ranges[STALL_NONE].least, 0, 1e-9);
    forget(&placed);
}

/* Of 100 samples 5 are beyond the window and may be of anything, and the error of sampling of n is
 * 2 √n. At the addition: 95 of the load. */
static void beyond_the_window(void **state) {
    (void)state;
    static const double CYCLES[INSNS_MOST] = {0, 50, 50};
    struct placed placed;
    place(&placed, CHASE, sizeof CHASE, skid_of(1, 0.95, 20), CYCLES, 1, CHASE_CAUSES);
    const struct late *late = &placed.late;
    assert_float_equal(late->window.share, 0.95, 1e-9);
    assert_float_equal(late->ranges[STALL_DMISS].most, 55 + 2 * sqrt(55), 1e-9);
    assert_float_equal(late->ranges[STALL_NONE].least, 45 - 2 * sqrt(45), 1e-9);
    assert_float_equal(late->ranges[STALL_NONE].most, 100, 1e-9);
    assert_float_equal(late->ranges[STALL_IMISS].most, 0, 1e-9); /* possible nowhere */
    forget(&placed);
}

/* 0 add rcx, 1; 1 call; 2 add rcx, 1; 3 rep movsb; 4 ret. Behind the call, of the callee; what
 * repeats is interrupted within. */
static void calls_and_repetitions(void **state) {
    (void)state;
    static const uint8_t CODE[] = {0x48, 0x83, 0xc1, 0x01, 0xe8, 0,    0x10, 0,
                                   0,    0x48, 0x83, 0xc1, 0x01, 0xf3, 0xa4, 0xc3};
    static const double CYCLES[INSNS_MOST] = {0, 10, 20, 40, 0};
    static const uint32_t NONE[INSNS_MOST];
    struct placed placed;
    place(&placed, CODE, sizeof CODE, skid_of(1, 1, 0), CYCLES, 0, NONE);
    const struct late *late = &placed.late;
    assert_int_equal(placed.cfg.insn_count, 5);
    assert_cycles(late->insns[0], 10, 10, 10);
    assert_cycles(late->elsewhere, 20, 20, 20);
    assert_cycles(late->insns[2], 0, 0, 0);
    assert_cycles(late->insns[3], 40, 40, 40);
    /* The callee's are not of the procedure. */
    assert_float_equal(late->ranges[STALL_NONE].most, 50, 1e-9);
    forget(&placed);
}

/* 0 test rdi, rdi; 1 je 4; 2 mov rax, [rdi]; 3 jmp 5; 4 add rcx, 1; 5 ret. At the return, of the
 * jump or of the addition, by how many samples there are where each leads from: none at the
 * addition's block, 60 / 2 at the load's, and 90 / 6 / 1000 for both. */
static void ways_meet(void **state) {
    (void)state;
    static const uint8_t CODE[] = {0x48, 0x85, 0xff, 0x74, 0x05, 0x48, 0x8b, 0x07,
                                   0xeb, 0x04, 0x48, 0x83, 0xc1, 0x01, 0xc3};
    static const double CYCLES[INSNS_MOST] = {0, 0, 0, 60, 0, 30};
    static const uint32_t CAUSES[INSNS_MOST] = {0, 0, DMISS};
    struct placed placed;
    place(&placed, CODE, sizeof CODE, skid_of(1, 1, 0), CYCLES, 0, CAUSES);
    const struct late *late = &placed.late;
    const double background = 1e-3 * 90 / 6, jump = 30 * (30 + background) / (30 + 2 * background);
    assert_int_equal(placed.cfg.insn_count, 6);
    assert_cycles(late->insns[2], 60, 60, 60);
    assert_cycles(late->insns[3], jump, 0, 30);
    assert_cycles(late->insns[4], 30 - jump, 0, 30);
    assert_cycles(late->blocks[1], 60 + jump, 60, 90);
    assert_cycles(late->blocks[2], 30 - jump, 0, 30);
    forget(&placed);
}

/* 40 jumps to one return: too many ways, so that its samples may be of anything. */
static void too_many_ways(void **state) {
    (void)state;
    enum { JUMPS = 40 };
    static uint8_t code[2 * JUMPS + 1];
    static double cycles[JUMPS + 1];
    static uint32_t causes[JUMPS + 1];
    for (unsigned i = 0; i < JUMPS; i++) {
        code[2 * i] = 0x74;
        code[2 * i + 1] = (uint8_t)(2 * (JUMPS - 1 - i));
    }
    code[2 * JUMPS] = 0xc3;
    cycles[JUMPS] = 82;
    causes[3] = DMISS;
    struct placed placed;
    place(&placed, code, sizeof code, skid_of(1, 1, 0), cycles, 0, causes);
    const struct late *late = &placed.late;
    assert_int_equal(placed.cfg.insn_count, JUMPS + 1);
    for (uint32_t i = 0; i <= JUMPS; i++)
        assert_cycles(late->insns[i], 2, 0, 82);
    assert_cycles(late->elsewhere, 0, 0, 82);
    assert_float_equal(late->ranges[STALL_DMISS].most, 82, 1e-9);
    assert_float_equal(late->ranges[STALL_NONE].least, 0, 1e-9);
    forget(&placed);
}

/* A load compared: what the branch that is fused with it waits for is the load's. */
static void fused(void **state) {
    (void)state;
    /* 0 cmp [rdi], rax; 1 je 3; 2 nop; 3 ret */
    static const uint8_t CODE[] = {0x48, 0x39, 0x07, 0x74, 0x01, 0x90, 0xc3};
    static const double CYCLES[INSNS_MOST] = {0, 0, 70};
    static const uint32_t CAUSES[INSNS_MOST] = {DMISS};
    struct placed placed;
    place(&placed, CODE, sizeof CODE, skid_of(1, 1, 0), CYCLES, 0, CAUSES);
    const struct late *late = &placed.late;
    assert_cycles(late->insns[1], 70, 0, 70);
    assert_cycles(late->insns[0], 0, 0, 70);
    assert_int_equal(late->causes[1], DMISS | 1U << STALL_NONE);
    assert_float_equal(late->ranges[STALL_DMISS].most, 70, 1e-9);
    assert_cycles(late->blocks[0], 70, 70, 70);
    forget(&placed);
}

/* Whatever the skid and the samples: nothing is lost, and what is likely lies within its range. */
static void sums(void **state) {
    (void)state;
    static const double CYCLES[INSNS_MOST] = {3, 1, 4, 1, 5};
    for (unsigned distance = 0; distance <= SKID_MOST; distance++) {
        struct placed placed;
        place(&placed, CHASE, sizeof CHASE, skid_of(distance, 0.8, SKID_MOST - distance), CYCLES, 0,
              CHASE_CAUSES);
        const struct late *late = &placed.late;
        double likely = late->elsewhere.likely, least = late->elsewhere.least;
        for (uint32_t i = 0; i < placed.cfg.insn_count; i++) {
            likely += late->insns[i].likely;
            least += late->insns[i].least;
            assert_true(late->insns[i].least <= late->insns[i].likely + 1e-9);
            assert_true(late->insns[i].likely <= late->insns[i].most + 1e-9);
        }
        assert_float_equal(likely, 14, 1e-9);
        assert_true(least <= 14 + 1e-9);
        for (unsigned cause = 0; cause < STALL_CAUSES; cause++)
            assert_true(late->ranges[cause].least <= late->ranges[cause].most + 1e-9);
        forget(&placed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_is_the_narrowest),
        cmocka_unit_test(assumed_is_wide),
        cmocka_unit_test(kept_in_a_file),
        cmocka_unit_test(one_behind),
        cmocka_unit_test(two_distances),
        cmocka_unit_test(beyond_the_window),
        cmocka_unit_test(calls_and_repetitions),
        cmocka_unit_test(ways_meet),
        cmocka_unit_test(too_many_ways),
        cmocka_unit_test(fused),
        cmocka_unit_test(sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
