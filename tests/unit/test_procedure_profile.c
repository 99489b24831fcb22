/* Which procedure a name means, in a store whose samples are in this very test; and what the store
 * has of it. */
#include "store_fixture.h"

#include <math.h>

#include "query/procedure_choice.h"
#include "tap/tap.h"

/* Two procedures to be found by name; volatile, so that they are not folded into one. */
static volatile int counted;
__attribute__((noinline)) void hot_procedure(void) {
    counted += 3;
}
__attribute__((noinline)) void cool_procedure(void) {
    counted += 5;
}

/* The store, and this program in it. */
struct setting {
    struct fixture *fixture;
    struct program *program;
    struct store_image self;
    char path[PATH_MAX];
    uint64_t hot, hot_size, cool;
    int64_t session, process, image;
    struct profile_set set;
    char *note; /* of the last choice; NULL: none */
};

static int set_up(void **state) {
    struct setting *setting = calloc(1, sizeof *setting);
    fixture_setup((void **)&setting->fixture);
    struct store *store = setting->fixture->store;
    struct elf_image elf;
    struct error error;
    ssize_t length = readlink("/proc/self/exe", setting->path, sizeof setting->path - 1);
    assert_true(length > 0 && elf_image_open(&elf, setting->path, &error));
    setting->self = (struct store_image){
        .kind = IMAGE_FILE, .path = setting->path, .build_id_size = elf.build_id_size, .root = ""};
    memcpy(setting->self.build_id, elf.build_id, elf.build_id_size);
    setting->program = program_new();
    uint32_t number =
        program_add_image(setting->program, setting->path, elf.build_id, elf.build_id_size);
    elf_image_close(&elf);
    uint64_t size;
    assert_true(program_find_function(setting->program, number, "hot_procedure", &setting->hot,
                                      &setting->hot_size));
    assert_true(
        program_find_function(setting->program, number, "cool_procedure", &setting->cool, &size));
    setting->session = add_session(store, "test", 1000000000, 2000000000);
    setting->process = add_process(store, setting->session, "test");
    GOOD(store_image(store, &setting->self, &setting->image, &error));
    *state = setting;
    return 0;
}

static int tear_down(void **state) {
    struct setting *setting = *state;
    profile_set_free(&setting->set);
    free(setting->note);
    program_free(setting->program);
    fixture_teardown((void **)&setting->fixture);
    free(setting);
    return 0;
}

static void add_value(struct setting *setting, int64_t session, int64_t image, int64_t event,
                      uint64_t offset, uint32_t signature, uint64_t value) {
    const struct store_value one = {offset, signature, value};
    GOOD(store_add_values(setting->fixture->store, session, setting->process, image, event, &one, 1,
                          &error));
}

static void read_set(struct setting *setting, const int64_t *sessions, size_t count) {
    GOOD(profile_set_read(&setting->set, setting->fixture->store, sessions, count, false, &error));
}

/* 30 samples of the hot procedure, 10 of the cool one. */
static void fill(struct setting *setting) {
    int64_t event = add_event(setting->fixture->store, setting->session, "cycles");
    add_value(setting, setting->session, setting->image, event, setting->hot + 1, 0, 30);
    add_value(setting, setting->session, setting->image, event, setting->cool, 0, 10);
    read_set(setting, &setting->session, 1);
}

static bool choose(struct setting *setting, const char *text, struct procedure_choices *choices,
                   struct error *error) {
    const struct procedure_query query = {.text = text};
    bool good = procedure_choose(choices, &setting->set, &setting->set.events[0], &query,
                                 setting->program, error);
    free(setting->note);
    setting->note = choices->note ? strdup(choices->note) : NULL;
    return good;
}

static void expect(struct setting *setting, const char *text, const char *name, uint64_t offset) {
    struct procedure_choices choices;
    struct error error = {0};
    if (!choose(setting, text, &choices, &error))
        fail_msg("%s: %s", text, error.message);
    assert_int_equal(choices.count, 1);
    assert_string_equal(choices.items[0].name, name);
    assert_true(choices.items[0].extent.offset == offset);
    assert_true(choices.items[0].extent.size > 0);
    procedure_choices_free(&choices);
}

static void refuse(struct setting *setting, const char *text, const char *why) {
    struct procedure_choices choices;
    struct error error = {0};
    if (choose(setting, text, &choices, &error))
        fail_msg("%s is found", text);
    if (!strstr(error.message, why) || strchr(error.message, '\n'))
        fail_msg("%s: %s", text, error.message);
    procedure_choices_free(&choices);
}

static void ways_to_name_it(void **state) {
    struct setting *setting = *state;
    char text[PATH_MAX + 64];
    const char *base = strrchr(setting->path, '/') + 1;
    uint64_t address;
    fill(setting);
    expect(setting, NULL, "hot_procedure", setting->hot);
    expect(setting, "cool_procedure", "cool_procedure", setting->cool);
    snprintf(text, sizeof text, "%s:cool_procedure", base);
    expect(setting, text, "cool_procedure", setting->cool);
    snprintf(text, sizeof text, "%s:hot_procedure", setting->path);
    expect(setting, text, "hot_procedure", setting->hot);
    snprintf(text, sizeof text, "%s+0x%llx", base, (unsigned long long)setting->cool + 2);
    expect(setting, text, "cool_procedure", setting->cool);
    uint32_t number = program_add_image(setting->program, setting->path, setting->self.build_id,
                                        setting->self.build_id_size);
    assert_true(program_offset_to_address(setting->program, number, setting->hot, &address));
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
    expect(setting, text, "hot_procedure", setting->hot);
}

static void those_that_are_not_there(void **state) {
    struct setting *setting = *state;
    fill(setting);
    refuse(setting, "no_such_procedure", "no procedure of this name has samples in epoch 1");
    refuse(setting, "none.so:hot_procedure", "no procedure of this name");
    refuse(setting, "none.so+0x40", "no file that has samples has code there");
    refuse(setting, "0xffffffffffffff00", "no file that has samples has code there");
    refuse(setting, "", "no procedure of this name");
    refuse(setting, "::", "no procedure of this name");
}

/* The same path, but the build id is another: the file has changed. */
static void changed_file(void **state) {
    struct setting *setting = *state;
    struct store *store = setting->fixture->store;
    int64_t other, event = add_event(store, setting->session, "cycles");
    struct store_image old = setting->self;
    old.build_id[0] ^= 1;
    GOOD(store_image(store, &old, &other, &error));
    const struct code_symbol symbol = {setting->hot, setting->hot_size, "hot_procedure"};
    GOOD(store_set_symbols(store, other, &symbol, 1, &error));
    add_value(setting, setting->session, other, event, setting->hot, 0, 30);
    read_set(setting, &setting->session, 1);
    refuse(setting, "hot_procedure", "the file has changed since it was profiled");
    refuse(setting, NULL, "the file has changed since it was profiled");
}

static void kernel_code(void **state) {
    struct setting *setting = *state;
    struct store *store = setting->fixture->store;
    const struct store_image kernel = {.kind = IMAGE_KERNEL, .path = "[kernel]", .root = ""};
    const struct code_symbol symbol = {0x1000, 0x100, "copy_page"};
    int64_t image, event = add_event(store, setting->session, "cycles");
    GOOD(store_image(store, &kernel, &image, &error));
    GOOD(store_set_symbols(store, image, &symbol, 1, &error));
    add_value(setting, setting->session, image, event, 0x1010, 0, 90);
    add_value(setting, setting->session, setting->image, event, setting->hot, 0, 30);
    read_set(setting, &setting->session, 1);
    refuse(setting, "copy_page", "[kernel]: its code has no build id");
    expect(setting, NULL, "hot_procedure", setting->hot); /* the first that can be read */
    assert_non_null(setting->note);
    assert_non_null(strstr(setting->note, "first copy_page"));
}

/* ---- values ---- */

static void near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.9g is not %.9g", value, expected);
}

static void read_profile(struct setting *setting, struct procedure_profile *profile) {
    const struct procedure_extent extent = {.path = setting->path,
                                            .build = &setting->self,
                                            .offset = setting->hot,
                                            .size = setting->hot_size};
    struct image_profiles profiles;
    GOOD(image_profiles_read(&profiles, &setting->set, &setting->self, &error));
    GOOD(procedure_profile_read(profile, &profiles, &setting->set.events[0], &extent, 3, &error));
    image_profiles_free(&profiles);
}

/* 10 samples a thousand cycles apart and 20 two thousand apart: 50000 cycles; and in another
 * procedure 20 and 20, so that all are 110000 / 70 apart in the mean. Four misses were sampled, one
 * in 100. */
static void two_epochs(void **state) {
    struct setting *setting = *state;
    struct store *store = setting->fixture->store;
    struct procedure_profile profile;
    int64_t sessions[2] = {setting->session, add_session(store, "two", 3000000000, 4000000000)};
    int64_t processes[2] = {setting->process, add_process(store, sessions[1], "two")};
    for (int i = 0; i < 2; i++) {
        const struct store_event cycles = {.name = "cycles",
                                           .unit = "samples",
                                           .period = i ? 2000 : 1000,
                                           .period_unit = "cycles"};
        const struct store_event misses = {
            .name = "dmiss", .unit = "samples", .period = 100, .period_unit = "events"};
        int64_t event, miss;
        GOOD(store_add_event(store, sessions[i], &cycles, &event, &error));
        GOOD(store_add_event(store, sessions[i], &misses, &miss, &error));
        setting->process = processes[i];
        add_value(setting, sessions[i], setting->image, event, setting->hot, 0, i ? 20 : 10);
        add_value(setting, sessions[i], setting->image, event, setting->cool, 0, 20);
        add_value(setting, sessions[i], setting->image, miss, setting->hot + 1, 0, 2);
    }
    read_set(setting, sessions, 2);
    read_profile(setting, &profile);
    const double apart = 110000.0 / 70;
    near(profile.values[0], 50000 / apart);
    near(profile.cycles[0], 50000);
    near(profile.sum, 50000 / apart);
    near(profile.total, 70);
    near(profile.period, apart); /* of all samples in the file */
    near(profile.events[EVENT_DMISS][1], 400);
    assert_null(profile.events[EVENT_IMISS]);
    assert_null(profile.executions);
    procedure_profile_free(&profile);
}

/* Half a cycle of ST-L1, a quarter without events, and what the simulation counted; a weight of 2
 * doubles all. */
static void simulated(void **state) {
    struct setting *setting = *state;
    struct store *store = setting->fixture->store;
    struct procedure_profile profile;
    const struct store_session session = {
        .kind = SESSION_SIMULATED, .name = "sim", .weight = 2, .start = 1, .end = 2};
    int64_t id, event, executions, stall;
    GOOD(store_add_session(store, &session, &id, &error));
    setting->process = add_process(store, id, "sim");
    const struct store_event cycles = {.name = "cycles", .unit = "1/840 cycles", .precise = true};
    const struct store_event counted = {.name = "executions", .unit = "executions"};
    const struct store_event lost = {.name = "stall:dmiss", .unit = "cycles"};
    GOOD(store_add_event(store, id, &cycles, &event, &error));
    GOOD(store_add_event(store, id, &counted, &executions, &error));
    GOOD(store_add_event(store, id, &lost, &stall, &error));
    add_value(setting, id, setting->image, event, setting->hot, 0, 210);
    add_value(setting, id, setting->image, event, setting->hot, PSV_ST_L1, 420);
    add_value(setting, id, setting->image, executions, setting->hot, 0, 7);
    add_value(setting, id, setting->image, stall, setting->hot, 0, 5);
    read_set(setting, &id, 1);
    read_profile(setting, &profile);
    near(profile.cycles[0], 1.5);
    near(profile.values[0], 1.5);
    near(profile.period, 1);
    near(profile.executions[0], 14);
    near(profile.stalls[STALL_DMISS][0], 10);
    assert_true(profile.has_stalls);
    size_t count;
    const struct signature_part *parts = procedure_profile_parts(&profile, 0, &count);
    assert_int_equal(count, 2);
    assert_int_equal(parts[0].psv, PSV_ST_L1);
    near(parts[0].cycles, 1);
    near(parts[1].cycles, 0.5);
    procedure_profile_parts(&profile, 1, &count);
    assert_int_equal(count, 0);
    procedure_profile_free(&profile);
}

int main(void) {
    hot_procedure();
    cool_procedure();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ways_to_name_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(those_that_are_not_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kernel_code, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_epochs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(simulated, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
