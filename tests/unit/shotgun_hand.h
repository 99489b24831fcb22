/* Samples made by hand of programs made by hand, and fragments constructed from them. */
#pragma once

#include "core_fixture.h"
#include "shotgun/construct.h"

enum { LENGTH = 8 }; /* of most fragments */

struct hand {
    struct program_fixture *program;
    struct machine machine;
    struct shotgun_code code;
    struct shotgun_database database;
    uint64_t bits[1];
};

static inline void hand_open(struct hand *hand) {
    *hand = (struct hand){.program = program_fixture_new(), .machine = little_machine()};
    struct shotgun_options options = {.period = 100, .length = LENGTH, .seed = 1};
    shotgun_database_init(&hand->database, &options);
}

static inline void hand_close(struct hand *hand) {
    shotgun_database_free(&hand->database);
    shotgun_code_free(&hand->code);
    program_fixture_free(hand->program);
}

static inline void goes_to(struct hand *hand, uint32_t branch, uint32_t target) {
    struct static_insn *insns = hand->program->insns;
    insns[branch].target_displacement =
        (int32_t)((int64_t)insns[target].address - (int64_t)insns[branch].address);
}

/* A signature sample from `start`, of as many instructions as the text has pairs of bits, 21 at
 * most; "10" is bit 1 alone. */
static inline void skeleton(struct hand *hand, uint32_t start, const char *text) {
    struct error error;
    uint64_t words[1] = {0};
    uint32_t length = hand->database.options.length = (uint32_t)(strlen(text) + 1) / 3;
    for (uint32_t i = 0; i < length; i++, text += 3)
        signature_put(words, i,
                      (text[0] == '1' ? SIGNATURE_1 : 0) | (text[1] == '1' ? SIGNATURE_2 : 0));
    assert_true(shotgun_add_skeleton(&hand->database, start, words, NULL, NULL, NULL, 0, &error));
}

static inline void sample(struct hand *hand, uint32_t insn, uint64_t context, uint32_t target,
                          const struct shotgun_uop *uop) {
    struct error error;
    struct shotgun_sample sample = {
        .insn = insn, .context = context, .target = target, .uop_count = 1, .uops_executed = 1};
    assert_true(shotgun_add_sample(&hand->database, &sample, uop, &error));
}

/* Constructs from skeleton 0 and hands the fragment to `check`. */
static inline void construct(struct hand *hand, enum shotgun_design design,
                             void (*check)(const struct shotgun_fragment *fragment)) {
    struct error error;
    shotgun_code_free(&hand->code);
    assert_true(shotgun_code_learn(&hand->code, &hand->program->code, &error));
    assert_true(shotgun_code_link(&hand->code, &error));
    struct shotgun_constructor *constructor =
        shotgun_constructor_new(&hand->database, &hand->code, &hand->machine, design, &error);
    assert_non_null(constructor);
    const struct shotgun_fragment *fragment = shotgun_construct(constructor, 0);
    assert_non_null(fragment);
    check(fragment);
    shotgun_constructor_free(constructor);
}

static inline void assert_path(const struct shotgun_fragment *fragment, const uint32_t *path,
                               uint32_t count) {
    assert_int_equal(fragment->insns, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(fragment->path[i], path[i]);
}
