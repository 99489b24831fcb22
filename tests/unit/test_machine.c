/* Machine descriptions: what ships, what the papers say, inheritance, printing, changing a key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/machine.h"

#include "unit/machine_files.h"

static struct machine loaded(const char *name) {
    static struct machine machine;
    struct error error = {0};
    memset(&machine, 0x5a, sizeof machine);
    if (!machine_load(name, &machine, &error))
        fail_msg("%s", error.message);
    return machine;
}

static void set(struct machine *machine, const char *assignment) {
    struct error error = {0};
    if (!machine_set(machine, assignment, &error) || !machine_check(machine, &error))
        fail_msg("%s", error.message);
}

/* Prints the machine, loads what was printed, and compares every byte. */
static void assert_prints_back(const struct machine *machine) {
    char path[128];
    snprintf(path, sizeof path, "%s/printed.ini", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    machine_print(machine, file);
    assert_int_equal(fclose(file), 0);
    struct machine again = loaded(path);
    assert_memory_equal(machine, &again, sizeof again);
}

static void shipped_machines(void **state) {
    (void)state;
    const char *expected[] = {
        "alpha21164", "boom-simpoint",  "boom-tea", "boom-tip",        "chen-ooo",
        "fields2004", "icelake-server", "niagara",  "sapphire-rapids", "zen3",
        "zen4",       "zen4-server",    "zen5"};
    struct error error;
    char **names = machine_list(&error);
    assert_non_null(names);
    size_t found = 0;
    for (size_t i = 0; names[i]; i++) {
        struct machine machine = loaded(names[i]);
        assert_string_equal(machine.name, names[i]);
        assert_true(strlen(machine.description) > 0);
        assert_true(machine_check(&machine, &error));
        assert_prints_back(&machine);
        for (size_t j = 0; j < sizeof expected / sizeof expected[0]; j++)
            found += !strcmp(names[i], expected[j]);
        free(names[i]);
    }
    free(names);
    assert_int_equal(found, sizeof expected / sizeof expected[0]);
}

/* TIP, Table A.1; paper C, Table C.1 differs in bandwidth only. */
static void boom_tip(void **state) {
    (void)state;
    struct machine m = loaded("boom-tip");
    assert_true(m.clock_ghz == 3.2);
    assert_int_equal(m.core.fetch_width, 8);
    assert_int_equal(m.core.fetch_buffer, 32);
    assert_int_equal(m.core.dispatch_width, 4);
    assert_int_equal(m.core.commit_width, 4);
    assert_int_equal(m.core.outstanding_branches, 20);
    assert_int_equal(m.core.rob, 128);
    assert_int_equal(m.core.int_registers, 128);
    assert_int_equal(m.core.fp_registers, 128);
    assert_int_equal(m.core.load_queue, 32);
    assert_int_equal(m.core.store_queue, 32);
    const struct machine_queue queues[] = {{"mem", 24, 2, 0}, {"int", 40, 4, 0}, {"fp", 32, 2, 0}};
    assert_int_equal(m.queue_count, 3);
    assert_memory_equal(m.queues, queues, sizeof queues);
    assert_int_equal(m.l1i.size, 32 << 10);
    assert_int_equal(m.l1d.ways, 8);
    assert_int_equal(m.l1d.mshrs, 8);
    assert_int_equal(m.l2.size, 512 << 10);
    assert_int_equal(m.l2.mshrs, 12);
    assert_int_equal(m.llc.size, 4 << 20);
    assert_int_equal(m.l2tlb.entries, 512);
    assert_int_equal(m.l2tlb.ways, 1);
    assert_true(m.dram.bandwidth == 25.6);
    assert_int_equal(m.dram.queue, 8);
    /* 28 KB of TAGE: two-bit base counters; entries of tag, three-bit counter, two useful bits. */
    uint32_t bits = m.branch.bimodal_entries * 2 +
                    m.branch.tage_tables * m.branch.tage_entries * (m.branch.tage_tag_bits + 5);
    assert_int_equal(bits, 28 * 1024 * 8);

    struct machine simpoint = loaded("boom-simpoint");
    assert_true(simpoint.dram.bandwidth == 16);
    memcpy(simpoint.name, m.name, sizeof m.name);
    memcpy(simpoint.description, m.description, sizeof m.description);
    simpoint.dram.bandwidth = 25.6;
    assert_memory_equal(&simpoint, &m, sizeof m);
}

/* TEA, Table B.2. */
static void boom_tea(void **state) {
    (void)state;
    struct machine m = loaded("boom-tea");
    assert_int_equal(m.core.fetch_buffer, 48);
    assert_int_equal(m.core.outstanding_branches, 30);
    assert_int_equal(m.core.rob, 192);
    assert_int_equal(m.core.int_registers, 192);
    assert_int_equal(m.core.load_queue, 64);
    const struct machine_queue queues[] = {{"mem", 48, 2, 0}, {"int", 80, 4, 0}, {"fp", 48, 2, 0}};
    assert_int_equal(m.queue_count, 3);
    assert_memory_equal(m.queues, queues, sizeof queues);
    assert_int_equal(m.l1d.mshrs, 16);
    assert_false(m.l2.present);
    assert_int_equal(m.llc.size, 2 << 20);
    assert_int_equal(m.llc.ways, 16);
    assert_int_equal(m.llc.mshrs, 12);
    assert_int_equal(m.l2tlb.entries, 1024);
    assert_true(m.dram.bandwidth == 16);
}

/* Interaction cost, Table VII; hybrid model, Table 5.1. */
static void simplescalar_machines(void **state) {
    (void)state;
    struct machine m = loaded("fields2004");
    assert_int_equal(m.core.rob, 64);
    assert_int_equal(m.queues[0].issue, 6);
    assert_int_equal(m.core.taken_branches, 2);
    assert_int_equal(m.branch.direction, DIRECTION_TOURNAMENT);
    assert_int_equal(m.branch.meta_entries, 8192);
    assert_int_equal(m.branch.btb_entries, 4096);
    assert_int_equal(m.branch.ras_entries, 64);
    assert_int_equal(m.l1d.latency, 2);
    assert_int_equal(m.l2.latency, 12);
    assert_false(m.llc.present);
    assert_int_equal(m.dram.latency, 100);
    assert_int_equal(m.page_walk, 30);
    assert_int_equal(m.classes[OP_INT_MUL].latency, 3);
    assert_int_equal(m.pools[m.classes[OP_FP_ADD].pool].units, 4);
    assert_int_equal(m.classes[OP_FP_DIV].latency, 12);

    m = loaded("alpha21164");
    assert_true(m.core.in_order);
    assert_int_equal(m.core.dispatch_width, 4);
    assert_int_equal(m.core.store_queue, 6);
    assert_int_equal(m.l1d.size, 8 << 10);
    assert_int_equal(m.l1d.ways, 1);
    assert_int_equal(m.l2.size, 96 << 10);
    assert_int_equal(m.l2.ways, 3);
    assert_int_equal(m.dtlb.entries, 64);
    assert_int_equal(m.itlb.entries, 48);

    m = loaded("chen-ooo");
    assert_int_equal(m.core.commit_width, 4);
    assert_int_equal(m.core.rob, 256);
    assert_int_equal(m.branch.direction, DIRECTION_PERFECT);
    assert_false(m.l1i.present);
    assert_int_equal(m.l1d.line, 32);
    assert_int_equal(m.l2.size, 128 << 10);
    assert_int_equal(m.dtlb.entries, 0);
    assert_int_equal(m.dram.latency, 200);
}

/* Cache contention and throughput, Table 5.3. */
static void niagara(void **state) {
    (void)state;
    struct machine m = loaded("niagara");
    struct error error;
    assert_true(machine_is_chip(&m));
    assert_int_equal(m.chip.cores, 8);
    assert_int_equal(m.chip.threads, 4);
    assert_int_equal(m.branch.gshare_entries * 2, 4096);
    assert_int_equal(m.branch.btb_entries, 256);
    const struct machine_cache *l1s[] = {&m.l1i, &m.l1d};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(l1s[i]->size, 16 << 10);
        assert_int_equal(l1s[i]->line, 16);
        assert_int_equal(l1s[i]->ways, 4);
        assert_int_equal(l1s[i]->latency, 1);
    }
    assert_int_equal(m.l2.size, 3 << 20);
    assert_int_equal(m.l2.line, 64);
    assert_int_equal(m.l2.ways, 12);
    assert_int_equal(m.l2.latency, 10);
    assert_int_equal(m.itlb.entries, 64);
    assert_int_equal(m.dtlb.entries, 64);
    assert_int_equal(m.dram.latency, 110);

    const char *const wrong[] = {
        "core.dispatch_width=2", "core.in_order=no",    "l2.size=0",       "l1i.size=0",
        "l1d.prefetcher=tagged", "l2.replacement=plru", "dram.banked=yes", "chip.l2_banks=3",
        "llc.size=16M",          "l2tlb.entries=64"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct machine changed = m;
        assert_true(machine_set(&changed, wrong[i], &error));
        if (machine_check(&changed, &error))
            fail_msg("a chip with %s", wrong[i]);
    }
    /* One core of one thread is no chip: any machine. */
    assert_true(machine_set(&m, "chip.cores=1", &error));
    assert_true(machine_is_chip(&m));
    assert_true(machine_set(&m, "chip.threads=1", &error));
    assert_false(machine_is_chip(&m));
    assert_true(machine_set(&m, "chip.l2_banks=3", &error));
    assert_true(machine_check(&m, &error));
    assert_false(machine_check_chip(&m, &error));
}

static void base_is_inherited_and_overridden(void **state) {
    (void)state;
    const char *path = write_text("derived", "base = boom-tea\n"
                                             "[core]\nrob = 96 ; smaller\n"
                                             "[pool.alu]\nunits = 2\n"
                                             "[class.int_mul]\nlatency = 5\n"
                                             "[l2]\nsize = 256K\n");
    struct machine m = loaded(path), base = loaded("boom-tea");
    assert_string_equal(m.name, "derived");
    assert_string_equal(m.description, base.description);
    assert_int_equal(m.core.rob, 96);
    assert_int_equal(m.core.fetch_buffer, 48);
    assert_int_equal(m.pools[m.classes[OP_INT_ALU].pool].units, 2);
    assert_int_equal(m.classes[OP_INT_MUL].latency, 5);
    assert_int_equal(m.classes[OP_INT_MUL].pool, base.classes[OP_INT_MUL].pool);
    assert_true(m.l2.present);
    assert_int_equal(m.l2.size, 256 << 10);
}

/* A path is seen from the file that names it, wherever culprit runs. */
static void base_is_a_path(void **state) {
    (void)state;
    char text[512];
    write_text("half", "base = boom-tea\n[core]\nrob = 96\n");
    struct machine beside = loaded(write_text("beside", "base = ./half.ini\n[l2]\nsize = 256K\n"));
    assert_string_equal(beside.name, "beside");
    assert_int_equal(beside.core.rob, 96);
    assert_int_equal(beside.l2.size, 256 << 10);
    assert_int_equal(loaded(write_text("bare", "base = half.ini\n")).core.rob, 96);
    snprintf(text, sizeof text, "base = %s/half.ini\n", directory);
    assert_int_equal(loaded(write_text("absolute", text)).core.rob, 96);
}

/* One queue instead of three, named before it is described; the pools move to it. */
static void derived_machine_replaces_queues(void **state) {
    (void)state;
    struct machine m = loaded(write_text("unified", "base = boom-tip\nname = one-queue\n"
                                                    "[pool.mem]\nqueue = all\n"
                                                    "[pool.alu]\nqueue = all\n"
                                                    "[pool.mul]\nqueue = all\n"
                                                    "[pool.div]\nunits = 0\n"
                                                    "[pool.csr]\nqueue = all\n"
                                                    "[pool.fpu]\nqueue = all\n"
                                                    "[pool.fdiv]\nqueue = all\n"
                                                    "[class.int_div]\npool = mul\n"
                                                    "[queue.mem]\nentries = 0\n"
                                                    "[queue.int]\nentries = 0\n"
                                                    "[queue.fp]\nentries = 0\n"
                                                    "[queue.all]\nentries = 60\nissue = 6\n"));
    assert_string_equal(m.name, "one-queue");
    assert_int_equal(m.queue_count, 1);
    assert_string_equal(m.queues[0].name, "all");
    assert_int_equal(m.pool_count, 6);
    for (uint32_t i = 0; i < m.pool_count; i++)
        assert_int_equal(m.pools[i].queue, 0);
    assert_string_equal(m.pools[m.classes[OP_INT_DIV].pool].name, "mul");
    assert_prints_back(&m);
}

static void path_or_name(void **state) {
    (void)state;
    assert_true(machine_is_path("my/zen4") && machine_is_path("./x") && machine_is_path("a.ini"));
    assert_true(!machine_is_path("zen4") && !machine_is_path("") && !machine_is_path(".ini"));
}

/* A machine of the user's own may refine the shipped one of its name. */
static void name_shadows_shipped(void **state) {
    (void)state;
    write_text("zen4", "base = zen4\n[core]\nrob = 64\n");
    setenv("CULPRIT_MACHINES", directory, 1);
    struct machine m = loaded("zen4");
    char path[256];
    struct error error;
    assert_true(machine_find("zen4", path, sizeof path, &error));
    unsetenv("CULPRIT_MACHINES");
    assert_int_equal(m.core.rob, 64);
    assert_int_equal(m.core.dispatch_width, 6);
    assert_int_equal(strncmp(path, directory, strlen(directory)), 0);
}

static void set_changes_one_key(void **state) {
    (void)state;
    struct machine m = loaded("zen4"), before = m;
    set(&m, "core.rob=64");
    assert_int_equal(m.core.rob, 64);
    m.core.rob = before.core.rob;
    assert_memory_equal(&m, &before, sizeof m);

    set(&m, "queue.int.entries=12");
    set(&m, "pool.agu.queue=fp");
    set(&m, "class.load.latency=2");
    set(&m, "llc.size=1G");
    set(&m, "dram.bandwidth=0.1");
    set(&m, "branch.direction=gshare");
    set(&m, "l1d.replacement=plru");
    set(&m, "core.eliminate_moves=no");
    set(&m, "clock_ghz=3.3333333333333335");
    assert_int_equal(m.queues[0].entries, 12);
    assert_string_equal(m.queues[m.pools[m.classes[OP_LOAD].pool].queue].name, "fp");
    assert_int_equal(m.classes[OP_LOAD].latency, 2);
    assert_int_equal(m.llc.size, 1 << 30);
    assert_true(m.dram.bandwidth == 0.1);
    assert_int_equal(m.branch.direction, DIRECTION_GSHARE);
    assert_prints_back(&m);
    /* Off and on again: a level comes back with standard ways and line. */
    set(&m, "l2.size=0");
    assert_false(m.l2.present);
    assert_prints_back(&m);
    set(&m, "l2.size=256K");
    assert_true(m.l2.present);
}

/* Figures are printed as people write them. */
static void large_figures_are_printed_in_full(void **state) {
    (void)state;
    struct machine m = loaded("zen4");
    struct error error;
    assert_true(machine_set(&m, "dram.bandwidth=1200", &error));
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    machine_print(&m, file);
    fclose(file);
    assert_non_null(strstr(text, "\nbandwidth            = 1200 "));
    free(text);
}

static void set_refuses(void **state) {
    (void)state;
    const struct {
        const char *assignment, *message;
    } cases[] = {
        {"core.rob", "not SECTION.KEY=VALUE"},
        {"core.rob=", "[core] rob =  (reorder buffer): allowed: 8 to 4096"},
        {"core.rob=4097", "allowed: 8 to 4096"},
        {"core.rob=-8", "allowed: 8 to 4096"},
        {"core.rob=64K", "allowed: 8 to 4096"},
        {"core.rob=99999999999999999999999", "allowed: 8 to 4096"},
        {"rob=64", "no key rob in front of the first section"},
        {"l1d.size=64KB", "allowed: 0 to 1G bytes"},
        {"l1d.size=2G", "allowed: 0 to 1G bytes"},
        {"llc.admission=0", "allowed: 1 to 100"},
        {"dram.bandwidth=nan", "allowed: 0 to 10000 GB/s"},
        {"dram.bandwidth=1e999", "allowed: 0 to 10000 GB/s"},
        {"core.commit_width=9", "allowed: 1 to 8"},
        {"branch.direction=tag", "allowed: perfect, bimodal, gshare, tournament, tage"},
        {"queue.Q.entries=4", "bad name \"Q\""},
        {"queue.entries=4", "bad name \"\""},
        {"pool.alu.queue=fpp", "queue = fpp: no such queue; queues: int, fp"},
        {"class.int_add.latency=1", "did you mean int_alu?"},
        {"core.x.rob=4", "did you mean [core]?"},
        {"forms=no\nsuch", "no such file beside"},
        {"description=a;b", "text without ';'"},
        {"description=a\nb", "text without ';'"},
    };
    struct machine m = loaded("zen4"), before = m;
    struct error once = {0};
    assert_false(machine_set(&m, "forms=nosuch", &once)); /* who calls it says what was to be set */
    assert_int_equal(strncmp(once.message, "forms = nosuch: no such file", 28), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error = {0};
        assert_false(machine_set(&m, cases[i].assignment, &error));
        if (!strstr(error.message, cases[i].message))
            fail_msg("%s: %s", cases[i].assignment, error.message);
        assert_null(strpbrk(error.message, "\n\r"));
        assert_memory_equal(&m, &before, sizeof m);
    }
}

static void check_finds_contradictions(void **state) {
    (void)state;
    const struct {
        const char *assignment, *message;
    } cases[] = {
        {"l2.size=3M", "the number of sets, must be a power of two"},
        {"l1d.size=0", "needs a first-level data cache"},
        {"l1d.line=48", "must be a power of two"},
        {"llc.latency=13", "must be above that of l2, 13"},
        {"l2.line=32", "must not be smaller"},
        {"core.fetch_buffer=4", "must hold fetch_width"},
        {"core.flag_registers=15", "or at least 16"},
        {"core.int_registers=40", "allowed: 0 (unlimited) or at least 48"},
        {"core.fetch_bytes=24", "power of two"},
        {"class.fp_div.interval=14", "more than latency"},
        {"branch.prediction_width=3", "must be a power of two"},
        {"branch.indirect_history=12", "must be 0, 8, 16 or 32"},
        {"branch.btb_far_ways=9", "[branch] btb_far_ways = 9: must be at most btb_ways ="},
        {"branch.btb_ways=8", "the number of sets, must be a power of two"},
        {"branch.tage_max_history=3", "a history of their own"},
        {"dtlb.ways=5", "the number of sets, must be a power of two"},
        {"dram.row=3000", "must be powers of two"},
        {"tlb.host_tables=yes", "needs walk_level 1 or 2"},
        {"l1i.prefetcher=stride", "learn from loads and stores"},
        {"l2.third_prefetcher=next_page", "[l2] third_prefetcher = next_page: it is the l1d's"},
        {"llc.prefetcher=long_stream", "prefetcher = long_stream: it is the l1d's, or the l2's"},
        {"l1i.prefetcher=long_stream", "prefetcher = long_stream: it is the l1d's, or the l2's"},
        {"core.decode_bytes=24", "[core] decode_bytes = 24: allowed: 0 or a power of two from 8"},
        {"opcache.entries=96", "[opcache] entries = 96: entries / (ways = 8)"},
        {"opcache.entries=4", "[opcache] entries = 4: entries / (ways = 8)"},
        {"dtlb.latency=3", "[dtlb] latency = 3: no TLB lies before it; allowed: 0"},
        {"itlb.latency=1", "[itlb] latency = 1: no TLB lies before it; allowed: 0"},
        {"llc.admission=30", "[llc] retention = 0: first_retention, shapes, admission and readm"},
        {"llc.readmission=30", "[llc] retention = 0: first_retention, shapes, admission and readm"},
        {"llc.first_retention=1K", "[llc] retention = 0: first_retention, shapes"},
        {"llc.first_shape=2", "[llc] retention = 0: first_retention, shapes"},
        {"llc.retention_shape=2", "[llc] retention = 0: first_retention, shapes"},
        {"l2.bandwidth=1e-300", "[l2] bandwidth = 1e-300: must be 0 or at least 0.0001 bytes"},
        {"l2.write_bandwidth=1e-9", "[l2] write_bandwidth = 1e-09: must be 0 or at least"},
        {"llc.bandwidth=0.00009", "[llc] bandwidth = 9e-05: must be 0 or at least"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct machine m = loaded("zen4");
        struct error error = {0};
        assert_true(machine_set(&m, cases[i].assignment, &error));
        assert_false(machine_check(&m, &error));
        if (!strstr(error.message, cases[i].message))
            fail_msg("%s: %s", cases[i].assignment, error.message);
    }
    struct machine m = loaded("zen4");
    struct error error = {0};
    m.core.rob = 100000; /* ranges hold whoever filled the struct */
    assert_false(machine_check(&m, &error));
    m = loaded("zen4");
    m.classes[OP_LOAD].pool = 12;
    assert_false(machine_check(&m, &error));
    m = loaded("zen4");
    m.branch.direction = 17;
    assert_false(machine_check(&m, &error));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_machines),
        cmocka_unit_test(boom_tip),
        cmocka_unit_test(boom_tea),
        cmocka_unit_test(simplescalar_machines),
        cmocka_unit_test(niagara),
        cmocka_unit_test(base_is_inherited_and_overridden),
        cmocka_unit_test(base_is_a_path),
        cmocka_unit_test(derived_machine_replaces_queues),
        cmocka_unit_test(path_or_name),
        cmocka_unit_test(name_shadows_shipped),
        cmocka_unit_test(set_changes_one_key),
        cmocka_unit_test(set_refuses),
        cmocka_unit_test(large_figures_are_printed_in_full),
        cmocka_unit_test(check_finds_contradictions),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
