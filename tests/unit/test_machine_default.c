/* Which machine is simulated when none is named: made-up processors, made-up folders of the user's
 * own machines, the variable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/choice.h"
#include "machine/default.h"

#include "temporary.h"

static const struct processor ZEN3 = {"AuthenticAMD", 0x19, 0x01, "", 0};
static const struct processor NONE = {"", 0, 0, "", 0};

static char directory[TEMPORARY_BYTES], own[TEMPORARY_BYTES + 16];

/* The folder of the user's own machines is one of the test's. */
static int make_own(void **state) {
    (void)state;
    if (!mkdtemp(temporary_name(directory, "default")))
        return -1;
    snprintf(own, sizeof own, "%s/culprit", directory);
    unsetenv("CULPRIT_MACHINE");
    unsetenv("CULPRIT_MACHINES");
    return setenv("XDG_CONFIG_HOME", directory, 1) || mkdir(own, 0755);
}

static int remove_own(void **state) {
    (void)state;
    return rmdir(own) || rmdir(directory);
}

static void own_path(char path[192], const char *name) {
    snprintf(path, 192, "%s/%s.ini", own, name);
}

static void write_own(const char *name, const char *text, mode_t mode) {
    char path[192];
    own_path(path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void remove_file(const char *name) {
    char path[192];
    own_path(path, name);
    assert_int_equal(remove(path), 0);
}

static struct machine_default default_of(enum isa isa, const struct processor *processor) {
    static struct machine_default chosen;
    struct error error = {0};
    memset(&chosen, 0x5a, sizeof chosen);
    if (!machine_default_of(isa, processor, &chosen, &error))
        fail_msg("%s", error.message);
    return chosen;
}

static void assert_default(const char *vendor, uint32_t family, uint32_t model, const char *machine,
                           enum machine_by by) {
    struct processor processor = {.family = family, .model = model};
    strcpy(processor.vendor, vendor);
    const struct machine_default chosen = default_of(ISA_X86_64, &processor);
    assert_string_equal(chosen.name, machine);
    assert_int_equal(chosen.reason.by, by);
}

static void by_processor(void **state) {
    (void)state;
    assert_default("AuthenticAMD", 0x19, 0x01, "zen3", MACHINE_BY_PROCESSOR);        /* Milan */
    assert_default("AuthenticAMD", 0x19, 0x21, "zen3", MACHINE_BY_PROCESSOR);        /* Vermeer */
    assert_default("AuthenticAMD", 0x19, 0x11, "zen4-server", MACHINE_BY_PROCESSOR); /* Genoa */
    assert_default("AuthenticAMD", 0x19, 0x61, "zen4", MACHINE_BY_PROCESSOR);        /* Raphael */
    assert_default("AuthenticAMD", 0x19, 0xa0, "zen4", MACHINE_BY_PROCESSOR);        /* Bergamo */
    assert_default("AuthenticAMD", 0x1a, 0x02, "zen5", MACHINE_BY_PROCESSOR);        /* Turin */
    assert_default("AuthenticAMD", 0x1a, 0x44, "zen5", MACHINE_BY_PROCESSOR); /* Granite Ridge */
    assert_default("AuthenticAMD", 0x1a, 0x50, "zen5", MACHINE_BY_NEAREST);
    assert_default("AuthenticAMD", 0x17, 0x31, "zen3", MACHINE_BY_NEAREST); /* Rome */
    assert_default("HygonGenuine", 0x18, 0x00, "zen3", MACHINE_BY_NEAREST);
    assert_default("GenuineIntel", 6, 0x6a, "icelake-server", MACHINE_BY_PROCESSOR);
    assert_default("GenuineIntel", 6, 0x55, "icelake-server", MACHINE_BY_NEAREST);
    assert_default("GenuineIntel", 6, 0x8f, "sapphire-rapids", MACHINE_BY_PROCESSOR);
    assert_default("GenuineIntel", 6, 0xad, "granite-rapids", MACHINE_BY_PROCESSOR);
    assert_default("GenuineIntel", 6, 0xae, "granite-rapids", MACHINE_BY_PROCESSOR);
    assert_default("GenuineIntel", 6, 0xa7, "icelake-server", MACHINE_BY_NEAREST);
    assert_default("GenuineIntel", 6, 0x1c, "zen4", MACHINE_BY_ARCHITECTURE);    /* Atom */
    assert_default("AuthenticAMD", 0x0f, 0x6b, "zen4", MACHINE_BY_ARCHITECTURE); /* QEMU's */
    assert_default("", 0, 0, "zen4", MACHINE_BY_ARCHITECTURE);
}

static const char *core_of(const char *vendor, uint32_t model, uint32_t features) {
    struct processor processor = {.family = 6, .model = model, .features = features};
    strcpy(processor.vendor, vendor);
    const struct processor_row *row = processor_find(&processor);
    return row ? row->core : "none";
}

/* Of a virtual machine the model may be an older processor's. What a core may have contradicts
 * nothing, and neither does what is hidden. */
static void by_features(void **state) {
    (void)state;
    enum {
        SAPPHIRE = PROCESSOR_AMX | PROCESSOR_AVX512_FP16,
        GRANITE = SAPPHIRE | PROCESSOR_L1I_64K
    };
    static const struct {
        uint32_t model, features;
        const char *core;
    } CASES[] = {
        {0xa7, GRANITE, "Intel Granite Rapids"},
        {0xa7, SAPPHIRE, "Intel Sapphire Rapids"},
        {0xa7, 0, "Intel Rocket Lake"},
        {0xa7, PROCESSOR_L1I_64K, "Intel Rocket Lake"},
        {0x8f, SAPPHIRE, "Intel Sapphire Rapids"},
        {0x8f, 0, "Intel Sapphire Rapids"},
        {0x8f, GRANITE, "Intel Granite Rapids"},
        {0xcf, SAPPHIRE, "Intel Emerald Rapids"},
        {0xcf, GRANITE, "Intel Granite Rapids"},
        {0xad, GRANITE, "Intel Granite Rapids"},
        {0xad, SAPPHIRE, "Intel Granite Rapids"},
        {0xaa, PROCESSOR_L1I_64K, "Intel Meteor Lake"},
        {0x1c, GRANITE, "none"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        assert_string_equal(core_of("GenuineIntel", CASES[i].model, CASES[i].features),
                            CASES[i].core);
    const struct processor zen5 = {
        .vendor = "AuthenticAMD", .family = 0x1a, .model = 0x02, .features = GRANITE};
    assert_string_equal(processor_find(&zen5)->core, "AMD Zen 5");
    const struct processor shown = {
        .vendor = "GenuineIntel", .family = 6, .model = 0xa7, .features = GRANITE};
    const struct machine_default chosen = default_of(ISA_X86_64, &shown);
    assert_string_equal(chosen.name, "granite-rapids");
    assert_int_equal(chosen.reason.by, MACHINE_BY_PROCESSOR);
    assert_string_equal(chosen.reason.why,
                        "it describes this processor, Intel Granite Rapids by its features, though "
                        "its model is Intel Rocket Lake's (family 06h, model A7h)");
}

/* Each core of the second table is in the first. */
static void featured_cores_have_rows(void **state) {
    (void)state;
    static const char *const CORES[] = {
#define PROCESSOR(vendor, family, first, last, core, machine, describes)
#define FEATURED(core, features) core,
#include "machine/processors.def"
#undef PROCESSOR
#undef FEATURED
    };
    for (size_t i = 0; i < sizeof CORES / sizeof *CORES; i++) {
        bool found = false;
        for (size_t row = 0; row < PROCESSOR_COUNT; row++)
            found |= !strcmp(PROCESSORS[row].core, CORES[i]);
        assert_true(found);
    }
}

static void reason_names_the_processor(void **state) {
    (void)state;
    const struct processor unknown = {"GenuineIntel", 6, 0x1c, "", 0},
                           skylake = {"GenuineIntel", 6, 0x55, "", 0};
    assert_string_equal(default_of(ISA_X86_64, &ZEN3).reason.why,
                        "it describes this processor, AMD Zen 3 (family 19h, model 01h)");
    assert_string_equal(
        default_of(ISA_X86_64, &skylake).reason.why,
        "the nearest to this processor, Intel Skylake server (family 06h, model 55h)");
    assert_string_equal(default_of(ISA_X86_64, &unknown).reason.why,
                        "no machine is near this processor, GenuineIntel family 06h, model 1Ch");
    assert_string_equal(default_of(ISA_RISCV64, &ZEN3).reason.why,
                        "the default for riscv64 programs");
}

/* What profiles say of their processor is read again; names alone tell no kind. */
static void texts_of_processors(void **state) {
    (void)state;
    struct processor read;
    assert_true(
        processor_parse("AMD EPYC 7763 (Milan) (AuthenticAMD family 19h, model 01h)", &read));
    assert_string_equal(read.vendor, "AuthenticAMD");
    assert_string_equal(read.brand, "AMD EPYC 7763 (Milan)");
    assert_int_equal(read.family, 0x19);
    assert_int_equal(read.model, 0x01);
    assert_true(processor_parse("GenuineIntel family 06h, model 6Ah", &read));
    assert_int_equal(read.family, 6);
    assert_int_equal(read.model, 0x6a);
    assert_string_equal(read.brand, "");
    static const char *const BRANDS[] = {"AMD EPYC", "", "Intel(R) Xeon(R) CPU (x)",
                                         "zen4 (AuthenticAMD family 19h, model 1FFh)"};
    for (size_t i = 0; i < sizeof BRANDS / sizeof *BRANDS; i++) {
        assert_false(processor_parse(BRANDS[i], &read));
        assert_string_equal(read.vendor, "");
        assert_string_equal(read.brand, BRANDS[i]);
    }
}

/* Of another host: its own processor's, whatever was chosen for this one. */
static void elsewhere(void **state) {
    (void)state;
    struct machine_default chosen;
    const struct processor skylake = {"GenuineIntel", 6, 0x55, "", 0},
                           unknown = {.brand = "AMD EPYC"};
    write_own("host", "base = zen5\n", 0644);
    setenv("CULPRIT_MACHINE", "chen-ooo", 1);
    machine_default_elsewhere(ISA_X86_64, &skylake, &chosen);
    assert_string_equal(chosen.name, "icelake-server");
    assert_string_equal(chosen.reason.why, "the nearest to the processor that ran this, Intel "
                                           "Skylake server (family 06h, model 55h)");
    machine_default_elsewhere(ISA_X86_64, &unknown, &chosen);
    assert_string_equal(chosen.name, "zen4");
    assert_int_equal(chosen.reason.by, MACHINE_BY_ARCHITECTURE);
    machine_default_elsewhere(ISA_RISCV64, &skylake, &chosen);
    assert_string_equal(chosen.name, "boom-tea");
    unsetenv("CULPRIT_MACHINE");
    remove_file("host");
}

/* A row that no processor reaches, since an earlier one has it all, would be a mistake. */
static void every_row_is_reached_and_has_a_machine(void **state) {
    (void)state;
    for (size_t i = 0; i < PROCESSOR_COUNT; i++) {
        const struct processor_row *row = &PROCESSORS[i];
        struct processor processor = {.family = row->family};
        struct machine machine;
        struct error error;
        bool reached = false;
        strcpy(processor.vendor, row->vendor);
        for (uint32_t model = row->first_model; model <= row->last_model; model++) {
            processor.model = model;
            reached |= processor_find(&processor) == row;
        }
        assert_true(reached);
        assert_true(machine_load(row->machine, &machine, &error));
        assert_string_equal(machine.isa, "x86-64");
    }
}

/* It is told or not, as CPUID has it here; but twice the same. */
static void this_processor(void **state) {
    (void)state;
    struct processor one, other;
    processor_read(&one);
    processor_read(&other);
    assert_memory_equal(&one, &other, sizeof one);
    assert_int_equal(*one.vendor != 0, one.family != 0);
}

static void by_environment(void **state) {
    (void)state;
    struct machine_default chosen;
    struct error error;
    write_own("host", "base = zen5\n", 0644);
    setenv("CULPRIT_MACHINE", "icelake-server", 1);
    chosen = default_of(ISA_X86_64, &ZEN3);
    assert_string_equal(chosen.name, "icelake-server");
    assert_int_equal(chosen.reason.by, MACHINE_BY_ENVIRONMENT);
    assert_string_equal(default_of(ISA_RISCV64, &ZEN3).name, "boom-tea");
    setenv("CULPRIT_MACHINE", "chen-ooo", 1); /* of no architecture */
    assert_string_equal(default_of(ISA_X86_64, &ZEN3).name, "chen-ooo");
    assert_string_equal(default_of(ISA_RISCV64, &ZEN3).name, "chen-ooo");
    setenv("CULPRIT_MACHINE", "zen44", 1);
    assert_false(machine_default_of(ISA_X86_64, &ZEN3, &chosen, &error));
    assert_non_null(strstr(error.message, "CULPRIT_MACHINE: no machine zen44"));
    setenv("CULPRIT_MACHINE", "", 1); /* as if it were not set */
    assert_int_equal(default_of(ISA_X86_64, &ZEN3).reason.by, MACHINE_BY_CALIBRATION);
    unsetenv("CULPRIT_MACHINE");
    remove_file("host");
}

/* A description that moved with its user's files is of another processor. */
static void of_another_processor(void **state) {
    (void)state;
    struct machine_default chosen;
    const char *reason = "host.ini is of another processor (GenuineIntel family 06h, model 6Ah); "
                         "it describes this processor, AMD Zen 3 (family 19h, model 01h)";
    write_own("host", "base = zen4\nprocessor = GenuineIntel family 06h, model 6Ah\n", 0644);
    chosen = default_of(ISA_X86_64, &ZEN3);
    assert_string_equal(chosen.name, "zen3");
    assert_int_equal(chosen.reason.by, MACHINE_BY_PROCESSOR);
    assert_non_null(strstr(chosen.reason.why, reason));
    /* Nothing is known of this one. */
    assert_int_equal(default_of(ISA_X86_64, &NONE).reason.by, MACHINE_BY_CALIBRATION);
    write_own("host", "base = zen4\nprocessor = AuthenticAMD family 19h, model 01h\n", 0644);
    chosen = default_of(ISA_X86_64, &ZEN3);
    assert_int_equal(chosen.reason.by, MACHINE_BY_CALIBRATION);
    assert_non_null(strstr(chosen.reason.why, "host.ini describes this host"));
    remove_file("host");
}

static void by_calibration(void **state) {
    (void)state;
    char path[192], found[PATH_MAX];
    own_path(path, "host");
    assert_true(machine_host_file(found));
    assert_string_equal(found, path);
    write_own("host", "base = zen3\n[core]\nrob = 250\n", 0644);
    const struct machine_default chosen = default_of(ISA_X86_64, &NONE);
    assert_string_equal(chosen.name, path);
    assert_int_equal(chosen.reason.by, MACHINE_BY_CALIBRATION);
    assert_non_null(strstr(chosen.reason.why, "host.ini describes this host"));
    assert_string_equal(default_of(ISA_RISCV64, &ZEN3).name, "boom-tea");

    struct machine_choice *choice = calloc(1, sizeof *choice);
    const struct machine_options none = {0}, named = {.machine = "zen4"};
    struct error error;
    assert_non_null(choice);
    assert_true(machine_choice_load(choice, &none, &error));
    const struct machine *machine = machine_choice_of(choice, ISA_X86_64, &error);
    assert_string_equal(machine->name, "host");
    assert_int_equal(machine->core.rob, 250);
    assert_int_equal(machine->chosen.by, MACHINE_BY_CALIBRATION);
    assert_true(machine_choice_load(choice, &named, &error));
    assert_int_equal(machine_choice_of(choice, ISA_X86_64, &error)->chosen.by, MACHINE_BY_NAME);

    /* A fault in it is told before anything runs, though riscv64 programs do not need it. */
    write_own("host", "base = zen3\n[core]\nrob = x\n", 0644);
    assert_false(machine_choice_load(choice, &none, &error));
    assert_non_null(strstr(error.message, "host.ini:3: [core] rob"));
    remove_file("host");
    free(choice);
}

static void assert_passed_over(const char *why) {
    const struct machine_default chosen = default_of(ISA_X86_64, &ZEN3);
    assert_string_equal(chosen.name, "zen3");
    assert_int_equal(chosen.reason.by, MACHINE_BY_PROCESSOR);
    assert_non_null(strstr(chosen.reason.why, why));
    assert_non_null(strstr(chosen.reason.why, "; it describes this processor, AMD Zen 3"));
}

static void all_may_write_it(void **state) {
    (void)state;
    write_own("host", "base = zen5\n", 0666);
    assert_passed_over("host.ini is not read (writable by all)");
    remove_file("host");
}

static void of_another_user(void **state) {
    (void)state;
    char path[192];
    own_path(path, "host");
    write_own("host", "base = zen5\n", 0644);
    const bool given = chown(path, 65534, 65534) == 0;
    if (given)
        assert_passed_over("host.ini is not read (another user's)");
    remove_file("host");
    if (!given) {
        print_message("giving a file to another user needs root\n");
        skip();
    }
}

static void where_own_machines_are(void **state) {
    (void)state;
    char found[PATH_MAX];
    setenv("XDG_CONFIG_HOME", "not/absolute", 1); /* which the specification says to ignore */
    setenv("HOME", "/home/one", 1);
    assert_true(machine_host_file(found));
    assert_string_equal(found, "/home/one/.config/culprit/host.ini");
    unsetenv("HOME");
    assert_false(machine_host_file(found));
    setenv("XDG_CONFIG_HOME", directory, 1);
}

static void own_machines_have_names(void **state) {
    (void)state;
    struct machine machine;
    struct error error;
    write_own("mine", "base = zen4\n[core]\nrob = 99\n", 0644);
    assert_true(machine_load("mine", &machine, &error));
    assert_int_equal(machine.core.rob, 99);
    write_own("mine", "base = zen4\n", 0646);
    assert_false(machine_load("mine", &machine, &error));
    assert_non_null(strstr(error.message, "mine.ini is not read: it is writable by all"));
    remove_file("mine");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_processor),
        cmocka_unit_test(by_features),
        cmocka_unit_test(featured_cores_have_rows),
        cmocka_unit_test(reason_names_the_processor),
        cmocka_unit_test(texts_of_processors),
        cmocka_unit_test(elsewhere),
        cmocka_unit_test(every_row_is_reached_and_has_a_machine),
        cmocka_unit_test(this_processor),
        cmocka_unit_test(by_environment),
        cmocka_unit_test(of_another_processor),
        cmocka_unit_test(by_calibration),
        cmocka_unit_test(all_may_write_it),
        cmocka_unit_test(of_another_user),
        cmocka_unit_test(where_own_machines_are),
        cmocka_unit_test(own_machines_have_names),
    };
    return cmocka_run_group_tests(tests, make_own, remove_own);
}
