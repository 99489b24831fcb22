/* What must hold of the profilers on any program, tried on 20,000 instructions drawn at random,
 * with mispredictions, flushes, ordering violations, and misses of both caches. */
#include "profile_fixture.h"

static struct program_fixture *program;
static struct recording recording;

static int simulate_once(void **state) {
    (void)state;
    struct machine machine = random_machine();
    program = program_fixture_new();
    draw_program(program);
    struct tap_worker recorder = recording_worker(&recording);
    program->worker = &recorder;
    simulate_on(program, &machine, 0, FIXTURE_DYNAMIC, NULL, NULL);
    /* All that is to be tried is there. */
    assert_true(program->statistics.ordering_violations > 20);
    assert_true(program->statistics.flushes > 10);
    for (int is = 0; is < STATE_COUNT; is++)
        assert_true(program->result.states[is] > 500);
    return 0;
}

static int free_once(void **state) {
    (void)state;
    program_fixture_free(program);
    free(recording.words);
    return 0;
}

static void profile_with(struct profile_set *set, const struct sampler_options *options,
                         unsigned cut) {
    set_open(set, options);
    struct tap_worker worker = set_worker(set);
    replay(&recording, &worker, cut);
    set_finish(set);
}

static void assert_same_results(const struct profile_set *a, const struct profile_set *b) {
    for (unsigned i = 0; i < SET_PROFILERS; i++) {
        assert_int_equal(a->results[i].period, b->results[i].period);
        assert_int_equal(a->results[i].samples, b->results[i].samples);
        assert_int_equal(a->results[i].lost, b->results[i].lost);
        assert_same_pics(profilers[i]->name, a->results[i].pics, b->results[i].pics);
    }
}

/* Instruction by instruction, whatever the signature. */
static void assert_same_sums(const struct profile_set *set, const char *a, const char *b) {
    for (uint32_t insn = 0; insn < program->code.insn_count; insn++)
        assert_int_equal(units_of(result_of(set, a)->pics, insn, -1),
                         units_of(result_of(set, b)->pics, insn, -1));
}

/* TIP at a period of one cycle is Oracle, TEA the golden reference; every cycle is somebody's, or
 * lost at the end where nothing was left to fetch; what samples in the same way agrees. */
static void every_cycle_is_exact(void **state) {
    (void)state;
    for (enum sampler_mode mode = SAMPLER_PERIODIC; mode <= SAMPLER_RANDOM; mode++) {
        struct sampler_options options = {.mode = mode, .period = 1, .seed = 7};
        struct profile_set set;
        profile_with(&set, &options, 0);
        assert_same_pics("TIP", result_of(&set, "TIP")->pics, oracle_profile(program->oracle));
        assert_same_pics("TEA", result_of(&set, "TEA")->pics, golden_profile(program->golden));
        for (unsigned i = 0; i < SET_PROFILERS; i++) {
            const struct profile_result *result = &set.results[i];
            assert_int_equal(pics_total(result->pics) + result->lost * CYCLE_UNITS,
                             program->result.cycles * CYCLE_UNITS);
            assert_int_equal(result->samples + result->lost, program->result.cycles);
            assert_true(result->lost < (profilers[i]->at_commit ? 1 : 300));
        }
        assert_same_sums(&set, "NCI", "NCI-TEA");
        assert_same_sums(&set, "Dispatch", "IBS");
        assert_same_sums(&set, "Dispatch", "SPE");
        assert_same_sums(&set, "Software", "RIS");
        set_close(&set);
    }
}

/* However the records are cut into buffers. */
static void cuts_change_nothing(void **state) {
    (void)state;
    static const struct sampler_options options[] = {
        {.period = 1},
        {.period = 13},
        {.mode = SAMPLER_RANDOM, .period = 13, .seed = 3},
        {.samples = 1000},
        {.mode = SAMPLER_RANDOM, .samples = 1000, .seed = 3},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct profile_set whole, cut;
        profile_with(&whole, &options[i], 0);
        for (unsigned records = 1; records <= 100; records = records * 3 + 1) {
            profile_with(&cut, &options[i], records);
            assert_same_results(&whole, &cut);
            set_close(&cut);
        }
        set_close(&whole);
    }
}

/* Weights sum to the cycle of the last sample; all profilers sample the same cycles. */
static void weights_sum_to_the_last_sample(void **state) {
    (void)state;
    static const struct sampler_options options[] = {
        {.period = 100},
        {.mode = SAMPLER_RANDOM, .period = 100, .seed = 3},
        {.mode = SAMPLER_RANDOM, .samples = 200, .seed = 3},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct profile_set set;
        profile_with(&set, &options[i], 0);
        uint64_t total = pics_total(result_of(&set, "TIP")->pics);
        uint64_t period = result_of(&set, "TIP")->period;
        assert_in_range(total / CYCLE_UNITS, program->result.cycles - 2 * period + 1,
                        program->result.cycles);
        for (unsigned k = 0; k < SET_PROFILERS; k++)
            assert_int_equal(pics_total(set.results[k].pics) + set.results[k].lost * CYCLE_UNITS,
                             total);
        set_close(&set);
    }
}

/* Asked for N samples, the period doubles until fewer than 2 N are left: those that would have been
 * taken with this period from the start. */
static void asked_for_samples(void **state) {
    (void)state;
    for (uint64_t samples = 50; samples < 40000; samples *= 5) {
        struct sampler_options options = {.samples = samples};
        struct profile_set asked, given;
        profile_with(&asked, &options, 0);
        uint64_t period = result_of(&asked, "TIP")->period;
        assert_in_range(result_of(&asked, "TIP")->samples, samples, 2 * samples - 1);
        assert_int_equal(result_of(&asked, "TIP")->samples, program->result.cycles / period);
        options = (struct sampler_options){.period = period};
        profile_with(&given, &options, 0);
        assert_same_results(&asked, &given);
        set_close(&asked);
        set_close(&given);
    }
    /* More than there are cycles: all of them. */
    struct sampler_options options = {.samples = program->result.cycles};
    struct profile_set all;
    profile_with(&all, &options, 0);
    assert_int_equal(result_of(&all, "TIP")->period, 1);
    assert_same_pics("TIP", result_of(&all, "TIP")->pics, oracle_profile(program->oracle));
    set_close(&all);
}

/* A group's profiles are those that each profiler makes alone, with the profiles of a group going
 * through the records together, in whatever order they are in it. */
static void groups_change_nothing(void **state) {
    (void)state;
    static const struct sampler_options samplings[] = {
        {.period = 1},
        {.mode = SAMPLER_RANDOM, .period = 13, .seed = 3},
        {.mode = SAMPLER_RANDOM, .samples = 300, .seed = 3},
    };
    for (size_t k = 0; k < sizeof samplings / sizeof *samplings; k++) {
        struct profile_set alone;
        profile_with(&alone, &samplings[k], 0);
        bool grouped[SET_PROFILERS] = {false};
        for (unsigned first = 0; first < SET_PROFILERS; first++) {
            struct profile_options options[SET_PROFILERS],
                one = {profilers[first], samplings[k], 4};
            unsigned members[SET_PROFILERS], count = 0;
            for (unsigned i = SET_PROFILERS; i-- > 0;) {
                options[count] = (struct profile_options){profilers[i], samplings[k], 4};
                if (!grouped[i] && profiles_go_together(&one, &options[count])) {
                    grouped[i] = true;
                    members[count++] = i;
                }
            }
            if (!count)
                continue;
            struct error error;
            struct profile_result results[SET_PROFILERS];
            struct profile_group *group = profile_group_new(options, count, &error);
            struct profile_lane *lane = profile_lane_new(group);
            struct tap_worker worker = profile_lane_worker(lane);
            replay(&recording, &worker, 33);
            profile_lane_free(lane);
            assert_true(profile_group_finish(group, results, &error));
            for (unsigned i = 0; i < count; i++) {
                const struct profile_result *expected = &alone.results[members[i]];
                assert_same_pics(profilers[members[i]]->name, results[i].pics, expected->pics);
                assert_int_equal(results[i].samples, expected->samples);
                assert_int_equal(results[i].bytes, expected->bytes);
                assert_int_equal(results[i].lost, expected->lost);
            }
            profile_group_free(group);
        }
        set_close(&alone);
    }
    /* What samples other cycles, or looks elsewhere, does not belong in it. */
    struct profile_options tip = {profiler_find("TIP"), samplings[1], 4}, other = tip;
    other.profiler = profiler_find("TEA");
    assert_true(profiles_go_together(&tip, &other));
    other.profiler = profiler_find("IBS");
    assert_false(profiles_go_together(&tip, &other));
    tip.profiler = profiler_find("RIS");
    assert_false(profiles_go_together(&tip, &other));
    other = tip;
    other.sampling.seed++;
    assert_false(profiles_go_together(&tip, &other));
}

/* Half of the records. */
static const uint64_t *half_way(void) {
    const uint64_t *word = recording.words;
    while (word < recording.words + recording.count / 2) {
        struct tap_record record;
        word = tap_read(word, &record);
    }
    return word;
}

/* Two cores, the second running half as long, in turns of so many records. */
static struct profile_group *profile_two_cores(const struct profile_options *options, size_t turn,
                                               struct profile_result *result) {
    struct error error;
    struct profile_group *group = profile_group_new(options, 1, &error);
    struct player players[2];
    struct profile_lane *lanes[2];
    for (int lane = 0; lane < 2; lane++) {
        lanes[lane] = profile_lane_new(group);
        struct tap_worker worker = profile_lane_worker(lanes[lane]);
        player_open(&players[lane], &recording, &worker, lane ? 10 : 33);
    }
    players[1].end = half_way();
    while (players[0].word < players[0].end || players[1].word < players[1].end) {
        player_play(&players[0], turn, false);
        player_play(&players[1], turn, false);
    }
    for (int lane = 0; lane < 2; lane++) {
        player_close(&players[lane]);
        profile_lane_free(lanes[lane]);
    }
    assert_true(profile_group_finish(group, result, &error));
    return group;
}

/* Whichever core's buffers come first, the profile of both is the same. */
static void cores_interleave(void **state) {
    (void)state;
    static const struct sampler_options samplings[] = {
        {.samples = 300}, {.mode = SAMPLER_RANDOM, .samples = 300}, {.period = 57}};
    for (size_t sampling = 0; sampling < sizeof samplings / sizeof *samplings; sampling++)
        for (unsigned i = 0; i < SET_PROFILERS; i++) {
            struct profile_options options = {profilers[i], samplings[sampling], 4};
            struct profile_result in_turn, one_by_one;
            struct profile_group *a = profile_two_cores(&options, 7, &in_turn);
            struct profile_group *b = profile_two_cores(&options, SIZE_MAX, &one_by_one);
            assert_same_pics(profilers[i]->name, in_turn.pics, one_by_one.pics);
            assert_int_equal(in_turn.samples, one_by_one.samples);
            assert_int_equal(in_turn.lost, one_by_one.lost);
            profile_group_free(a);
            profile_group_free(b);
        }
}

/* What a trigger hides is nobody's: the cycles before and after it are. */
static void hidden_cycles_are_nobodys(void **state) {
    (void)state;
    struct profile_set set;
    set_open(&set, &EVERY_CYCLE);
    struct tap_worker worker = set_worker(&set);
    struct player player;
    player_open(&player, &recording, &worker, 50);
    player_play(&player, 5000, false);
    uint64_t begin = player.script->after.last_commit;
    player_play(&player, 5000, true);
    uint64_t end = player.script->after.last_commit;
    player_play(&player, SIZE_MAX, false);
    player_close(&player);
    set_finish(&set);
    assert_true(end > begin + 1000);
    uint64_t shown = program->result.cycles - (end - begin);
    for (unsigned i = 0; i < SET_PROFILERS; i++)
        if (profilers[i]->at_commit)
            assert_int_equal(pics_total(set.results[i].pics), shown * CYCLE_UNITS);
        else /* what was dispatched or fetched after the last commit shown is there as well */
            assert_in_range(pics_total(set.results[i].pics) / CYCLE_UNITS + set.results[i].lost,
                            shown, shown + 200);
    set_close(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cycle_is_exact),           cmocka_unit_test(cuts_change_nothing),
        cmocka_unit_test(weights_sum_to_the_last_sample), cmocka_unit_test(asked_for_samples),
        cmocka_unit_test(groups_change_nothing),          cmocka_unit_test(cores_interleave),
        cmocka_unit_test(hidden_cycles_are_nobodys),
    };
    return cmocka_run_group_tests(tests, simulate_once, free_once);
}
