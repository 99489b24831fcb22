/* What --profiler makes of its lists: configurations, their labels and what they sample. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "options/profiler_choice.h"

static void is(const struct profiler_choice *choice, uint32_t number, const char *label,
               const char *profiler, struct sampler_options sampling) {
    const struct profile_options *profile = &choice->profiles[number];
    assert_string_equal(choice->labels[number], label);
    assert_string_equal(profile->profiler->name, profiler);
    assert_int_equal(profile->sampling.mode, sampling.mode);
    assert_int_equal(profile->sampling.period, sampling.period);
    assert_int_equal(profile->sampling.samples, sampling.samples);
    assert_int_equal(profile->sampling.seed, sampling.seed);
}

/* Settings follow a name behind a colon, or a comma; where there are none, those that hold for all.
 * A period takes nothing from the number of samples, which takes the place of a period. */
static void lists_of_names_and_settings(void **state) {
    (void)state;
    struct profiler_choice choice = {.sampling = {.mode = SAMPLER_RANDOM, .samples = 500}};
    profiler_choice_add_list(NULL, &choice, "tip,LCI:period=1K,periodic");
    profiler_choice_add_list(NULL, &choice, "TIP:samples=40,seed=3");
    profiler_choice_make(NULL, &choice);
    assert_int_equal(choice.count, 3);
    assert_int_equal(choice.all, 3);
    is(&choice, 0, "TIP", "TIP", (struct sampler_options){.mode = SAMPLER_RANDOM, .samples = 500});
    is(&choice, 1, "LCI:period=1K,periodic", "LCI",
       (struct sampler_options){.mode = SAMPLER_PERIODIC, .period = 1000, .samples = 500});
    is(&choice, 2, "TIP:samples=40,seed=3", "TIP",
       (struct sampler_options){.mode = SAMPLER_RANDOM, .samples = 40, .seed = 3});
    profiler_choice_free(&choice);
}

/* Two configurations of TIP are compared with one TIP of every cycle. */
static void every_cycle_once_of_each_profiler(void **state) {
    (void)state;
    struct profiler_choice choice = {.systematic = true, .sampling = {.period = 100}};
    profiler_choice_add_list(NULL, &choice, "TIP,TIP:random,NCI");
    profiler_choice_make(NULL, &choice);
    assert_int_equal(choice.count, 3);
    assert_int_equal(choice.all, 5);
    assert_string_equal(choice.profiles[3].profiler->name, "TIP");
    assert_string_equal(choice.profiles[4].profiler->name, "NCI");
    assert_int_equal(choice.profiles[3].sampling.period, 1);
    assert_int_equal(choice.profiles[4].sampling.period, 1);
    profiler_choice_free(&choice);
}

static void all_profilers_where_none_is_named(void **state) {
    (void)state;
    struct profiler_choice choice = {.sampling = {.period = 7}};
    profiler_choice_make(NULL, &choice);
    for (uint32_t i = 0; profilers[i]; i++)
        is(&choice, i, profilers[i]->name, profilers[i]->name,
           (struct sampler_options){.period = 7});
    assert_null(profilers[choice.count]);
    profiler_choice_free(&choice);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_of_names_and_settings),
                                       cmocka_unit_test(every_cycle_once_of_each_profiler),
                                       cmocka_unit_test(all_profilers_where_none_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
