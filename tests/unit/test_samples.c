/* Files of TIP's and TEA's samples: their bytes by hand, what is written is read back and gives the
 * profile it was taken from, and nothing that can happen to a file on the way crashes the reader or
 * makes it answer wrongly. */
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "profile_fixture.h"
#include "samples/format.h"

static const struct sample_header HEADER = {.events = true,
                                            .commit_width = 4,
                                            .clock_hz = 3200000000,
                                            .sampling = {.period = 800000},
                                            .machine = "little",
                                            .command = "demo -n 3"};

/* ---- bytes ---- */

/* TEA on four banks: banks 3 and 0 commit µops, the older one of bank 3 with ST-L1 and ST-TLB.
 * Flags register: no flag (bits 0-4), valid 1001 (5-8), oldest 3 (9-10), events of bank 0 (11-20)
 * none, of 3 (41-50) ST-L1 and ST-TLB (bits 6 and 7 of the ten): 2^47 + 2^48. In a file of version
 * 1, with nine events, those of bank 3 are bits 38-46: 2^44 + 2^45. */
static void bytes_by_hand(void **state) {
    (void)state;
    struct sample sample = {.process = 7,
                            .thread = 2,
                            .core = 2,
                            .time = 1600000,
                            .period = 800000,
                            .cycles = 800000,
                            .oldest = 3,
                            .valid = 1 << 3 | 1 << 0,
                            .address = {[3] = 0x10fe, [0] = 0x1102},
                            .events = {[3] = PSV_ST_L1 | PSV_ST_TLB}};
    uint8_t bytes[SAMPLE_BYTES_MAX];
    assert_int_equal(sample_bytes(&HEADER), 88);
    sample_pack(&HEADER, &sample, bytes);
    static const uint8_t expected[88] = {
        9,    0,    0,    0,    2,    0,    88,   0,    /* PERF_RECORD_SAMPLE, user, 88 bytes */
        7,    0,    0,    0,    2,    0,    0,    0,    /* process, thread */
        0x00, 0x6a, 0x18, 0x00, 0,    0,    0,    0,    /* time */
        2,    0,    0,    0,    0,    0,    0,    0,    /* core */
        0x00, 0x35, 0x0c, 0x00, 0,    0,    0,    0,    /* period */
        0x00, 0x35, 0x0c, 0x00, 0,    0,    0,    0,    /* cycles */
        0x20, 0x07, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00, /* flags: 2^5 + 2^8 + 3 * 2^9 + events */
        0x02, 0x11, 0,    0,    0,    0,    0,    0,    /* address 0 */
        0,    0,    0,    0,    0,    0,    0,    0,    /* 1 */
        0,    0,    0,    0,    0,    0,    0,    0,    /* 2 */
        0xfe, 0x10, 0,    0,    0,    0,    0,    0,    /* 3 */
    };
    assert_memory_equal(bytes, expected, sizeof expected);

    struct sample again;
    uint8_t banks[SAMPLE_MAX_BANKS];
    assert_null(sample_unpack(&HEADER, bytes, &again));
    assert_memory_equal(&again, &sample, sizeof sample);
    assert_int_equal(sample_sharers(&again, 4, banks), 2);
    assert_int_equal(banks[0], 3);
    assert_int_equal(banks[1], 0);

    struct sample_header older = HEADER;
    uint8_t bytes_of_nine[88];
    older.nine_events = true;
    memcpy(bytes_of_nine, expected, sizeof bytes_of_nine);
    bytes_of_nine[48 + 5] = 0x30;
    bytes_of_nine[48 + 6] = 0;
    assert_int_equal(sample_bytes(&older), 88);
    assert_null(sample_unpack(&older, bytes_of_nine, &again));
    assert_memory_equal(&again, &sample, sizeof sample);
}

/* All widths and both kinds, with all bits that may be set; the last address is where it should be.
 */
static void bytes_of_all_widths(void **state) {
    (void)state;
    struct sample_header header = HEADER;
    for (int events = 0; events <= 1; events++)
        for (header.commit_width = 1; header.commit_width <= SAMPLE_MAX_BANKS;
             header.commit_width++) {
            uint32_t width = header.commit_width;
            header.events = events;
            struct sample sample = {.time = UINT64_MAX, .period = 1, .cycles = 1};
            sample.valid = (uint32_t)((UINT64_C(1) << width) - 1);
            sample.oldest = width - 1;
            for (uint32_t i = 0; i < width; i++) {
                sample.address[i] = UINT64_MAX - i;
                sample.events[i] = events ? PSV_SAMPLED : 0;
            }
            uint8_t bytes[SAMPLE_BYTES_MAX];
            struct sample again;
            uint32_t size = sample_bytes(&header);
            assert_true(size <= sizeof bytes);
            sample_pack(&header, &sample, bytes);
            assert_int_equal(get_u64(bytes + size - 8), UINT64_MAX - (width - 1));
            assert_null(sample_unpack(&header, bytes, &again));
            assert_memory_equal(&again, &sample, sizeof sample);
        }
}

/* What the registers never hold is refused. */
static void impossible_samples(void **state) {
    (void)state;
    static const struct sample good = {.time = 10,
                                       .period = 10,
                                       .cycles = 10,
                                       .flags = TIP_STALLED,
                                       .oldest = 1,
                                       .valid = 2,
                                       .address = {0, 0x1000}};
    struct sample bad[7];
    for (int i = 0; i < 7; i++)
        bad[i] = good;
    bad[0].flags = TIP_STALLED | TIP_FLUSH;
    bad[1].oldest = 2;
    bad[2].valid = 3;
    bad[3].address[0] = 4;
    bad[4].events[3] = PSV_DR_L1;
    bad[5].cycles = 11;
    bad[6].cycles = 0;
    uint8_t bytes[SAMPLE_BYTES_MAX];
    struct sample again;
    sample_pack(&HEADER, &good, bytes);
    assert_null(sample_unpack(&HEADER, bytes, &again));
    for (int i = 0; i < 7; i++) {
        sample_pack(&HEADER, &bad[i], bytes);
        assert_non_null(sample_unpack(&HEADER, bytes, &again));
    }
    sample_pack(&HEADER, &good, bytes);
    bytes[40 + 8 + 7] = 0x80; /* bit 63 of the flags register */
    assert_non_null(sample_unpack(&HEADER, bytes, &again));
}

/* Paper A §3.2: 352 KB/s for TIP and 224 KB/s for the others at 4 kHz. */
static void data_rates(void **state) {
    (void)state;
    assert_true(sample_rate(88, 800000, 3200000000) == 352000);
    assert_true(sample_rate(56, 800000, 3200000000) == 224000);
}

/* ---- a simulation, written and read ---- */

static void place_of_fixture(void *context, uint32_t insn, struct sample_place *place) {
    const struct program_fixture *program = context;
    *place = (struct sample_place){.address = program->insns[insn].address,
                                   .image = insn % 3,
                                   .offset = insn * 16,
                                   .path = insn % 3 ? "/lib/b" : "/bin/a",
                                   .build_id = (const uint8_t *)"0123456789",
                                   .build_id_size = 10};
}

/* The program drawn at random under a writer; the file, in memory, and its size. */
static char *write_file(const struct sample_header *header, struct program_fixture *program,
                        size_t *size) {
    struct error error;
    char *bytes;
    FILE *file = open_memstream(&bytes, size);
    struct sample_writer *writer =
        sample_writer_new(file, "memory", header, place_of_fixture, program, &error);
    assert_non_null(writer);
    struct sample_lane *lane = sample_lane_new(writer, 11, 5);
    struct tap_worker worker = sample_lane_worker(lane);
    program->worker = &worker;
    struct machine machine = random_machine();
    simulate_on(program, &machine, 0, FIXTURE_DYNAMIC, NULL, NULL);
    program->worker = NULL;
    sample_lane_free(lane);
    if (!sample_writer_close(writer, &error))
        fail_msg("%s", error.message);
    fclose(file);
    return bytes;
}

static const char *in_memory(int *file, const void *bytes, size_t size) {
    static char path[64];
    *file = memfd_create("samples", 0);
    assert_true(*file >= 0 && write(*file, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", *file);
    return path;
}

/* What software makes of the file: 1/840 cycles by instruction and signature. */
static struct pics *profile_of_file(const char *path, const struct program_fixture *program,
                                    uint64_t *samples) {
    struct error error;
    struct sample sample;
    struct pics *pics = pics_new();
    struct sample_reader *reader = sample_reader_open(path, &error);
    if (!reader)
        fail_msg("%s", error.message);
    uint32_t width = sample_reader_header(reader)->commit_width;
    int status;
    for (*samples = 0; (status = sample_reader_next(reader, &sample, &error)) > 0; ++*samples) {
        uint8_t banks[SAMPLE_MAX_BANKS];
        unsigned n = sample_sharers(&sample, width, banks);
        for (unsigned i = 0; i < n; i++) {
            struct sample_place place;
            assert_true(sample_reader_place(reader, 11, sample.address[banks[i]], &place));
            uint32_t insn = (uint32_t)(place.offset / 16);
            assert_int_equal(program->insns[insn].address, sample.address[banks[i]]);
            assert_string_equal(place.path, insn % 3 ? "/lib/b" : "/bin/a");
            assert_true(
                pics_add(pics, insn, sample.events[banks[i]], sample.cycles * CYCLE_UNITS / n));
        }
    }
    assert_int_equal(status, 0);
    assert_false(sample_reader_is_cut(reader));
    sample_reader_close(reader);
    return pics;
}

/* The file's profile is the one that the profiler itself makes, for both, periodic and random. */
static void file_gives_the_profile(void **state) {
    (void)state;
    static const struct sampler_options samplings[] = {
        {.period = 1}, {.period = 37}, {.mode = SAMPLER_RANDOM, .period = 37, .seed = 4}};
    struct program_fixture *program = program_fixture_new();
    draw_program(program);
    for (int i = 0; i < 6; i++) {
        struct sample_header header = HEADER;
        header.events = i % 2;
        header.sampling = samplings[i / 2];
        size_t size;
        char *bytes = write_file(&header, program, &size);
        int file;
        uint64_t samples;
        struct pics *read = profile_of_file(in_memory(&file, bytes, size), program, &samples);
        close(file);
        free(bytes);

        struct error error;
        struct profile_result result;
        struct profile_options options = {profiler_find(i % 2 ? "TEA" : "TIP"), header.sampling, 4};
        struct profile_group *group = profile_group_new(&options, 1, &error);
        struct profile_lane *lane = profile_lane_new(group);
        struct tap_worker worker = profile_lane_worker(lane);
        program->worker = &worker;
        struct machine machine = random_machine();
        simulate_on(program, &machine, 0, FIXTURE_DYNAMIC, NULL, NULL);
        profile_lane_free(lane);
        assert_true(profile_group_finish(group, &result, &error));
        assert_same_pics("file", read, result.pics);
        assert_int_equal(samples, result.samples);
        assert_true(size > result.bytes && size < result.bytes + 100000);
        profile_group_free(group);
        pics_free(read);
    }
    program_fixture_free(program);
}

/* A full disk ends the run with one line; so does a core that commits more than a sample holds. */
static void failures_have_a_message(void **state) {
    (void)state;
    struct error error;
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    struct sample_header header = HEADER;
    header.sampling.period = 1;
    struct program_fixture *program = program_fixture_new();
    struct sample_writer *writer =
        sample_writer_new(full, "there.samples", &header, place_of_fixture, program, &error);
    assert_non_null(writer);
    struct sample_lane *lane = sample_lane_new(writer, 0, 0);
    struct tap_worker worker = sample_lane_worker(lane);
    struct tap_script *script = tap_script_new();
    bool right = true;
    program->insns[1].address = 0x10000;
    for (uint64_t cycle = 1; right && cycle < 100000; cycle++) {
        script_record(script, TAP_COMMIT, cycle, TAP_DRAINED, 0, UOPS(tap_uop(1, 0, TAP_UOP_LAST)));
        if (cycle % 1000 == 0) {
            right = worker.consume(worker.context, &script->buffer, &error);
            script_next_buffer(script);
        }
    }
    assert_false(right);
    assert_string_equal(error.message,
                        "cannot write samples to there.samples: No space left on device");
    assert_false(sample_writer_close(writer, &error));
    assert_string_equal(error.message,
                        "cannot write samples to there.samples: No space left on device");
    sample_lane_free(lane);
    fclose(full);
    tap_script_free(script);

    size_t size;
    char *bytes;
    FILE *file = open_memstream(&bytes, &size);
    writer = sample_writer_new(file, "wide", &header, place_of_fixture, program, &error);
    lane = sample_lane_new(writer, 0, 0);
    worker = sample_lane_worker(lane);
    script = tap_script_new();
    script_record(script, TAP_COMMIT, 3, TAP_DRAINED, 1,
                  UOPS(1, 1, 1, 1, 1)); /* five of instruction 1 */
    assert_false(worker.consume(worker.context, &script->buffer, &error));
    assert_non_null(strstr(error.message, "5 µops commit in a cycle"));
    sample_lane_free(lane);
    assert_false(sample_writer_close(writer, &error));
    tap_script_free(script);
    fclose(file);
    free(bytes);
    program_fixture_free(program);
}

/* ---- hostile files ---- */

/* A file of some hundred samples. */
static char *small_file(size_t *size) {
    struct sample_header header = HEADER;
    header.sampling.period = 500;
    struct program_fixture *program = program_fixture_new();
    draw_program(program);
    char *bytes = write_file(&header, program, size);
    program_fixture_free(program);
    return bytes;
}

/* Reads to the end: how many samples there were; −1: an error, which has one line. */
static int64_t read_all(const void *bytes, size_t size, bool *cut) {
    struct error error = {0};
    struct sample sample;
    int file;
    int64_t samples = 0;
    struct sample_reader *reader = sample_reader_open(in_memory(&file, bytes, size), &error);
    int status = reader ? 1 : -1;
    while (status > 0 && (status = sample_reader_next(reader, &sample, &error)) > 0)
        samples++;
    if (status < 0)
        assert_true(error.message[0] && !strchr(error.message, '\n'));
    *cut = reader && sample_reader_is_cut(reader);
    sample_reader_close(reader);
    close(file);
    return status < 0 ? -1 : samples;
}

/* Cut anywhere: what is before the cut is there, and it is told that there was more. */
static void cut_files(void **state) {
    (void)state;
    size_t size;
    char *bytes = small_file(&size);
    bool cut;
    int64_t all = read_all(bytes, size, &cut), before = 0;
    assert_true(all > 100 && !cut);
    for (size_t length = 0; length < size;
         length += length < 1000 || length + 200 > size ? 1 : 97) {
        int64_t samples = read_all(bytes, length, &cut);
        assert_true(samples >= before || (samples < 0 && before == 0));
        assert_true(samples < 0 || cut);
        before = samples > before ? samples : before;
    }
    assert_int_equal(before, all);
    free(bytes);
}

/* Any byte changed is found out: checksums cover all but the sizes, and those do not fit then. */
static void damaged_files(void **state) {
    (void)state;
    size_t size;
    char *bytes = small_file(&size);
    bool cut;
    for (size_t at = 0; at < size; at += at < 2000 || at + 200 > size ? 1 : 53) {
        bytes[at] ^= 0x10;
        int64_t samples = read_all(bytes, size, &cut);
        assert_true(samples < 0 || cut);
        bytes[at] ^= 0x10;
    }
    free(bytes);
}

/* Damage under right checksums: never a crash; what comes out keeps its promises. */
static void damaged_payloads(void **state) {
    (void)state;
    size_t size;
    char *bytes = small_file(&size), *copy = malloc(size);
    uint32_t random = 77;
    for (int round = 0; round < 3000; round++) {
        memcpy(copy, bytes, size);
        size_t record = SAMPLE_PROLOGUE_BYTES, chosen = next_random(&random) % 60;
        for (size_t i = 0; i < chosen; i++) {
            size_t next = record + RECORD_HEAD_BYTES + get_u32((uint8_t *)copy + record + 4);
            record = next < size ? next : record;
        }
        uint8_t *head = (uint8_t *)copy + record;
        uint32_t payload = get_u32(head + 4);
        for (int i = 0; i < 3; i++)
            head[RECORD_HEAD_BYTES + next_random(&random) % payload] =
                (uint8_t)next_random(&random);
        put_u64(head + 8, record_checksum(head, head + RECORD_HEAD_BYTES, payload));
        bool cut;
        read_all(copy, size, &cut);
    }
    free(copy);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_by_hand),
        cmocka_unit_test(bytes_of_all_widths),
        cmocka_unit_test(impossible_samples),
        cmocka_unit_test(data_rates),
        cmocka_unit_test(file_gives_the_profile),
        cmocka_unit_test(failures_have_a_message),
        cmocka_unit_test(cut_files),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(damaged_payloads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
