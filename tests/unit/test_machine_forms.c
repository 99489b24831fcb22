/* Tables of instruction forms: what a line says, where a table is looked for, what it is told when
 * it is wrong; and ports, which pools share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "machine/machine.h"

#include "unit/machine_files.h"

static struct machine machine, other; /* too large for a test's frame */
static struct error error;

static insn_form form(const char *text) {
    const char *end;
    return form_parse(text, &end);
}

static const struct machine_form *said_of(const char *text) {
    const struct machine_form *said = machine_form_of(&machine, form(text));
    assert_non_null(said);
    return said;
}

static void write_table(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void load(const char *text) {
    if (!machine_load(write_text("machine", text), &machine, &error))
        fail_msg("%s", error.message);
}

static uint32_t pool(const char *name) {
    for (uint32_t i = 0; i < machine.pool_count; i++)
        if (!strcmp(machine.pools[i].name, name))
            return i;
    fail_msg("no pool %s", name);
    return 0;
}

static void lines_say_what_differs(void **state) {
    (void)state;
    write_table("t.forms", "; of nobody's processor\n"
                           "# likewise\n"
                           "\n"
                           "add r64, m64   1,a6  0.25 alu\r\n"
                           "imul r64, r64  3     1    alu1+alu3 2 ; measured\n"
                           "  vmovups ymm, m256\ta7 0.5 -\n"
                           "shl r32, cl    1,f2  -    alu0\n"
                           "cdq            -     0.5  -");
    load("base = zen4\nforms = t.forms\n");
    assert_int_equal(machine.form_count, 5);
    const struct machine_form *said = said_of("add r64, m64");
    assert_int_equal(said->latency, 1);
    assert_int_equal(said->address_latency, 6);
    assert_int_equal(said->flag_latency, FORM_UNKNOWN);
    assert_true(said->throughput == 0.25F);
    assert_int_equal(machine.form_ports[said->ports - 1].units[pool("alu")], 15);
    assert_int_equal(said->uops, 0);
    said = said_of("imul r64, r64");
    assert_int_equal(machine.form_ports[said->ports - 1].units[pool("alu")], 2 + 8);
    assert_int_equal(said->uops, 2);
    said = said_of("vmovups ymm, m256");
    assert_int_equal(said->latency, FORM_UNKNOWN);
    assert_int_equal(said->address_latency, 7);
    assert_int_equal(said->ports, 0);
    said = said_of("shl r32, cl");
    assert_int_equal(said->flag_latency, 2);
    assert_true(said->throughput < 0);
    assert_int_equal(said_of("cdq")->latency, FORM_UNKNOWN);
    assert_null(machine_form_of(&machine, form("add r64, r64")));
    assert_null(machine_form_of(&machine, FORM_NONE));
}

static void wrong_lines_are_named(void **state) {
    (void)state;
    const struct {
        const char *line, *message;
    } cases[] = {
        {"adds r64, r64 1 1 alu", ":2: not a form of an instruction adds: "},
        {"add r64, q64 1 1 alu", ":2: not a form of an instruction q64: "},
        {"add r64, r64 1 1", ":2: too short: FORM LATENCY THROUGHPUT PORTS [UOPS] are needed"},
        {"add r64, r64 1001 1 alu", ":2: latency 1001: allowed: cycles from 0 to 1000"},
        {"add r64, r64 1,2 1 alu", ":2: latency 1,2: "},
        {"add r64, r64 1, 1 alu", ":2: latency 1,: "},
        {"add r64, r64 b1 1 alu", ":2: latency b1: "},
        {"add r64, r64 99999999999999999999 1 alu", ":2: latency 99999999999999999999: "},
        {"add r64, r64 1 0 alu", ":2: throughput 0: allowed: cycles per instruction, above 0"},
        {"add r64, r64 1 nan alu", ":2: throughput nan: "},
        {"add r64, r64 1 1e9 alu", ":2: throughput 1e9: "},
        {"add r64, r64 1 1.2.3 alu", ":2: throughput 1.2.3: "},
        {"add r64, r64 1 1 alv", ":2: ports: alv: no such pool or unit; pools: alu, "},
        {"add r64, r64 1 1 alu4", ":2: ports: alu4: no such pool or unit"},
        {"add r64, r64 1 1 alu+", ":2: ports: alu+: not ports"},
        {"add r64, r64 1 1 alu+fma", ":2: ports: alu+fma: units of two queues, int and fp"},
        {"add r64, r64 1 1 alu 0", ":2: µops 0: allowed: 1 to 64"},
        {"add r64, r64 1 1 alu 1 x", ":2: one word too many x: "},
        {"cdq 1 1 alu\ncdq 1 1 alu", ":3: form cdq: given twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "; wrong\n%s\n", cases[i].line);
        write_table("t.forms", text);
        const char *path = write_text("machine", "base = zen4\nforms = t.forms\n");
        const char *message = load_error(path);
        if (!strstr(message, "/t.forms:") || !strstr(message, cases[i].message))
            fail_msg("case %zu: %s", i, message);
    }
}

static void hostile_tables(void **state) {
    (void)state;
    const char text[] = "cdq 1 1 alu\n\0cdq";
    assert_true(machine_load("zen4", &machine, &error));
    assert_false(machine_forms_read(&machine, "x", text, sizeof text, &error));
    assert_string_equal(error.message, "x:2: not text: it has a zero byte");
    static char line[1000];
    memset(line, ' ', sizeof line);
    assert_false(machine_forms_read(&machine, "x", line, sizeof line, &error));
    assert_string_equal(error.message, "x:1: line longer than 400 bytes");
    load_error(write_text("machine", "base = zen4\nforms = nowhere.forms\n"));
    load_error(write_text("machine", "base = zen4\nforms = /dev/zero\n"));
    load_error(write_text("machine", "base = zen4\nforms = .\n"));
}

/* A table is beside the file that names it, also when that is a base elsewhere; what is printed
 * loads back; keys that are set keep it, and may take it away. */
static void tables_are_found(void **state) {
    (void)state;
    char path[128], text[256];
    write_table("t.forms", "cdq 2 1 alu0\n");
    write_text("machine", "base = zen4\nforms = t.forms\n");
    snprintf(path, sizeof path, "%s/below", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/below/derived.ini", directory);
    FILE *file = fopen(path, "w+");
    assert_non_null(file);
    fputs("base = ../machine.ini\n[core]\nrob = 64\n", file);
    assert_int_equal(fclose(file), 0);
    assert_true(machine_load(path, &machine, &error));
    assert_int_equal(machine.form_count, 1);
    assert_int_equal(said_of("cdq")->latency, 2);

    file = fopen(path, "w");
    assert_non_null(file);
    machine_print(&machine, file);
    assert_int_equal(fclose(file), 0);
    assert_true(machine_load(path, &other, &error));
    assert_memory_equal(&machine, &other, sizeof machine);

    other = machine;
    assert_true(machine_set(&other, "core.rob=512", &error));
    assert_int_equal(other.form_count, 1);
    assert_true(machine_set(&other, "forms=", &error));
    assert_int_equal(other.form_count, 0);
    snprintf(text, sizeof text, "forms=%s/t.forms", directory);
    assert_true(machine_set(&other, text, &error));
    assert_int_equal(other.form_count, 1);
    assert_false(machine_set(&other, "pool.alu.units=0", &error));
    unlink(path);
    *strrchr(path, '/') = 0;
    rmdir(path);
}

/* Pools are numbered anew when one before them goes; ports follow. */
static void ports_follow_their_pools(void **state) {
    (void)state;
    write_table("t.forms", "vaddpd ymm, ymm, ymm 3 0.5 fadd1\n");
    load("base = zen4\nforms = t.forms\n[class.int_mul]\npool = alu\n");
    const uint32_t before = pool("fadd");
    assert_true(machine_set(&machine, "pool.mul.units=0", &error));
    assert_true(machine_check(&machine, &error));
    assert_int_equal(pool("fadd"), before - 1);
    const struct machine_form *said = said_of("vaddpd ymm, ymm, ymm");
    assert_int_equal(machine.form_ports[said->ports - 1].units[before - 1], 2);
    assert_int_equal(machine.form_ports[said->ports - 1].units[before], 0);
    assert_false(machine_set(&machine, "pool.fadd.units=1", &error));
    assert_non_null(strstr(error.message, "use units of pool fadd"));
}

static void pools_share_units(void **state) {
    (void)state;
    load("base = zen4\n[pool.mul]\nshares = alu1\n[pool.branch]\nshares = alu0+alu2+alu3\n"
         "[core]\nstore_data = mul+agu0\n");
    assert_int_equal(machine.pools[pool("mul")].units, 1);
    assert_int_equal(machine.pools[pool("mul")].shared.units[pool("alu")], 2);
    assert_int_equal(machine.pools[pool("branch")].units, 3);
    assert_int_equal(machine.store_data.units[pool("alu")], 2);
    assert_int_equal(machine.store_data.units[pool("agu")], 1);
    const struct {
        const char *text, *message;
    } wrong[] = {
        {"base = zen4\n[pool.mul]\nshares = alu9\n",
         "[pool.mul] shares: alu9: no such pool or unit"},
        {"base = zen4\n[pool.mul]\nshares = fma\n",
         "[pool.mul] shares = fma: units of another queue"},
        {"base = zen4\n[pool.mul]\nshares = mul\n",
         "[pool.mul] shares: mul: has no units of its own"},
        {"base = zen4\n[pool.mul]\nshares = alu1\n[pool.div]\nshares = mul0\n",
         "[pool.div] shares: mul0: no such pool or unit"},
        {"base = zen4\n[core]\nstore_data = x\n", "[core] store_data: x: no such pool or unit"},
        {"base = zen4\n[core]\ngiven_first = x\n", "[core] given_first: x: no such pool or unit"},
        {"base = zen4\n[core]\nresult_bus = x\n", "[core] result_bus: x: no such pool or unit"},
        {"base = zen4\n[queue.int]\nunit_entries = 24\n[pool.alu]\nunits = 16\n",
         "[queue.NAME] unit_entries: the pools have "},
        {"base = zen4\n[pool.agu]\nbeside = x\n", "[pool.agu] beside: x: no such pool or unit"},
        {"base = zen4\n[pool.agu]\nunits = 3\nbeside = alu0+alu1\n",
         "[pool.agu] beside = alu0+alu1: as many units of its queue"},
        {"base = zen4\n[pool.agu]\nbeside = alu0+alu1+alu2\njoint = x\n",
         "[pool.agu] joint: x: no such pool or unit"},
        {"base = zen4\n[pool.agu]\nbeside = alu0+alu1+alu2\njoint = alu2+alu3\n",
         "[pool.agu] joint = alu2+alu3: not units of its beside"},
        {"base = zen4\n[branch]\ndirection = gshare\noverride_bubble = 3\n",
         "[branch] override_bubble = 3: only with direction = tage"},
        {"base = zen4\n[pool.agu]\nunits = 2\nbeside = fma\n",
         "[pool.agu] beside = fma: as many units of its queue"},
        {"base = zen4\n[core]\nresult_bus = alu1\n[pool.alu]\nunits = 16\n[pool.agu]\nunits = "
         "16\n",
         "units; with it: 31"},
        {"base = alpha21164\n[pool.imul]\nshares = either0\n",
         "in order, a pool has units of its own"},
        {"base = zen4\n[core]\nstore_data = alu\n[queue.int]\nentries = 1\n",
         "[core] store_data = alu: of queue int, which has an entry for one half"},
        {"base = zen4\n[pool.alu]\nunits = 16\n[pool.agu]\nunits = 16\n[pool.mul]\nunits = 16\n"
         "[pool.branch]\nunits = 16\n",
         "units; allowed: 63"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *message = load_error(write_text("machine", wrong[i].text));
        if (!strstr(message, wrong[i].message))
            fail_msg("case %zu: %s", i, message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_say_what_differs),   cmocka_unit_test(wrong_lines_are_named),
        cmocka_unit_test(hostile_tables),           cmocka_unit_test(tables_are_found),
        cmocka_unit_test(ports_follow_their_pools), cmocka_unit_test(pools_share_units),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
