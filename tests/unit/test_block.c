/* Basic blocks as kernels: what is run of them, what is refused, that hostile ones cannot hurt, and
 * what they cost on a simulated machine. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/block.h"
#include "calibrate/simulated.h"
#include "host/native.h"

#if defined __x86_64__
enum { NATIVE = 1 };
#else
enum { NATIVE = 0 };
#endif

static const struct watcher nobody = {0};

static void need_native(void) {
    if (!NATIVE) {
        print_message("this processor is not x86-64\n");
        skip();
    }
}

static size_t bytes_of(const char *hex, uint8_t *bytes) {
    unsigned byte;
    int used;
    size_t size = 0;
    for (; sscanf(hex, " %2x%n", &byte, &used) == 1; hex += used)
        bytes[size++] = (uint8_t)byte;
    return size;
}

static struct block block_of(const char *hex, uint64_t address) {
    uint8_t bytes[2 * BLOCK_MOST_BYTES];
    struct block block;
    block_read(&block, bytes, bytes_of(hex, bytes), address);
    return block;
}

/* ---- reading ---- */

static void is_run_as(const char *hex, uint64_t address, const char *run, unsigned instructions) {
    uint8_t expected[BLOCK_MOST_BYTES];
    const size_t size = bytes_of(run, expected);
    const struct block block = block_of(hex, address);
    assert_string_equal(block.failure, "");
    assert_int_equal(block.instructions, instructions);
    assert_int_equal(block.size, size);
    assert_memory_equal(block.code, expected, size);
}

static void a_branch_at_the_end_is_left_out(void **state) {
    (void)state;
    is_run_as("48 01 d8  74 10", 0, "48 01 d8", 1);             /* add rax, rbx; jz */
    is_run_as("48 01 d8  ff 15 00 00 00 00", 0, "48 01 d8", 1); /* call [rip] */
    is_run_as("48 01 d8  c3", 0, "48 01 d8", 1);
}

/* The page is 0x72345000; what followed the instruction at 0x4ff0 + 7 by 0x20 bytes lay at 0x017 in
 * its own. */
static void addresses_are_moved_into_the_page(void **state) {
    (void)state;
    is_run_as("48 8b 05 20 00 00 00", 0x4ff0, "48 8b 04 25 17 50 34 72", 1);
    /* cmp dword [rip + 8], 5 at 0x100: 7 bytes, the last an immediate; 0x100 + 7 + 8. */
    is_run_as("83 3d 08 00 00 00 05", 0x100, "83 3c 25 0f 51 34 72 05", 1);
    /* vmovdqa ymm0, [rip + 0x10] of 8 bytes at 8: 0x20 */
    is_run_as("c5 fd 6f 05 10 00 00 00", 8, "c5 fd 6f 04 25 20 50 34 72", 1);
    is_run_as("64 48 8b 04 25 28 00 00 00", 0, "48 8b 04 25 28 50 34 72", 1); /* fs:[0x28] */
    is_run_as("64 48 8b 40 10", 0, "48 8b 40 10", 1);                         /* fs:[rax + 16] */
    is_run_as("48 8b 04 25 00 00 00 10", 0, "48 8b 04 25 00 00 00 10", 1); /* no segment: stays */
}

static void is_refused(const char *hex, const char *why) {
    const struct block block = block_of(hex, 0);
    assert_string_equal(block.failure, why);
}

static void what_cannot_be_run_is_refused(void **state) {
    char many[4 * BLOCK_MOST_BYTES] = "";
    (void)state;
    is_refused("0f 05", "calls the system, or needs its rights");          /* syscall */
    is_refused("0f 34", "calls the system, or needs its rights");          /* sysenter */
    is_refused("cd 80", "calls the system, or needs its rights");          /* int 0x80 */
    is_refused("cc", "calls the system, or needs its rights");             /* int3 */
    is_refused("f3 48 0f ae d0", "calls the system, or needs its rights"); /* wrfsbase rax */
    is_refused("f4", "calls the system, or needs its rights");             /* hlt */
    is_refused("eb fe", "has no instruction but a branch");                /* jmp $ */
    is_refused("eb fe 90", "is left before its end");
    is_refused("48 01 d8 e8 00 00 00 00 48 01 d8", "is left before its end");
    is_refused("48", "has bytes that are no instruction");
    is_refused("", "has no instruction but a branch");
    is_refused("d8 c1", "uses registers of the x87 unit, which count the iterations");
    is_refused("0f ef f8", "uses registers of the x87 unit, which count the iterations");
    is_refused("0f 77", "uses registers of the x87 unit, which count the iterations");
    for (unsigned i = 0; i <= BLOCK_MOST_INSTRUCTIONS; i++)
        strcat(many, "90 ");
    is_refused(many, "is too long");
}

/* 600 instructions in a row, or as many as 12 KiB hold. */
static void copies_fill_the_window(void **state) {
    (void)state;
    assert_int_equal(block_of("48 01 d8", 0).copies[0], 100);
    assert_int_equal(
        block_of("48 01 d8 48 01 d8 48 01 d8 48 01 d8 48 01 d8 48 01 d8 48 01 d8", 0).copies[0],
        86); /* 600 / 7 */
    assert_int_equal(block_of("48 01 d8", 0).copies[1], 200);
}

/* ---- running ---- */

static void ends_with(const char *hex, const char *how) {
    struct error error;
    struct block block = block_of(hex, 0);
    assert_string_equal(block.failure, "");
    if (!blocks_place(&block, 1, &nobody, &error))
        fail_msg("%s", error.message);
    if (strncmp(block.failure, how, *how ? strlen(how) : 1))
        fail_msg("%s: %s", hex, block.failure);
}

static void hostile_blocks_cannot_hurt(void **state) {
    (void)state;
    need_native();
    ends_with("0f 0b", "has an instruction that this processor does not know"); /* ud2 */
    /* Over its own code, in the child's memory, in the kernel's, nowhere: */
    ends_with("48 89 04 25 00 00 00 10", "reads or writes memory that it does not have");
    ends_with("48 89 04 25 00 00 00 00", "reads or writes memory that it does not have");
    ends_with("48 89 04 25 00 00 00 ff", "reads or writes memory that it does not have");
    ends_with("48 b8 00 00 00 00 00 00 00 80 48 8b 00", "reads or writes memory that it does not");
    ends_with("48 31 c9 48 f7 f1", "divides by zero"); /* xor rcx, rcx; div rcx */
    /* rep stosb of 0x72345600 bytes */
    ends_with("f3 aa", "touches more pages than it can have");
    ends_with("9d", ""); /* popf of BLOCK_VALUE: backwards, alignment checked, no trap */
    ends_with("68 00 01 00 00 9d", "ends in a trap"); /* push 0x100; popf: single steps */
    ends_with("48 31 e4 50",
              "reads or writes memory that it does not have"); /* xor rsp, rsp; push */
}

/* Pages where the block wants them: add rax, 8192 goes to two pages more with every copy. */
static void pages_are_found(void **state) {
    struct error error;
    struct block blocks[] = {
        block_of("48 8b 80 00 10 00 00  48 8b 99 00 00 01 00", 0), /* [rax+4096], [rcx+65536] */
        block_of("48 8b 18  48 05 00 20 00 00", 0)};
    (void)state;
    need_native();
    assert_true(blocks_place(blocks, 2, &nobody, &error));
    assert_string_equal(blocks[0].failure, "");
    assert_int_equal(blocks[0].page_count, 3);
    assert_true(blocks[0].pages[0] == 0x72345000);
    assert_true(blocks[0].pages[1] == 0x72346000 && blocks[0].pages[2] == 0x72355000);
    assert_string_equal(blocks[1].failure, "touches more pages than it can have");
}

/* mov qword [rax], 0; mov rbx, [rax + d]; mov rcx, [rbx]: of the next page rbx is BLOCK_VALUE; the
 * seventh shows the memory of [rax] again, so that rbx is 0. */
static void neighbours_do_not_share_memory(void **state) {
    (void)state;
    need_native();
    ends_with("48 c7 00 00 00 00 00  48 8b 98 00 10 00 00  48 8b 0b", "");
    ends_with("48 c7 00 00 00 00 00  48 8b 98 00 70 00 00  48 8b 0b",
              "reads or writes memory that it does not have at 0x0000000000000000");
}

/* On zen4: a chain of additions takes a cycle each; a load whose address is what the last one
 * loaded takes the L1's 4 cycles, and an addition to it one more; stores are written two a cycle.
 * Exactly, as what surrounds them cancels. */
static void a_simulated_machine_tells_its_own_figures(void **state) {
    struct block blocks[] = {block_of("48 01 d8", 0), block_of("48 8b 00 48 83 c0 00", 0),
                             block_of("48 89 58 08 48 89 70 10", 0), block_of("0f 05", 0)};
    enum { COUNT = sizeof blocks / sizeof *blocks };
    struct host_result results[COUNT];
    struct simulated_meter simulated;
    struct machine machine;
    struct error error;
    (void)state;
    assert_true(machine_load("zen4", &machine, &error));
    assert_true(simulated_meter(&simulated, &machine, false, &nobody, &error));
    if (!blocks_measure(blocks, COUNT, &simulated.meter, results, &error))
        fail_msg("%s", error.message);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(results[i].state, HOST_MEASURED);
    assert_true(fabs(results[0].cycles - 1) < 0.005);
    assert_true(fabs(results[1].cycles - 5) < 0.005);
    assert_true(fabs(results[2].cycles - 1) < 0.02);
    assert_int_equal(results[3].state, HOST_FAILED);
    assert_string_equal(results[3].failure, "calls the system, or needs its rights");
}

/* The clock's own unit; what is disturbed is no measurement. */
static void the_same_blocks_run_here(void **state) {
    struct block blocks[] = {block_of("48 01 d8", 0), block_of("cc", 0)};
    struct host_result results[2];
    struct host_meter meter;
    struct error error;
    (void)state;
    need_native();
    assert_true(host_native_meter(&meter, true, &nobody, &error));
    assert_true(blocks_place(blocks, 2, &nobody, &error));
    assert_true(blocks_measure(blocks, 2, &meter, results, &error));
    assert_true(results[0].state == HOST_MEASURED || results[0].state == HOST_UNSTABLE);
    if (results[0].state == HOST_MEASURED)
        assert_true(fabs(results[0].cycles - 1) < 0.2);
    assert_int_equal(results[1].state, HOST_FAILED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_branch_at_the_end_is_left_out),
        cmocka_unit_test(addresses_are_moved_into_the_page),
        cmocka_unit_test(what_cannot_be_run_is_refused),
        cmocka_unit_test(copies_fill_the_window),
        cmocka_unit_test(hostile_blocks_cannot_hurt),
        cmocka_unit_test(pages_are_found),
        cmocka_unit_test(neighbours_do_not_share_memory),
        cmocka_unit_test(a_simulated_machine_tells_its_own_figures),
        cmocka_unit_test(the_same_blocks_run_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
