/* Pieces of anonymous code, of a few instructions each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "query/code_pieces.h"

static struct code_image images[] = {
    {.path = "/bin/prog", .kind = CODE_IMAGE_FILE},
    {.path = "[anon]", .kind = CODE_IMAGE_ANONYMOUS},
    {.path = "[anon]", .symbol = "named", .kind = CODE_IMAGE_ANONYMOUS},
};

static struct static_insn at(uint64_t offset, uint8_t branch, int32_t displacement) {
    return (struct static_insn){.offset = offset,
                                .image = 1,
                                .length = 4,
                                .branch = branch,
                                .target_displacement = displacement};
}

static uint64_t piece_of(const struct code_pieces *pieces, uint64_t address) {
    const struct code_piece *piece = code_pieces_find(pieces, 1, address);
    return piece ? piece->first : 0;
}

static void pieces_follow_control_flow(void **state) {
    (void)state;
    struct static_insn insns[] = {
        at(0x1010, BRANCH_CONDITIONAL, -0x10), /* a loop, in any order of numbers ... */
        at(0x1000, BRANCH_NONE, 0),
        at(0x1004, BRANCH_CONDITIONAL, 0x3c), /* ... with a rare part behind others */
        at(0x1008, BRANCH_CALL, 0x18),
        at(0x100c, BRANCH_NONE, 0),
        at(0x1014, BRANCH_RETURN, 0),
        at(0x1018, BRANCH_NONE, 0), /* falls into what is called */
        at(0x101c, BRANCH_CONDITIONAL, 0x8000 - 0x101c),
        at(0x1020, BRANCH_RETURN, 0),   /* called from 0x1008: begins a piece of its own */
        at(0x1040, BRANCH_JUMP, -0x34), /* the rare part goes back */
        at(0x1044, BRANCH_RETURN, 0),   /* nothing leads from there to here */
        at(0x8000, BRANCH_RETURN, 0),   /* a branch leads here from 0x101c, from too far */
        at(0x9000, BRANCH_NONE, 0),
    };
    insns[12].image = 2;
    const struct code code = {.isa = ISA_X86_64,
                              .insns = insns,
                              .insn_count = sizeof insns / sizeof *insns,
                              .images = images,
                              .image_count = 3};
    struct code_pieces pieces;
    assert_true(code_pieces_build(&pieces, &code));
    for (uint64_t address = 0x1000; address < 0x1018; address++)
        assert_int_equal(piece_of(&pieces, address), 0x1000);
    assert_int_equal(piece_of(&pieces, 0x1040), 0x1000);
    assert_int_equal(piece_of(&pieces, 0x1018), 0x1018);
    assert_int_equal(piece_of(&pieces, 0x101f), 0x1018);
    assert_int_equal(piece_of(&pieces, 0x1020), 0x1020);
    assert_int_equal(piece_of(&pieces, 0x1044), 0x1044);
    assert_int_equal(piece_of(&pieces, 0x8000), 0x8000);
    assert_int_equal(piece_of(&pieces, 0x1024), 0);
    assert_null(code_pieces_find(&pieces, 2, 0x9000)); /* has a name */
    assert_null(code_pieces_find(&pieces, 0, 0x1000));
    code_pieces_free(&pieces);
}

/* Code that was replaced by other code at the same addresses: every address is in one run. */
static void replaced_code_has_one_piece_too(void **state) {
    (void)state;
    struct static_insn insns[] = {
        at(0x1000, BRANCH_NONE, 0), at(0x1000, BRANCH_RETURN, 0),
        at(0x1000, BRANCH_CALL, 2), at(0x1002, BRANCH_NONE, 0),
        at(0x1004, BRANCH_JUMP, 0), at(UINT64_MAX - 4, BRANCH_CONDITIONAL, 100),
    };
    const struct code code = {.isa = ISA_X86_64,
                              .insns = insns,
                              .insn_count = sizeof insns / sizeof *insns,
                              .images = images,
                              .image_count = 3};
    struct code_pieces pieces;
    assert_true(code_pieces_build(&pieces, &code));
    uint64_t end = 0;
    for (size_t i = 0; i < pieces.count; i++) {
        assert_true(pieces.items[i].start >= end && pieces.items[i].end > pieces.items[i].start);
        end = pieces.items[i].end;
    }
    for (size_t i = 0; i < sizeof insns / sizeof *insns; i++)
        assert_non_null(code_pieces_find(&pieces, 1, insns[i].offset));
    code_pieces_free(&pieces);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_follow_control_flow),
        cmocka_unit_test(replaced_code_has_one_piece_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
