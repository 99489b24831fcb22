/* Saved profiles: what is written is read back; what no profile can say is refused. */
#include "core/core.h"
#include "unit/data_program.h"

#include <unistd.h>

#include "model/locality.h"
#include "temporary.h"

enum { LINES = 300 };

static void make_profile(struct locality *locality) {
    struct line lines[LINES];
    struct machine machine;
    struct error error = {0};
    const struct cache_shape shapes[] = {{64, 2, 64}, {2, 8, 128}};
    for (uint64_t i = 0; i < LINES; i++)
        lines[i] = i % 3 ? LOAD(1, 2, i * i % 1777 * 64) : NOTHING;
    struct program_trace *program = new_program(lines, LINES);
    assert_true(machine_load("niagara", &machine, &error));
    const struct locality_options options = {.machine = &machine,
                                             .shared = shapes,
                                             .shared_count = 2,
                                             .frames = true,
                                             .core = true,
                                             .foreign = locality_foreign_rates,
                                             .foreign_count = 2};
    struct locality_pass *pass = locality_new(&options, &error);
    assert_non_null(pass);
    assert_true(
        locality_add(pass,
                     &(struct core_input){&program->code, program->dynamic, program->accesses,
                                          program->count, program->access_count, 0},
                     &error));
    assert_true(locality_finish(pass, locality, &error));
    strcpy(locality->isa, "riscv64");
    locality->partial = true;
    locality->program = strdup("walk \"in\" squares");
    free(program);
}

static char *text_of(const struct locality *locality) {
    char *text = NULL;
    size_t size;
    struct error error;
    FILE *out = open_memstream(&text, &size);
    assert_true(locality_write(locality, out, &error));
    fclose(out);
    return text;
}

static bool read_text(const char *text, struct locality *locality, struct error *error) {
    char path[TEMPORARY_BYTES];
    const int file = mkstemp(temporary_name(path, "locality"));
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    const bool good = locality_read(locality, path, error);
    unlink(path);
    return good;
}

static void comes_back(void **state) {
    (void)state;
    struct locality locality, again;
    struct error error = {0};
    make_profile(&locality);
    char *text = text_of(&locality);
    if (!read_text(text, &again, &error))
        fail_msg("%s", error.message);
    char *second = text_of(&again);
    assert_string_equal(text, second);
    assert_string_equal(again.program, "walk \"in\" squares");
    assert_string_equal(again.machine, locality.machine);
    assert_true(again.partial);
    assert_int_equal(again.level_count, 3);
    assert_int_equal(again.levels[0].crowded_count, 0);
    assert_int_equal(again.levels[1].crowded_count, 2);
    assert_true(again.levels[2].crowded[1].foreign == 1.0 / 16);
    assert_memory_equal(&again.events, &locality.events, sizeof again.events);
    for (uint32_t i = 0; i < 3; i++) {
        const struct locality_level *a = &locality.levels[i], *b = &again.levels[i];
        assert_memory_equal(a->circular, b->circular, a->shape.ways * sizeof *a->circular);
        assert_memory_equal(a->set_sequences, b->set_sequences, a->shape.sets * sizeof(uint64_t));
        assert_memory_equal(a->set_touched, b->set_touched, (a->shape.sets + 63) / 64 * 8);
        assert_true(locality_sets(a, 37) == locality_sets(b, 37));
    }
    free(text);
    free(second);
    locality_free(&locality);
    locality_free(&again);
}

/* One figure changed: the file does not agree with itself, and says so in one line. */
static void damage_is_told(void **state) {
    (void)state;
    static const char *const CHANGES[][3] = {
        {"\"sets\": 256", "\"sets\": 255", "sensible sets"},
        {"\"ways\": 4", "\"ways\": 0", "sensible sets"},
        {"\"ways\": 8", "\"ways\": 9", "circular sequences"},
        {"\"run\": 200", "\"run\": 201", "sets and blocks|same run"},
        {"\"misses\": ", "\"misses\": 1", "sensible counts|circular sequences"},
        {"\"foreign\": 0.0625", "\"foreign\": 0.015625", "rates of foreign"},
        {"\"foreign\": 0.03125", "\"foreign\": 0.0", "rates of foreign"},
        {"\"crowded\": [", "\"crowded\": {\"", "no JSON"},
        {"\"crowded\": [", "\"crowded\": [ {},", "sensible sets"},
        {"\"set_touched\": \"", "\"set_touched\": \"0", "of each set"},
        {"\"isa\": \"riscv64\"", "\"isa\": \"riscv46\"", "what it is of"},
        {"\"turns\"", "\"tunrs\"", "events"},
        {"\"instructions\": 300", "\"instructions\": 3", "counts of events do not"},
        {"\"instructions\": 300", "\"instructions\": 301", "counts of events do not"},
        {"\"turns\": ", "\"turns\": 9", "counts of events do not"},
        {"\"l1d_misses\": ", "\"l1d_misses\": 1", "counts of events do not"},
        {"\"l1i_misses\": ", "\"l1i_misses\": 1", "counts of events do not"},
        {"\"code_lines\": ", "\"code_lines\": 9", "counts of events do not"},
        {"\"partial\": true", "\"partial\": 1", "what it is of"},
        {"\"long_operations\": ", "\"long_operations\": 1", "counts of events do not"},
        {"\"mispredictions\": ", "\"mispredictions\": 900", "counts of events do not"},
        {"\"system_cycles\": ", "\"system_cycles\": 1", "counts of events do not"},
        {"\"dtlb_misses\": ", "\"dtlb_misses\": 1", "counts of events do not"},
        {"\"itlb_misses\": ", "\"itlb_misses\": 1", "counts of events do not"},
        {"\"culprit_locality\": 3", "\"culprit_locality\": 2", "version 2"},
        {"\"culprit_locality\"", "\"culprit\"", "not a profile"},
        {"\"levels\"", "{", "no JSON"}};
    struct locality locality, again;
    make_profile(&locality);
    char *text = text_of(&locality);
    for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; i++) {
        const char *at = strstr(text, CHANGES[i][0]);
        struct error error = {0};
        char *changed = malloc(strlen(text) + 64), wanted[2][32] = {"", ""};
        assert_non_null(at);
        sprintf(changed, "%.*s%s%s", (int)(at - text), text, CHANGES[i][1],
                at + strlen(CHANGES[i][0]));
        if (read_text(changed, &again, &error))
            fail_msg("%s is believed", CHANGES[i][1]);
        sscanf(CHANGES[i][2], "%31[^|]|%31[^|]", wanted[0], wanted[1]);
        if (!strstr(error.message, wanted[0]) && !(*wanted[1] && strstr(error.message, wanted[1])))
            fail_msg("%s: %s", CHANGES[i][1], error.message);
        assert_null(strchr(error.message, '\n'));
        locality_free(&again);
        free(changed);
    }
    free(text);
    locality_free(&locality);
}

/* Sequences take some time, and none lasts longer than the run. */
static void times_are_possible(void **state) {
    (void)state;
    struct locality locality, again;
    make_profile(&locality);
    struct locality_level *dtlb = &locality.core[LOCALITY_DTLB];
    struct circular_count *count = &dtlb->circular[1][1]; /* of pages a, b and a */
    assert_true(count->count > 0);
    const double longest = (double)count->count * (double)dtlb->run;
    const double times[] = {longest, 0, -1, 1.01 * longest};
    for (int i = 0; i < 4; i++) {
        struct error error = {0};
        count->time = times[i];
        char *text = text_of(&locality);
        const bool believed = read_text(text, &again, &error);
        assert_int_equal(believed, i == 0);
        assert_true(believed || strstr(error.message, "circular sequences"));
        locality_free(&again);
        free(text);
    }
    locality_free(&locality);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(comes_back),
                                       cmocka_unit_test(damage_is_told),
                                       cmocka_unit_test(times_are_possible)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
