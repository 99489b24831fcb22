/* Trees of calls by procedure, from stores made by hand: sums, recursion, callers, names, periods.
 * Symbols come with the images, so that no file is needed. */
#include "query/call_profile.h"
#include "store_fixture.h"

enum { TOP = STORE_CALL_TOP };

/* main at 0x100, work at 0x200, leaf at 0x300, ns::Other<int>::work(int) at 0x400; 0x100 bytes
 * each. */
static int64_t add_named_image(struct store *store) {
    static const struct code_symbol SYMBOLS[] = {{0x100, 0x100, "main"},
                                                 {0x200, 0x100, "work"},
                                                 {0x300, 0x100, "leaf"},
                                                 {0x400, 0x100, "ns::Other<int>::work(int)"}};
    int64_t image = add_image(store, "/nowhere/a");
    GOOD(store_set_symbols(store, image, SYMBOLS, 4, &error));
    return image;
}

struct loaded {
    struct profile_set set;
    struct program *program;
    struct call_profile profile;
};

static void load(struct loaded *loaded, struct store *store, const int64_t *sessions,
                 size_t count) {
    struct error error = {0};
    loaded->program = program_new();
    GOOD(profile_set_read(&loaded->set, store, sessions, count, false, &error));
    const struct call_query query = {.event = profile_set_event(&loaded->set, NULL, &error)};
    GOOD(call_profile_read(&loaded->profile, &loaded->set, &query, loaded->program, &error));
}

static void unload(struct loaded *loaded) {
    call_profile_free(&loaded->profile);
    profile_set_free(&loaded->set);
    program_free(loaded->program);
}

/* "name total self" of each frame, children in their order, indented by a dot a level. */
static size_t put_frames(const struct call_profile *profile, const struct call_frames *frames,
                         uint32_t number, unsigned depth, char *text, size_t used) {
    const struct call_frame *frame = &frames->items[number];
    used += (size_t)snprintf(text + used, 2048 - used, "%.*s%s %g %g\n", (int)depth, "........",
                             number || depth ? profile->procedures[frame->procedure].name : "all",
                             frame->total, frame->self);
    for (uint32_t i = 0; i < frame->count; i++)
        used = put_frames(profile, frames, frames->order[frame->first + i], depth + 1, text, used);
    return used;
}

static void assert_frames(const struct call_profile *profile, const struct call_frames *frames,
                          const char *expected) {
    char text[2048];
    put_frames(profile, frames, 0, 0, text, 0);
    assert_string_equal(text, expected);
}

/* Two places of main call work, which calls itself and then leaf; another stack is cut. */
static int64_t add_run(struct store *store, const char *name, uint64_t period, int64_t image,
                       uint64_t times) {
    int64_t session = add_session(store, name, 1, 2), id = 0;
    const struct store_event event = {
        .name = "cycles", .unit = "samples", .period = period, .period_unit = "cycles"};
    GOOD(store_add_event(store, session, &event, &id, &error));
    const struct store_call calls[] = {
        {TOP, image, 0x110, 1 * times}, {0, image, 0x210, 2 * times}, {1, image, 0x220, 4 * times},
        {2, image, 0x310, 8 * times},   {TOP, image, 0x120, 0},       {4, image, 0x210, 16 * times},
        {TOP, 0, STORE_FAILED, 0},      {6, image, 0x310, 32 * times}};
    const struct store_value value = {.offset = 0x110, .value = 63 * times};
    int64_t process = add_process(store, session, "a");
    GOOD(store_add_calls(store, session, process, id, calls, 8, &error));
    GOOD(store_add_values(store, session, process, image, id, &value, 1, &error));
    return session;
}

static void by_procedure(void **state) {
    struct fixture *fixture = *state;
    struct loaded loaded = {0};
    int64_t session = add_run(fixture->store, "run", 62000, add_named_image(fixture->store), 1);
    load(&loaded, fixture->store, &session, 1);
    assert_frames(&loaded.profile, &loaded.profile.frames,
                  "all 63 0\n"
                  ".[callers not found] 32 0\n"
                  "..leaf 32 32\n"
                  ".main 31 1\n"
                  "..work 30 22\n"
                  "...leaf 8 8\n");
    assert_true(loaded.profile.failed == 32 && loaded.profile.truncated == 0);
    unload(&loaded);
}

/* main, work, leaf, work, leaf, leaf, work: each of work and leaf, which call each other in turn,
 * once; but what leaf calls otherwise, and is then in work, is not that. Each place counts for the
 * frame that it is folded into. */
static void mutual_recursion(void **state) {
    struct fixture *fixture = *state;
    struct loaded loaded = {0};
    int64_t image = add_named_image(fixture->store);
    int64_t session = add_session(fixture->store, "run", 1, 2);
    int64_t event = add_event(fixture->store, session, "cycles");
    const struct store_call calls[] = {{TOP, image, 0x110, 1}, {0, image, 0x210, 2},
                                       {1, image, 0x310, 4},   {2, image, 0x220, 8},
                                       {3, image, 0x320, 16},  {4, image, 0x330, 32},
                                       {5, image, 0x230, 64},  {6, image, 0x330, 128},
                                       {7, image, 0x410, 256}, {8, image, 0x210, 512}};
    int64_t process = add_process(fixture->store, session, "a");
    GOOD(store_add_calls(fixture->store, session, process, event, calls, 10, &error));
    load(&loaded, fixture->store, &session, 1);
    assert_frames(&loaded.profile, &loaded.profile.frames,
                  "all 1023 0\n"
                  ".main 1023 1\n"
                  "..work 1022 2\n"
                  "...leaf 1020 180\n"
                  "....ns::Other<int>::work(int) 768 256\n"
                  ".....work 512 512\n"
                  "....work 72 72\n");
    uint32_t work = call_profile_find(&loaded.profile, "work", &(struct error){0});
    assert_true(loaded.profile.procedures[work].total == 1022);
    assert_true(loaded.profile.procedures[work].self == 586);
    unload(&loaded);
}

static void upside_down(void **state) {
    struct fixture *fixture = *state;
    struct loaded loaded = {0};
    struct call_frames callers;
    struct error error = {0};
    int64_t session = add_run(fixture->store, "run", 62000, add_named_image(fixture->store), 1);
    load(&loaded, fixture->store, &session, 1);
    uint32_t leaf = call_profile_find(&loaded.profile, "leaf", &error);
    assert_true(call_profile_callers(&loaded.profile, leaf, true, &callers));
    /* The first frame is the procedure itself. */
    assert_true(callers.items[0].procedure == leaf && callers.items[0].total == 40);
    char text[2048];
    put_frames(&loaded.profile, &callers, 0, 0, text, 0);
    assert_string_equal(strchr(text, '\n') + 1, ".[callers not found] 32 32\n"
                                                ".work 8 0\n"
                                                "..main 8 8\n");
    call_frames_free(&callers);
    uint32_t work = call_profile_find(&loaded.profile, "work", &error);
    assert_true(call_profile_callers(&loaded.profile, work, false, &callers));
    assert_true(callers.items[0].total == 22);
    call_frames_free(&callers);
    assert_true(call_profile_callers(&loaded.profile, work, true, &callers));
    assert_true(callers.items[0].total == 30);
    call_frames_free(&callers);
    uint32_t *sorted = call_profile_sorted(&loaded.profile);
    assert_string_equal(loaded.profile.procedures[sorted[0]].name, "leaf");
    assert_string_equal(loaded.profile.procedures[sorted[1]].name, "work");
    free(sorted);
    unload(&loaded);
}

static void names(void **state) {
    struct fixture *fixture = *state;
    struct loaded loaded = {0};
    struct error error = {0};
    int64_t image = add_named_image(fixture->store);
    int64_t session = add_session(fixture->store, "run", 1, 2);
    int64_t event = add_event(fixture->store, session, "cycles");
    const struct store_call calls[] = {{TOP, image, 0x210, 1}, {TOP, image, 0x410, 5}};
    int64_t process = add_process(fixture->store, session, "a");
    GOOD(store_add_calls(fixture->store, session, process, event, calls, 2, &error));
    load(&loaded, fixture->store, &session, 1);
    const struct call_procedure *procedures = loaded.profile.procedures;
    uint32_t found = call_profile_find(&loaded.profile, "work", &error);
    assert_string_equal(procedures[found].name, "work");
    found = call_profile_find(&loaded.profile, "Other<int>::work", &error);
    assert_string_equal(procedures[found].name, "ns::Other<int>::work(int)");
    found = call_profile_find(&loaded.profile, "a:work", &error);
    assert_string_equal(procedures[found].name, "work");
    assert_int_equal(call_profile_find(&loaded.profile, "b:work", &error), UINT32_MAX);
    assert_int_equal(call_profile_find(&loaded.profile, "nothing", &error), UINT32_MAX);
    assert_non_null(strstr(error.message, "no stack has such a procedure"));
    unload(&loaded);
}

/* 63 samples, one every 1000 cycles, and 63 every 3000: 126 in all, of which the former count half
 * and the latter one and a half each, as in tables of profiles. */
static void different_periods(void **state) {
    struct fixture *fixture = *state;
    struct loaded loaded = {0};
    int64_t image = add_named_image(fixture->store);
    const int64_t sessions[] = {add_run(fixture->store, "one", 1000, image, 1),
                                add_run(fixture->store, "two", 3000, image, 1)};
    load(&loaded, fixture->store, sessions, 2);
    assert_true(loaded.profile.frames.items[0].total == 126);
    unload(&loaded);
    load(&loaded, fixture->store, sessions, 1);
    assert_true(loaded.profile.frames.items[0].total == 63);
    unload(&loaded);
    /* Twice the samples at the longer distance: 63 and 126 are 189; they stand for 63,000 and
     * 378,000 cycles: one and six parts of seven. */
    const int64_t other[] = {sessions[0], add_run(fixture->store, "three", 3000, image, 2)};
    load(&loaded, fixture->store, other, 2);
    assert_true(loaded.profile.frames.items[0].total > 188.999 &&
                loaded.profile.frames.items[0].total < 189.001);
    unload(&loaded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(by_procedure, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(mutual_recursion, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(upside_down, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(names, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(different_periods, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
