/* Files of shotgun samples: bytes by hand, what is written is read back, and what can happen to a
 * file on the way is told and never believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "memory/memory.h"
#include "shotgun/format.h"

/* A load that missed the L2, 300 cycles, whose line the 5th µop before it had asked for. */
static void bytes_by_hand(void **state) {
    (void)state;
    const struct shotgun_sample sample = {.context = (uint64_t)2 << 20 | 1,
                                          .insn = 7,
                                          .target = SHOTGUN_NONE,
                                          .uop_count = 1,
                                          .uops_executed = 1};
    const struct shotgun_uop uop = {.flags = GRAPH_PENDING,
                                    .store_insn = SHOTGUN_NONE,
                                    .fetch_cache = 10,
                                    .execution = 1,
                                    .miss = 300,
                                    .fetched_by = 5,
                                    .level = LEVEL_DRAM,
                                    .walk = 30};
    static const uint8_t expected[SHOTGUN_SAMPLE_BYTES + SHOTGUN_UOP_BYTES] = {
        1,    0,    0x20, 0,    0, 0, 0, 0, 7, 0, 0,    0, /* context: bit 2 of the own two; number
                                                            */
        0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1, 0, 0,    0, 1, 0, 0, 0, /* target; executed; kept */
        0,    1,    0,    0,                                           /* bit 8 */
        0xff, 0xff, 0xff, 0xff,                                        /* no store */
        10,   0,    0,    0,    0, 0, 0, 0, 1, 0, 0x2c, 1, /* fetch, unit, execution, miss */
        0,    0,    0,    0,    0, 0, 0, 0, 5, 0, 0,    0, 0, 0, 0, 0, /* fetched_by */
        30,   0,    3,    0};                                          /* walk; level */
    uint8_t bytes[sizeof expected];
    assert_int_equal(shotgun_pack(&sample, &uop, bytes), sizeof expected);
    assert_memory_equal(bytes, expected, sizeof expected);

    struct shotgun_sample again;
    struct shotgun_uop uops[SHOTGUN_INSN_UOPS];
    uint32_t taken;
    assert_null(shotgun_unpack(bytes, sizeof bytes, &again, uops, &taken));
    assert_int_equal(taken, sizeof bytes);
    assert_memory_equal(&again, &sample, sizeof sample);
    assert_memory_equal(uops, &uop, sizeof uop);
    for (uint32_t size = 0; size < sizeof bytes; size++)
        assert_non_null(shotgun_unpack(bytes, size, &again, uops, &taken));
    static const struct {
        uint8_t at, value;
    } wrong[] = {{7, 0x80}, {16, 2}, {20, 0}, {24, 0}, {24, 65}, {29, 8}, {66, 4}, {67, 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t kept = bytes[wrong[i].at];
        bytes[wrong[i].at] = wrong[i].value;
        assert_non_null(shotgun_unpack(bytes, sizeof bytes, &again, uops, &taken));
        bytes[wrong[i].at] = kept;
    }
}

/* ---- whole files ---- */

/*  0 add rax, rcx      1 jne 0      2 mov rax, [rcx]      3 no instruction */
static struct static_insn CODE[] = {{.offset = 0x100, .length = 3, .bytes = {0x48, 0x01, 0xc8}},
                                    {.offset = 0x103, .length = 2, .bytes = {0x75, 0xfb}},
                                    {.offset = 0x105, .length = 3, .bytes = {0x48, 0x8b, 0x01}},
                                    {.offset = 0x108, .length = 2, .bytes = {0x06, 0x06}}};
enum { INSNS = sizeof CODE / sizeof *CODE, SAMPLES = 9000, LENGTH = 40 };

static struct shotgun_database make_database(void) {
    struct shotgun_database database;
    struct shotgun_options options = {.period = 100, .length = LENGTH, .seed = 9};
    struct error error;
    shotgun_database_init(&database, &options);
    database.instructions = 123456;
    database.cycles = 654321;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct shotgun_uop uops[2] = {{.miss = (uint16_t)i}, {.unit_wait = 3}};
        struct shotgun_sample sample = {.context = i,
                                        .insn = i % INSNS,
                                        .target = i % 2 ? SHOTGUN_NONE : 0,
                                        .uop_count = 1 + i % 2,
                                        .uops_executed = 1 + i % 2};
        assert_true(shotgun_add_sample(&database, &sample, uops, &error));
    }
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t bits[2] = {i, 0xffff};
        assert_true(shotgun_add_skeleton(&database, i, bits, NULL, NULL, NULL, 0, &error));
    }
    return database;
}

struct memory_file {
    int fd;
    char path[64];
};

static struct memory_file new_file(void) {
    struct memory_file file = {.fd = memfd_create("shotgun", 0)};
    assert_true(file.fd >= 0);
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
    return file;
}

static struct memory_file written(struct shotgun_database *database) {
    struct memory_file file = new_file();
    struct code code = {.isa = ISA_X86_64, .insns = CODE, .insn_count = INSNS};
    static const char *const settings[] = {"l1d.latency=4", "core.rob=128"};
    struct shotgun_header header = {
        .machine = "fields2004", .command = "demo -n 3", .settings = settings, .setting_count = 2};
    struct error error;
    if (!shotgun_write(file.path, &header, database, &code, &error))
        fail_msg("%s", error.message);
    return file;
}

static void round_trip(void **state) {
    (void)state;
    struct shotgun_database database = make_database();
    struct memory_file input = written(&database);
    struct shotgun_file file;
    struct error error;
    if (!shotgun_read(input.path, &file, &error))
        fail_msg("%s", error.message);
    assert_string_equal(file.machine, "fields2004");
    assert_string_equal(file.command, "demo -n 3");
    assert_string_equal(file.settings, "l1d.latency=4\ncore.rob=128\n");
    assert_int_equal(file.database.cycles, 654321);
    assert_int_equal(file.database.instructions, 123456);
    assert_int_equal(file.database.options.length, LENGTH);
    assert_int_equal(file.database.options.period, 100);
    assert_int_equal(file.database.sample_count, SAMPLES);
    assert_memory_equal(file.database.samples, database.samples,
                        SAMPLES * sizeof *database.samples);
    assert_memory_equal(file.database.uops, database.uops,
                        database.uop_count * sizeof *database.uops);
    assert_int_equal(file.database.skeleton_count, 3);
    assert_memory_equal(file.database.starts, database.starts, 3 * sizeof *database.starts);
    assert_memory_equal(file.database.bits, database.bits, 6 * sizeof *database.bits);

    const struct static_insn *insns = file.code.code.insns;
    assert_int_equal(file.code.code.insn_count, INSNS);
    assert_int_equal(insns[1].branch, BRANCH_CONDITIONAL);
    assert_int_equal(insns[1].target_displacement, -3);
    assert_int_equal(file.code.code.uops[insns[2].first_uop].operation, OP_LOAD);
    assert_int_equal(insns[3].operation, OP_SYSTEM);
    assert_int_equal(insns[3].uop_count, 1);
    assert_true(shotgun_code_link(&file.code, &error));
    assert_int_equal(file.code.flows[1].target, 0);
    assert_int_equal(file.code.flows[1].next, 2);
    assert_int_equal(file.code.flows[1].before, 0);
    shotgun_file_free(&file);
    shotgun_database_free(&database);
    close(input.fd);
}

static uint8_t *bytes_of(const struct memory_file *file, size_t *size) {
    *size = (size_t)lseek(file->fd, 0, SEEK_END);
    uint8_t *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(pread(file->fd, bytes, *size, 0), *size);
    return bytes;
}

static bool readable(const uint8_t *bytes, size_t size, char message[1024]) {
    struct memory_file input = new_file();
    struct shotgun_file file;
    struct error error = {0};
    assert_int_equal(write(input.fd, bytes, size), size);
    bool good = shotgun_read(input.path, &file, &error);
    assert_true(good || strstr(error.message, input.path));
    snprintf(message, 1024, "%s", error.message);
    shotgun_file_free(&file);
    close(input.fd);
    return good;
}

/* Cut anywhere, or with any byte changed, it is refused. */
static void damaged_files(void **state) {
    (void)state;
    struct shotgun_database database = make_database();
    database.sample_count = 5;
    struct memory_file file = written(&database);
    size_t size;
    uint8_t *bytes = bytes_of(&file, &size);
    char message[1024];
    assert_true(readable(bytes, size, message));
    for (size_t cut = 0; cut < size; cut++)
        assert_false(readable(bytes, cut, message));
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 0x10;
        assert_false(readable(bytes, size, message));
        bytes[at] ^= 0x10;
    }
    free(bytes);
    shotgun_database_free(&database);
    close(file.fd);
}

/* Well-formed records that cannot be: what is told names them. */
static void impossible_files(void **state) {
    (void)state;
    static const struct {
        uint32_t type, at, value; /* of a record's payload */
        const char *message;
    } cases[] = {{SHOTGUN_HEADER, 0, 2, "makes no sense"},
                 {SHOTGUN_HEADER, 4, SHOTGUN_LENGTH_MAX + 1, "makes no sense"},
                 {SHOTGUN_HEADER, 4, 0, "makes no sense"},
                 {SHOTGUN_HEADER, 8, SHOTGUN_PERIOD_MIN - 1, "makes no sense"},
                 {SHOTGUN_HEADER, 40, 0xffffffff, "wrong size"},
                 {SHOTGUN_HEADER, 56, 1, "wrong size"},
                 {SHOTGUN_HEADER, 60, SHOTGUN_PC_BITS + 1, "makes no sense"},
                 {SHOTGUN_CODE, 12, 17, "impossible length"},
                 {SHOTGUN_SAMPLES, 8, INSNS, "not known"},
                 {SHOTGUN_SAMPLES, 12, INSNS, "not known"},
                 {SHOTGUN_SIGNATURES, 0, INSNS, "not known"},
                 {SHOTGUN_END, 8, 4, "samples are missing"}};
    struct shotgun_database database = make_database();
    database.sample_count = 5;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct memory_file file = written(&database);
        size_t size, at = SHOTGUN_PROLOGUE_BYTES;
        uint8_t *bytes = bytes_of(&file, &size);
        char message[1024];
        while (get_u32(bytes + at) != cases[i].type)
            at += RECORD_HEAD_BYTES + get_u32(bytes + at + 4);
        uint8_t *payload = bytes + at + RECORD_HEAD_BYTES;
        put_u32(payload + cases[i].at, cases[i].value);
        put_u64(bytes + at + 8, record_checksum(bytes + at, payload, get_u32(bytes + at + 4)));
        assert_false(readable(bytes, size, message));
        if (!strstr(message, cases[i].message))
            fail_msg("%s: not '%s'", message, cases[i].message);
        free(bytes);
        close(file.fd);
    }
    shotgun_database_free(&database);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_by_hand),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(impossible_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
