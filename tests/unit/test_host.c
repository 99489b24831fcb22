/* Made code, its sandbox, and the clock that measures it. Nothing here depends on how fast this
 * machine is: what is compared are multiples of the clock's own unit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "host/child.h"
#include "host/clock.h"
#include "host/native.h"
#include "isa/insn.h"

#if defined __x86_64__
enum { NATIVE = 1 };
#else
enum { NATIVE = 0 };
#endif

static void need_native(void) {
    if (!NATIVE) {
        print_message("this processor is not x86-64\n");
        skip();
    }
}

/* ---- the assembler ---- */

static void labels_reach_backward_and_forward(void **state) {
    (void)state;
    struct error error = {0};
    struct assembler code = {0};
    struct label end = {0};
    struct label loop = assembler_here(&code);
    ASSEMBLE(&code, ADD, REG(RAX), REG(RBX));           /* 48 01 d8 */
    assembler_branch(&code, ZYDIS_MNEMONIC_JZ, &end);   /* 0f 84: to 14, from 9 */
    assembler_branch(&code, ZYDIS_MNEMONIC_JMP, &loop); /* e9: to 0, from 14 */
    assembler_bind(&code, &end);
    assert_true(assembler_finish(&code, &error));
    static const uint8_t EXPECTED[] = {0x48, 0x01, 0xd8, 0x0f, 0x84, 5,    0,
                                       0,    0,    0xe9, 0xf2, 0xff, 0xff, 0xff};
    assert_int_equal(code.size, sizeof EXPECTED);
    assert_memory_equal(code.code, EXPECTED, sizeof EXPECTED);
    assembler_free(&code);
}

static void mistakes_are_told_at_the_end(void **state) {
    (void)state;
    struct error error = {0};
    struct assembler code = {0};
    struct label nowhere = {0};
    assembler_branch(&code, ZYDIS_MNEMONIC_JMP, &nowhere);
    assert_false(assembler_finish(&code, &error));
    assert_string_equal(error.message, "a label of made code is not bound");
    assembler_free(&code);
    ASSEMBLE(&code, ADD, IMMEDIATE(1), IMMEDIATE(2));
    ASSEMBLE(&code, ADD, REG(RAX), REG(RBX));
    assert_false(assembler_finish(&code, &error));
    assert_string_equal(error.message, "cannot encode add with 2 operands");
    assembler_free(&code);
}

static void padding_is_no_ops(void **state) {
    (void)state;
    struct error error = {0};
    struct assembler code = {0};
    assembler_nops(&code, 3);
    assembler_align(&code, 32);
    assert_true(assembler_finish(&code, &error));
    assert_int_equal(code.size, 32);
    for (size_t at = 0; at < code.size;) {
        struct insn insn;
        assert_true(insn_decode(ISA_X86_64, code.code + at, code.size - at, &insn));
        assert_true(insn.flags & INSN_NOP);
        at += insn.length;
    }
    assembler_free(&code);
}

/* ---- data ---- */

/* Follows it from its beginning; how many steps until it is there again. */
static unsigned cycle_of(const uint8_t *data, uint64_t address, uint64_t from) {
    unsigned steps = 0;
    uint64_t at = from;
    do {
        uint64_t next;
        memcpy(&next, data + at, sizeof next);
        at = next - address;
        steps++;
    } while (at != from && steps < 1000000);
    return steps;
}

static void a_chase_is_one_cycle(void **state) {
    (void)state;
    static uint8_t data[1 << 16];
    for (uint64_t count = 1; count <= 100; count++) {
        const struct host_fill fill = {
            .kind = HOST_FILL_CHASE, .offset = 64, .size = 96 * count, .stride = 96, .seed = count};
        const struct host_data what = {.size = sizeof data, .fills = &fill, .fill_count = 1};
        memset(data, 0, sizeof data);
        host_data_fill(&what, data, 0x123400000);
        assert_int_equal(cycle_of(data, 0x123400000, 64), count);
    }
}

static void a_chain_goes_where_it_is_told(void **state) {
    (void)state;
    static uint8_t data[4096];
    static const uint64_t CHAIN[] = {512, 0, 4088};
    const struct host_fill fills[] = {
        {.kind = HOST_FILL_CHAIN, .size = 3, .chain = CHAIN},
        {.kind = HOST_FILL_ADDRESS, .offset = 8, .target = 512},
        {.kind = HOST_FILL_BYTES, .offset = 16, .size = 3, .bytes = "abc"}};
    const struct host_data what = {.size = sizeof data, .fills = fills, .fill_count = 3};
    const struct host_kernel kernel = {.code_size = 1, .iterations = 1, .data = &what};
    struct error error;
    assert_true(host_kernel_check(&kernel, &error));
    host_data_fill(&what, data, 0x1000);
    const uint64_t *words = (const uint64_t *)data;
    assert_int_equal(words[64], 0x1000);
    assert_int_equal(words[0], 0x1000 + 4088);
    assert_int_equal(words[511], 0x1000 + 512);
    assert_int_equal(words[1], 0x1000 + 512);
    assert_memory_equal(data + 16, "abc", 3);
}

static void fills_beyond_the_data_are_refused(void **state) {
    (void)state;
    static const uint64_t CHAIN[] = {0, 4089};
    const struct host_fill fills[] = {
        {.kind = HOST_FILL_CHAIN, .size = 2, .chain = CHAIN},
        {.kind = HOST_FILL_ADDRESS, .offset = 0, .target = 4096},
        {.kind = HOST_FILL_BYTES, .offset = UINT64_MAX, .size = 3, .bytes = "abc"},
        {.kind = HOST_FILL_CHASE, .offset = 0, .size = 4097, .stride = 64}};
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
        const struct host_data what = {.size = 4096, .fills = &fills[i], .fill_count = 1};
        const struct host_kernel kernel = {.code_size = 1, .iterations = 1, .data = &what};
        struct error error = {0};
        assert_false(host_kernel_check(&kernel, &error));
        assert_string_equal(error.message, "fill 0 of a kernel's data goes beyond their end");
    }
}

/* ---- the sandbox ---- */

/* Runs it three times; the result is how often `run` came back. */
static void just_run(void *context, const struct host_placed *placed, struct host_result *result) {
    const uint64_t *iterations = context;
    for (unsigned i = 0; i < 3; i++) {
        placed->run(*iterations);
        result->cycles++;
    }
    result->state = HOST_MEASURED;
}

enum { MOST = 16 };
struct sandbox {
    struct assembler codes[MOST];
    struct host_kernel kernels[MOST];
    const struct host_kernel *list[MOST];
    struct host_result results[MOST];
    size_t count;
};

static struct assembler *add(struct sandbox *sandbox) {
    return &sandbox->codes[sandbox->count++];
}

static void run_all(struct sandbox *sandbox, const struct host_child_options *options) {
    struct error error = {0};
    uint64_t iterations = 5;
    for (size_t i = 0; i < sandbox->count; i++) {
        assert_true(assembler_finish(&sandbox->codes[i], &error));
        sandbox->kernels[i].code = sandbox->codes[i].code;
        sandbox->kernels[i].code_size = sandbox->codes[i].size;
        sandbox->kernels[i].iterations = 5;
        sandbox->list[i] = &sandbox->kernels[i];
        sandbox->results[i] = (struct host_result){0};
    }
    if (!host_child_run(sandbox->list, sandbox->count, options, just_run, &iterations,
                        sandbox->results, &error))
        fail_msg("%s", error.message);
}

static void free_all(struct sandbox *sandbox) {
    for (size_t i = 0; i < sandbox->count; i++)
        assembler_free(&sandbox->codes[i]);
}

static void expect(const struct sandbox *sandbox, size_t number, const char *failure) {
    const struct host_result *result = &sandbox->results[number];
    assert_string_equal(result->failure, failure);
    assert_int_equal(result->state, *failure ? HOST_FAILED : HOST_MEASURED);
}

/* What each of these does ends its child; those between them run all the same. */
static void what_code_does_cannot_hurt(void **state) {
    (void)state;
    need_native();
    struct sandbox box = {0};
    struct label loop, loop_of_good;
    ASSEMBLE(add(&box), MOV, REG(RAX), MEMORY(RBX, 0x1234, 64)); /* 0: a fault */
    struct assembler *good = add(&box);                          /* 1 */
    loop_of_good = host_loop_begin(good);
    ASSEMBLE(good, PUSH, REG(RAX));
    ASSEMBLE(good, POP, REG(RBX));
    host_loop_end(good, &loop_of_good);
    assembler_put(add(&box), ZYDIS_MNEMONIC_UD2, NULL, 0); /* 2 */
    ASSEMBLE(add(&box), DIV, REG(RAX));                    /* 3: by 0 */
    ASSEMBLE(add(&box), MOV, REG(RDI), IMMEDIATE(1));      /* 4: exit_group(1) */
    ASSEMBLE(&box.codes[4], MOV, REG(EAX), IMMEDIATE(231));
    assembler_put(&box.codes[4], ZYDIS_MNEMONIC_SYSCALL, NULL, 0);
    assembler_put(add(&box), ZYDIS_MNEMONIC_INT3, NULL, 0); /* 5 */
    /* 6: writes over all of its stack, and beyond it */
    loop = assembler_here(add(&box));
    ASSEMBLE(&box.codes[6], PUSH, REG(RAX));
    assembler_branch(&box.codes[6], ZYDIS_MNEMONIC_JMP, &loop);
    /* 7: writes over its own code */
    ASSEMBLE(add(&box), MOV, MEMORY(RIP, -7, 64), REG(RBX)); /* of 7 bytes */
    /* 8: no registers are as it found them */
    for (ZydisRegister reg = ZYDIS_REGISTER_RAX; reg <= ZYDIS_REGISTER_R15; reg++)
        ASSEMBLE(reg == ZYDIS_REGISTER_RAX ? add(&box) : &box.codes[8], MOV, operand_register(reg),
                 IMMEDIATE(-1));
    assembler_put(&box.codes[8], ZYDIS_MNEMONIC_STD, NULL, 0);
    ASSEMBLE(add(&box), JMP, REG(RAX)); /* 9: goes to 0 */
    run_all(&box, &(struct host_child_options){.seconds = 10});
    expect(&box, 0, "reads or writes memory that it does not have at 0x0000000000001234");
    expect(&box, 1, "");
    assert_float_equal(box.results[1].cycles, 3, 0);
    expect(&box, 2, "has an instruction that this processor does not know");
    expect(&box, 3, "divides by zero, or out of range");
    expect(&box, 4, "calls the system");
    expect(&box, 5, "ends in a trap");
    expect(&box, 6, "reads or writes memory that it does not have at 0x000000001ffdfff8");
    expect(&box, 7, "reads or writes memory that it does not have at 0x0000000010001000");
    expect(&box, 8, "");
    expect(&box, 9, "reads or writes memory that it does not have at 0x0000000000000000");
    free_all(&box);
}

static void code_without_end_is_ended(void **state) {
    (void)state;
    need_native();
    struct sandbox box = {0};
    struct label loop = assembler_here(add(&box));
    assembler_branch(&box.codes[0], ZYDIS_MNEMONIC_JMP, &loop);
    assembler_nops(add(&box), 1);
    run_all(&box, &(struct host_child_options){.seconds = 0.05});
    expect(&box, 0, "does not come to its end in time");
    expect(&box, 1, "");
    free_all(&box);
}

/* Where calls cannot be filtered, code with the bytes of one is not run. */
static void without_a_filter_calls_are_refused(void **state) {
    (void)state;
    need_native();
    struct sandbox box = {0};
    ASSEMBLE(add(&box), MOV, REG(EAX), IMMEDIATE(0x050f));
    assembler_nops(add(&box), 1);
    run_all(&box, &(struct host_child_options){.seconds = 10, .unfiltered = true});
    expect(&box, 0, "may call the system, and this system cannot prevent it");
    expect(&box, 1, "");
    free_all(&box);
}

/* The data of kernels in a row stay; others are new, and memory behind them is nobody's. */
static void data_stay_while_they_are_the_same(void **state) {
    (void)state;
    need_native();
    struct sandbox box = {0};
    const struct host_data one = {.size = 4096}, other = {.size = 8192};
    for (unsigned i = 0; i < 4; i++) {
        struct assembler *code = add(&box);
        struct label good = {0};
        /* Each adds 5 (iterations) × 3 (runs) to what it finds; the last divides by what is there
         * unless it is 45 before. */
        if (i == 3) {
            ASSEMBLE(code, CMP, MEMORY(R14, 0, 64), IMMEDIATE(0));
            assembler_branch(code, ZYDIS_MNEMONIC_JZ, &good);
        } else if (i == 2) {
            ASSEMBLE(code, CMP, MEMORY(R14, 0, 64), IMMEDIATE(30));
            assembler_branch(code, ZYDIS_MNEMONIC_JNB, &good);
        }
        if (i >= 2)
            assembler_put(code, ZYDIS_MNEMONIC_UD2, NULL, 0);
        assembler_bind(code, &good);
        if (i < 3)
            ASSEMBLE(code, ADD, MEMORY(R14, 0, 64), REG(R15));
        box.kernels[i].data = i < 3 ? &one : &other;
    }
    ASSEMBLE(add(&box), MOV, MEMORY(R14, 8184, 64), REG(RAX));
    box.kernels[4].data = &other;
    ASSEMBLE(add(&box), MOV, MEMORY(R14, 8192, 64), REG(RAX));
    box.kernels[5].data = &other;
    run_all(&box, &(struct host_child_options){.seconds = 10});
    for (size_t i = 0; i < 5; i++)
        expect(&box, i, "");
    expect(&box, 5, "reads or writes memory that it does not have at 0x0000000020002000");
    free_all(&box);
}

static void a_stop_leaves_the_rest(void **state) {
    (void)state;
    need_native();
    static const volatile sig_atomic_t STOP = 1;
    struct sandbox box = {0};
    assembler_nops(add(&box), 1);
    run_all(&box, &(struct host_child_options){.seconds = 10, .watcher = {.stop = &STOP}});
    assert_int_equal(box.results[0].state, HOST_NOT_RUN);
    free_all(&box);
}

/* ---- the clock ---- */

/* Of nine sorted samples, 0.98 √9 = 2.94 ranks to each side of the middle one, 4: from 1 to 7. */
static void a_median_has_an_interval(void **state) {
    (void)state;
    double samples[] = {9, 1, 8, 2, 7, 3, 6, 4, 5}, few[] = {3, 1, 2}, spread;
    assert_float_equal(clock_median(samples, 9, &spread), 5, 0);
    assert_float_equal(spread, (8 - 2) / 2.0, 0);
    assert_float_equal(clock_median(few, 3, &spread), 2, 0);
    assert_true(isinf(spread));
}

/* 300 dependent additions take what three times 100 take, and three cycles of a unit are 3: the
 * clock is made of the same instruction. A result that other load disturbs is no result. */
static void cycles_are_those_of_additions(void **state) {
    (void)state;
    need_native();
    struct error error = {0};
    struct host_meter meter;
    struct host_kernel kernels[2];
    const struct host_kernel *list[2];
    struct host_result results[2];
    struct assembler codes[2] = {0};
    assert_true(host_native_meter(&meter, true, &(struct watcher){0}, &error));
    for (unsigned i = 0; i < 2; i++) {
        struct label loop = host_loop_begin(&codes[i]);
        for (unsigned add = 0; add < 100 + 200 * i; add++)
            ASSEMBLE(&codes[i], ADD, REG(RAX), REG(RBX));
        host_loop_end(&codes[i], &loop);
        assert_true(assembler_finish(&codes[i], &error));
        kernels[i] = (struct host_kernel){
            .code = codes[i].code, .code_size = codes[i].size, .iterations = 10};
        list[i] = &kernels[i];
    }
    assert_true(meter.measure(&meter, list, 2, results, &error));
    assert_int_equal(meter.done, 2);
    for (unsigned i = 0; i < 2; i++) {
        const double expected = 100 + 200 * i;
        if (results[i].state == HOST_UNSTABLE)
            continue;
        assert_int_equal(results[i].state, HOST_MEASURED);
        assert_true(fabs(results[i].cycles - expected) <= 0.05 * expected);
    }
    assembler_free(&codes[0]);
    assembler_free(&codes[1]);
}

static void what_a_processor_lacks_is_named(void **state) {
    (void)state;
    need_native();
    struct error error = {0};
    struct host_meter meter;
    const struct host_kernel kernel = {
        .code = (const uint8_t *)"\x90", .code_size = 1, .iterations = 1, .features = HOST_AVX2};
    const struct host_kernel *list[] = {&kernel};
    struct host_result result;
    assert_true(host_native_meter(&meter, true, &(struct watcher){0}, &error));
    meter.features &= ~(uint32_t)HOST_AVX2;
    assert_true(meter.measure(&meter, list, 1, &result, &error));
    assert_int_equal(result.state, HOST_UNSUPPORTED);
    assert_string_equal(result.failure, "the processor has no avx2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_reach_backward_and_forward),
        cmocka_unit_test(mistakes_are_told_at_the_end),
        cmocka_unit_test(padding_is_no_ops),
        cmocka_unit_test(a_chase_is_one_cycle),
        cmocka_unit_test(a_chain_goes_where_it_is_told),
        cmocka_unit_test(fills_beyond_the_data_are_refused),
        cmocka_unit_test(what_code_does_cannot_hurt),
        cmocka_unit_test(code_without_end_is_ended),
        cmocka_unit_test(without_a_filter_calls_are_refused),
        cmocka_unit_test(data_stay_while_they_are_the_same),
        cmocka_unit_test(a_stop_leaves_the_rest),
        cmocka_unit_test(a_median_has_an_interval),
        cmocka_unit_test(cycles_are_those_of_additions),
        cmocka_unit_test(what_a_processor_lacks_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
