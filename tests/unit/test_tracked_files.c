/* A file whose names were not read yet stays open, so that they can be when it is gone. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/tracked_files.h"
#include "live/tracked_processes.h"
#include "live_tree.h"

enum { MOST = 2, FILES = 3 };

struct fixture {
    struct live_tree tree;
    struct tracked_files files;
    struct tracked_processes processes;
    uint32_t numbers[FILES];
};

static int set_up(void **state) {
    static struct fixture fixture;
    fixture = (struct fixture){.files.kept_most = MOST};
    live_tree_make(&fixture.tree);
    live_tree_process(&fixture.tree, 42, 1, "all", 100, "");
    for (int i = 0; i < FILES; i++) {
        const char name[] = {(char)('a' + i), 0}, id[5] = {(char)('A' + i)};
        char path[64];
        snprintf(path, sizeof path, "files/%s", name);
        live_tree_elf(live_tree_path(&fixture.tree, "%s", path), id);
        const struct live_file file = {.key =
                                           live_tree_key(live_tree_path(&fixture.tree, "%s", path)),
                                       .path = path + 5,
                                       .seen_in = 42};
        fixture.numbers[i] =
            tracked_files_announce(&fixture.files, &fixture.tree.roots, &fixture.processes, &file);
        assert_int_equal(fixture.numbers[i], i);
        assert_int_equal(unlink(live_tree_path(&fixture.tree, "%s", path)), 0);
    }
    *state = &fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    tracked_files_free(&fixture->files);
    assert_int_equal(fixture->files.kept, 0);
    tracked_processes_free(&fixture->processes);
    live_tree_remove(fixture->tree.root);
    return 0;
}

static void the_first_are_open_though_they_are_gone(void **state) {
    struct tracked_files *files = &((struct fixture *)*state)->files;
    struct build_id id;
    assert_int_equal(files->kept, MOST);
    for (int i = 0; i < MOST; i++) {
        const int descriptor = tracked_files_take_kept(files, &files->items[i]);
        assert_true(descriptor >= 0);
        assert_true(build_id_of_file(descriptor, &id));
        assert_int_equal(id.bytes[0], 'A' + i);
        close(descriptor);
        assert_int_equal(tracked_files_take_kept(files, &files->items[i]), -1);
    }
    assert_int_equal(files->kept, 0);
}

static void none_is_open_beyond_the_most(void **state) {
    struct tracked_files *files = &((struct fixture *)*state)->files;
    assert_int_equal(tracked_files_take_kept(files, &files->items[MOST]), -1);
    assert_int_equal(files->kept, MOST);
}

static void what_is_freed_is_closed(void **state) {
    struct tracked_files *files = &((struct fixture *)*state)->files;
    const int descriptor = files->items[0].kept;
    assert_true(fcntl(descriptor, F_GETFD) >= 0);
    tracked_files_free(files);
    assert_int_equal(fcntl(descriptor, F_GETFD), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_are_open_though_they_are_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(none_is_open_beyond_the_most, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_freed_is_closed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
