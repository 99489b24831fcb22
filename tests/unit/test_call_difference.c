/* The call trees of two runs as one, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "query/call_difference.h"

/* main calls work and old; work calls leaf. Afterwards, in an image of another name, main calls new
 * and work, which calls no leaf. */
static struct call_procedure BEFORE[] = {{.name = "main", .image = "/a/prog1"},
                                         {.name = "work", .image = "/a/prog1"},
                                         {.name = "leaf", .image = "/lib/libleaf.so"},
                                         {.name = "old", .image = "/a/prog1"}};
static struct call_frame BEFORE_FRAMES[] = {{.parent = CALL_NONE_FRAME, .self = 1},
                                            {.parent = 0, .procedure = 0, .self = 2, .calls = 1},
                                            {.parent = 1, .procedure = 1, .self = 4, .calls = 3},
                                            {.parent = 2, .procedure = 2, .self = 8, .calls = 6},
                                            {.parent = 1, .procedure = 3, .self = 16, .calls = 1}};
static struct call_procedure AFTER[] = {{.name = "new", .image = "/b/prog2"},
                                        {.name = "work", .image = "/b/prog2"},
                                        {.name = "main", .image = "/b/prog2"}};
static struct call_frame AFTER_FRAMES[] = {{.parent = CALL_NONE_FRAME, .self = 0},
                                           {.parent = 0, .procedure = 2, .self = 3, .calls = 1},
                                           {.parent = 1, .procedure = 0, .self = 32, .calls = 2},
                                           {.parent = 1, .procedure = 1, .self = 5, .calls = 4}};

static struct call_profile profile_of(struct call_procedure *procedures, size_t procedure_count,
                                      struct call_frame *frames, size_t frame_count) {
    return (struct call_profile){.procedures = procedures,
                                 .procedure_count = procedure_count,
                                 .frames = {.items = frames, .count = frame_count}};
}

static const struct difference_frame *frame_of(const struct call_difference *difference,
                                               uint32_t parent, const char *name) {
    for (size_t i = 1; i < difference->frame_count; i++)
        if (difference->frames[i].parent == parent &&
            !strcmp(intern_text(&difference->names, difference->frames[i].name), name))
            return &difference->frames[i];
    fail_msg("no frame of %s", name);
    return NULL;
}

static void assert_frame(const struct call_difference *difference, uint32_t parent,
                         const char *name, double before, double after, double calls) {
    const struct difference_frame *frame = frame_of(difference, parent, name);
    assert_true(frame->self[0] == before && frame->self[1] == after);
    assert_true(frame->calls[1] == calls);
}

static void frames_of_the_same_names_are_one(void **state) {
    (void)state;
    struct error error;
    struct call_difference difference = {0};
    const struct call_profile before = profile_of(BEFORE, 4, BEFORE_FRAMES, 5);
    const struct call_profile after = profile_of(AFTER, 3, AFTER_FRAMES, 4);
    assert_true(call_difference_add(&difference, 0, &before, &error));
    assert_true(difference.has[0] && !difference.has[1]);
    assert_true(call_difference_add(&difference, 1, &after, &error));
    assert_int_equal(difference.frame_count, 6);
    assert_true(difference.frames[0].self[0] == 1 && difference.frames[0].self[1] == 0);
    assert_frame(&difference, 0, "main", 2, 3, 1);
    const uint32_t in_main = (uint32_t)(frame_of(&difference, 0, "main") - difference.frames);
    assert_frame(&difference, in_main, "work", 4, 5, 4);
    assert_frame(&difference, in_main, "old", 16, 0, 0);
    assert_frame(&difference, in_main, "new", 0, 32, 2);
    const uint32_t in_work = (uint32_t)(frame_of(&difference, in_main, "work") - difference.frames);
    assert_frame(&difference, in_work, "leaf", 8, 0, 0);
    for (size_t i = 1; i < difference.frame_count; i++)
        assert_true(difference.frames[i].parent < i);
    const uint32_t leaf = frame_of(&difference, in_work, "leaf")->name;
    assert_string_equal(intern_text(&difference.image_names, difference.images[leaf]),
                        "libleaf.so");
    call_difference_free(&difference);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_the_same_names_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
