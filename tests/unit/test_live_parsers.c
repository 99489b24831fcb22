/* What the kernel and other processes tell in text, some of it written by anybody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/kernel_map.h"
#include "live_tree.h"
#include "program/perf_map.h"

static int set_up(void **state) {
    static struct live_tree tree;
    live_tree_make(&tree);
    *state = &tree;
    return 0;
}
static int tear_down(void **state) {
    live_tree_remove(((struct live_tree *)*state)->root);
    return 0;
}

/* ---- the kernel ---- */

static const char KALLSYMS[] = "ffffffff81000000 T _stext\n"
                               "ffffffff81000000 T startup\n"
                               "ffffffff81000100 t schedule\n"
                               "ffffffff81000180 D some_data\n"
                               "ffffffff81000200 W late\n"
                               "ffffffff81000300 T _etext\n"
                               "ffffffffc0010040 t ext4_read\t[ext4]\n"
                               "ffffffffc0010000 t ext4_write\t[ext4]\n"
                               "ffffffffc0900000 t bpf_prog_abc\t[bpf]\n";

static void kernel_places(void **state) {
    struct live_tree *tree = *state;
    struct kernel_map map;
    live_tree_text(live_tree_path(tree, "proc/kallsyms"), KALLSYMS);
    live_tree_text(live_tree_path(tree, "proc/modules"),
                   "ext4 4096 1 - Live 0xffffffffc0010000\nnonsense\n");
    static const char note[] = "\4\0\0\0\3\0\0\0\3\0\0\0GNU\0abc";
    live_tree_write(live_tree_path(tree, "sys/kernel/notes"), note, sizeof note);
    live_tree_write(live_tree_path(tree, "sys/module/ext4/notes/.note.gnu.build-id"), note,
                    sizeof note);
    assert_true(kernel_map_read(&tree->roots, &map));
    assert_false(map.hidden);
    assert_false(kernel_map_is_hidden(&tree->roots));
    assert_int_equal(map.images[0].start, 0xffffffff81000000);
    assert_int_equal(map.images[0].build_id.size, 3);
    assert_int_equal(kernel_map_find(&map, 0xffffffff81000123), 0);
    int ext4 = kernel_map_find(&map, 0xffffffffc0010044);
    assert_string_equal(map.images[ext4].name, "[ext4]");
    assert_int_equal(map.images[ext4].build_id.size, 3);
    assert_int_equal(kernel_map_find(&map, 0xffffffffc0010fff), ext4);
    assert_int_equal(kernel_map_find(&map, 0xffffffffc0011000), KERNEL_MAP_NONE);
    assert_string_equal(map.images[kernel_map_find(&map, 0xffffffffc0900010)].name, "[bpf]");
    assert_int_equal(kernel_map_find(&map, 0x1000), KERNEL_MAP_NONE);

    const uint64_t offsets[] = {0x10, 0x1ff};
    struct symbol_cover cover = {.offsets = offsets, .offset_count = 2};
    assert_true(kernel_map_cover(&map, 0, &cover));
    symbol_cover_settle(&cover);
    assert_int_equal(cover.count, 2);
    assert_string_equal(cover.symbols[0].name, "startup");
    assert_string_equal(cover.symbols[1].name, "schedule");
    assert_int_equal(cover.symbols[1].start, 0x100);
    assert_int_equal(cover.symbols[1].size, 0x100);
    symbol_cover_free(&cover);
    kernel_map_free(&map);
}

static void hidden_kernel_addresses(void **state) {
    struct live_tree *tree = *state;
    struct kernel_map map;
    live_tree_text(live_tree_path(tree, "proc/kallsyms"),
                   "0000000000000000 T _stext\n0000000000000000 t schedule\n");
    assert_true(kernel_map_is_hidden(&tree->roots));
    assert_true(kernel_map_read(&tree->roots, &map));
    assert_true(map.hidden);
    assert_int_equal(map.image_count, 1);
    kernel_map_free(&map);
}

static void a_kernel_that_tells_nothing(void **state) {
    struct live_tree *tree = *state;
    struct kernel_map map;
    assert_true(kernel_map_read(&tree->roots, &map));
    assert_true(map.hidden);
    assert_int_equal(kernel_map_find(&map, 0xffffffff81000000), KERNEL_MAP_NONE);
    kernel_map_free(&map);
}

static void damaged_kallsyms(void **state) {
    struct live_tree *tree = *state;
    struct kernel_map map;
    live_tree_text(live_tree_path(tree, "proc/kallsyms"),
                   "\n \nffffffff81000000\nffffffff81000000 \nffffffff81000000 T\n"
                   "ffffffffffffffffffff T too_long\nxyz T what\n-1 T minus\n"
                   "ffffffff81000000 T [\nffffffff81000010 t a\t[\n"
                   "ffffffff81000020 t b\t[]\nffffffffffffffff T last");
    live_tree_text(live_tree_path(tree, "proc/modules"),
                   "../../etc 4096 1 - Live 0xffffffffc0010000\n"
                   "wraps 4096 1 - Live 0xfffffffffffffff0\n"
                   "zero 0 1 - Live 0xffffffffc0010000\n");
    assert_true(kernel_map_read(&tree->roots, &map));
    assert_int_equal(map.image_count, 1);
    assert_int_equal(kernel_map_find(&map, UINT64_MAX), 0);
    kernel_map_free(&map);
}

/* ---- code made at run time ---- */

static struct symbol_cover read_map(struct live_tree *tree, const char *text,
                                    const uint64_t *offsets, size_t count) {
    struct symbol_cover cover = {.offsets = offsets, .offset_count = count};
    const char *path = live_tree_path(tree, "files/tmp/perf-42.map");
    live_tree_text(path, text);
    int file = perf_map_open(tree->roots.proc, tree->roots.files, 42, 42, getuid());
    assert_true(file >= 0);
    assert_true(perf_map_read(file, &cover));
    symbol_cover_settle(&cover);
    return cover;
}

static void the_last_symbol_at_an_address_holds(void **state) {
    const uint64_t offsets[] = {0x1000, 0x1010, 0x2000, 0x3000};
    struct symbol_cover cover = read_map(*state,
                                         "1000 20 first\n2000 10 alone one\n9000 10 unused\n"
                                         "0x1010 0x10 second\n3000 100 big\n2ff8 10 bigger\n",
                                         offsets, 4);
    assert_int_equal(cover.count, 3);
    assert_string_equal(cover.symbols[0].name, "second");
    assert_string_equal(cover.symbols[1].name, "alone one");
    assert_string_equal(cover.symbols[2].name, "bigger");
    symbol_cover_free(&cover);
}

static void damaged_maps(void **state) {
    const uint64_t offsets[] = {0, 0x1000, UINT64_MAX};
    struct symbol_cover cover =
        read_map(*state,
                 "\n1000\n1000 \n1000 10\n1000 10 \n1000 0 empty\n-1000 10 minus\n"
                 "ffffffffffffffff 10 wraps\n11111111111111111 1 long\n 1000 10 space\n"
                 "1000 -10 minus\nname only\n1000 10 good",
                 offsets, 3);
    assert_int_equal(cover.count, 1);
    assert_string_equal(cover.symbols[0].name, "good");
    symbol_cover_free(&cover);
}

/* A line without an end takes no memory, and its rest is no line of its own. */
static void a_map_of_endless_lines(void **state) {
    const uint64_t offsets[] = {0x1000, 0x2000};
    char text[4000];
    memset(text, 'x', sizeof text);
    memcpy(text, "1000 10 ", 8);
    strcpy(text + 3000, "2000 10 inside\n2000 10 behind\n");
    struct symbol_cover cover = read_map(*state, text, offsets, 2);
    assert_int_equal(cover.count, 2);
    assert_int_equal(strlen(cover.symbols[0].name), 512);
    assert_string_equal(cover.symbols[1].name, "behind");
    symbol_cover_free(&cover);

    const char *path = live_tree_path(*state, "files/tmp/perf-42.map");
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    struct rlimit before, limit;
    getrlimit(RLIMIT_DATA, &before);
    limit = (struct rlimit){.rlim_cur = 64 << 20, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
    cover = (struct symbol_cover){.offsets = offsets, .offset_count = 2};
    bool read =
        perf_map_read(perf_map_open(((struct live_tree *)*state)->roots.proc,
                                    ((struct live_tree *)*state)->roots.files, 42, 42, getuid()),
                      &cover);
    setrlimit(RLIMIT_DATA, &before);
    assert_true(read);
    assert_int_equal(cover.count, 2);
    symbol_cover_free(&cover);
}

static void maps_of_others_do_not_count(void **state) {
    struct live_tree *tree = *state;
    const char *path = live_tree_path(tree, "files/tmp/perf-42.map");
    live_tree_text(path, "1000 10 name\n");
    assert_int_equal(perf_map_open(tree->roots.proc, tree->roots.files, 42, 42, getuid() + 1), -1);
    assert_int_equal(perf_map_open(tree->roots.proc, tree->roots.files, 42, 42, (uid_t)-1), -1);
    assert_int_equal(perf_map_open(tree->roots.proc, tree->roots.files, 43, 43, getuid()), -1);
    assert_int_equal(symlink(path, live_tree_path(tree, "files/tmp/perf-43.map")), 0);
    assert_int_equal(perf_map_open(tree->roots.proc, tree->roots.files, 43, 43, getuid()), -1);
    assert_int_equal(mkfifo(live_tree_path(tree, "files/tmp/perf-44.map"), 0600), 0);
    assert_int_equal(perf_map_open(tree->roots.proc, tree->roots.files, 44, 44, getuid()), -1);
}

/* In a container a process writes the number that its own namespace gives it. */
static void maps_in_containers(void **state) {
    struct live_tree *tree = *state;
    live_tree_text(live_tree_path(tree, "proc/42/root/tmp/perf-7.map"), "1000 10 inner\n");
    live_tree_text(live_tree_path(tree, "files/tmp/perf-42.map"), "1000 10 outer\n");
    const uint64_t offset = 0x1000;
    struct symbol_cover cover = {.offsets = &offset, .offset_count = 1};
    int file = perf_map_open(tree->roots.proc, tree->roots.files, 42, 7, getuid());
    assert_true(perf_map_read(file, &cover));
    assert_string_equal(cover.symbols[0].name, "inner");
    symbol_cover_free(&cover);
}

/* ---- processes ---- */

static void a_command_may_look_like_anything(void **state) {
    struct live_tree *tree = *state;
    struct proc_process process;
    live_tree_process(tree, 5, 3, "a) S 9 (b", 1234, "");
    assert_true(proc_process_read(&tree->roots, 5, &process));
    assert_string_equal(process.command, "a) S 9 (b");
    assert_int_equal(process.parent, 3);
    assert_int_equal(process.inner_pid, 7);
    assert_int_equal(process.user, getuid());
    assert_true(process.start_ns == 1234 * UINT64_C(1000000000) / sysconf(_SC_CLK_TCK));
    live_tree_text(live_tree_path(tree, "proc/5/stat"), "5 (cut) S 3");
    assert_false(proc_process_read(&tree->roots, 5, &process));
    assert_false(proc_process_read(&tree->roots, 6, &process));
}

static void mappings(void **state) {
    (void)state;
    struct proc_mapping mapping;
    assert_true(proc_mapping_parse("7f00-8000 r-xp 00001000 fe:0a 42   /usr/bin/a b (deleted)\n",
                                   &mapping));
    assert_string_equal(mapping.path, "/usr/bin/a b");
    assert_true(mapping.deleted && mapping.executable);
    assert_int_equal(mapping.device, UINT64_C(0xfe) << 32 | 10);
    assert_int_equal(mapping.offset, 0x1000);
    assert_true(
        proc_mapping_parse("7f00-8000 r-xp 0 fe:0a 42 /a\\012b\\013 (deleted)\n", &mapping));
    assert_string_equal(mapping.path, "/a\nb\\013");
    assert_true(proc_mapping_parse("7f00-8000 rw-p 00000000 00:00 0 ", &mapping));
    assert_string_equal(mapping.path, "");
    assert_false(proc_mapping_parse("8000-7f00 r-xp 00001000 fe:0a 42 /x\n", &mapping));
    assert_false(proc_mapping_parse("", &mapping));
    assert_false(proc_mapping_parse("7f00-8000 r-xp\n", &mapping));
}

/* ---- build ids ---- */

static void damaged_notes(void **state) {
    (void)state;
    struct build_id id;
    static const uint8_t good[] = "\4\0\0\0\2\0\0\0\3\0\0\0GNU\0ab";
    assert_true(build_id_of_notes(good, 18, &id));
    assert_int_equal(id.size, 2);
    for (size_t size = 0; size < 18; size++)
        assert_false(build_id_of_notes(good, size, &id));
    static const uint8_t large[] = "\4\0\0\0\xff\xff\xff\xff\3\0\0\0GNU\0ab";
    assert_false(build_id_of_notes(large, 18, &id));
    static const uint8_t wide[] = "\xff\xff\xff\xff\2\0\0\0\3\0\0\0GNU\0ab";
    assert_false(build_id_of_notes(wide, 18, &id));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kernel_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hidden_kernel_addresses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_kernel_that_tells_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_kallsyms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_last_symbol_at_an_address_holds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_maps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_map_of_endless_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(maps_of_others_do_not_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(maps_in_containers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_command_may_look_like_anything, set_up, tear_down),
        cmocka_unit_test(mappings),
        cmocka_unit_test(damaged_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
