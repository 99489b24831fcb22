/* What collectors deliver becomes profiles in a store, on a machine made of files. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "image_kinds.h"
#include "jitdump_parts.h"
#include "live/resolver_internal.h"
#include "live_tree.h"
#include "store/image_names.h"
#include "store/source_place.h"
#include "util/clock.h"

static const struct live_event EVENT = {
    .kind = LIVE_CPU_CLOCK, .name = "cpu-clock", .period = 1000000, .kernel = true};

struct fixture {
    struct live_tree tree;
    struct resolver *resolver;
    struct live_sink sink;
    struct store *store;
    int64_t session, event;
    struct error error;
};

static int set_up(void **state) {
    static struct fixture fixture;
    memset(&fixture, 0, sizeof fixture);
    live_tree_make(&fixture.tree);
    fixture.resolver = resolver_new_in(&fixture.tree.roots, &EVENT, 1, 1 << 17, &fixture.error);
    assert_non_null(fixture.resolver);
    fixture.sink = resolver_sink(fixture.resolver);
    fixture.store =
        store_open(live_tree_path(&fixture.tree, "profiles.db"), STORE_WRITE, &fixture.error);
    assert_non_null(fixture.store);
    struct store_session session = {.kind = SESSION_LIVE, .name = "test", .weight = 1, .start = 1};
    struct store_event event = {.name = "cpu-clock", .unit = "samples"};
    assert_true(store_add_session(fixture.store, &session, &fixture.session, &fixture.error));
    assert_true(
        store_add_event(fixture.store, fixture.session, &event, &fixture.event, &fixture.error));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    resolver_free(fixture->resolver);
    store_close(fixture->store);
    live_tree_remove(fixture->tree.root);
    return 0;
}

static uint64_t start_of(unsigned ticks) {
    return ticks * UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK) + 12345;
}

static void announce_process(struct fixture *fixture, struct live_process process, unsigned ticks,
                             const char *command) {
    process.key.start_ns = start_of(ticks);
    process.parent = 1;
    snprintf(process.command, sizeof process.command, "%s", command);
    assert_true(fixture->sink.process(fixture->sink.context, &process, &fixture->error));
}

static void announce(struct fixture *fixture, uint32_t pid, uint32_t exec, unsigned ticks,
                     const char *command) {
    announce_process(fixture, (struct live_process){.key = {pid, exec}}, ticks, command);
}

static void announce_running(struct fixture *fixture, uint32_t pid, uint32_t exec, unsigned ticks,
                             const char *command, const char *executable) {
    announce_process(fixture, (struct live_process){.key = {pid, exec}, .executable = executable},
                     ticks, command);
}

static void announce_in_exec(struct fixture *fixture, uint32_t pid, uint32_t exec, unsigned ticks,
                             const char *command) {
    announce_process(fixture, (struct live_process){.key = {pid, exec}, .in_exec = true}, ticks,
                     command);
}

static void announce_file(struct fixture *fixture, struct live_file_key key, const char *path,
                          const char *id, uint32_t pid) {
    struct live_file file = {.key = key, .path = path, .build_id_size = strlen(id), .seen_in = pid};
    memcpy(file.build_id, id, strlen(id));
    assert_true(fixture->sink.file(fixture->sink.context, &file, &fixture->error));
}

static void sample(struct fixture *fixture, uint32_t pid, uint32_t exec, unsigned ticks,
                   enum live_place_kind place, struct live_file_key file, uint64_t offset,
                   uint64_t count) {
    struct live_sample taken = {
        .process = {pid, exec, start_of(ticks)}, .at = {place, file, offset, NULL}, .count = count};
    assert_true(fixture->sink.sample(fixture->sink.context, &taken, &fixture->error));
}

static void save(struct fixture *fixture) {
    if (!resolver_save(fixture->resolver, fixture->store, fixture->session, &fixture->event,
                       &fixture->error))
        fail_msg("%s", fixture->error.message);
}

/* "command executable kind path buildid root offset=value ..." of each profile, in lines. */
static bool describe(void *context, const struct store_profile *profile) {
    char *text = context;
    size_t used = strlen(text);
    const struct store_image *image = profile->image;
    used += (size_t)snprintf(text + used, 4096 - used, "%s|%s|%s|%s|%.*s|%s|",
                             profile->process->command, profile->process->executable,
                             KINDS[image->kind], image->path,
                             image->kind == IMAGE_FILE ? (int)image->build_id_size : 0,
                             (const char *)image->build_id, image->root);
    for (size_t i = 0; i < profile->count && i < 8; i++)
        used += (size_t)snprintf(text + used, 4096 - used, "%s%llx=%llu", i ? " " : "",
                                 (unsigned long long)profile->values[i].offset,
                                 (unsigned long long)profile->values[i].value);
    snprintf(text + used, 4096 - used, "\n");
    return true;
}

static const char *saved(struct fixture *fixture) {
    static char text[4096];
    text[0] = 0;
    assert_true(store_each_profile(fixture->store, &(struct store_filter){0}, describe, text,
                                   &fixture->error));
    return text;
}

static void assert_saved(struct fixture *fixture, const char *line) {
    const char *text = saved(fixture);
    if (!strstr(text, line))
        fail_msg("no '%s' in\n%s", line, text);
}

static const struct live_file_key NO_FILE;

/* ---- files ---- */

static void samples_of_a_process_in_its_file(void **state) {
    struct fixture *fixture = *state;
    struct live_tree *tree = &fixture->tree;
    const char *path = live_tree_path(tree, "files/usr/bin/gzip");
    live_tree_elf(path, "ABCD");
    struct live_file_key key = live_tree_key(path);
    live_tree_process(tree, 42, 1, "gzip", 100, "");
    announce(fixture, 42, 3, 100, "gzip");
    announce_file(fixture, key, "/usr/bin/gzip", "", 42);
    sample(fixture, 42, 3, 100, PLACE_FILE, key, 0x20, 2);
    sample(fixture, 42, 3, 100, PLACE_FILE, key, 0x10, 1);
    sample(fixture, 42, 3, 100, PLACE_FILE, key, 0x20, 3);
    save(fixture);
    assert_saved(fixture, "gzip|/usr/bin/gzip|file|/usr/bin/gzip|ABCD||10=1 20=5\n");
    struct resolver_statistics statistics;
    resolver_statistics(fixture->resolver, &statistics);
    assert_int_equal(statistics.samples, 6);
    assert_int_equal(statistics.unknown, 0);
    assert_int_equal(statistics.entries, 0);
}

/* Thousands of short-lived processes are one row, though they are gone when they are heard of. */
static void processes_that_have_ended(void **state) {
    struct fixture *fixture = *state;
    const char *path = live_tree_path(&fixture->tree, "files/usr/bin/true");
    live_tree_elf(path, "TRUE");
    struct live_file_key key = live_tree_key(path);
    struct live_file_key library = {.device = 1, .inode = 2};
    announce_file(fixture, library, "/lib/libc.so.6", "LIBC", 100);
    announce_file(fixture, key, "/usr/bin/true", "", 100);
    for (uint32_t pid = 100; pid < 200; pid++) {
        announce(fixture, pid, 1, pid, "true");
        sample(fixture, pid, 1, pid, PLACE_FILE, library, 0x30, 1);
        sample(fixture, pid, 1, pid, PLACE_FILE, key, 0x10, 1);
    }
    save(fixture);
    assert_saved(fixture, "true|/usr/bin/true|file|/usr/bin/true|TRUE||10=100\n");
    assert_saved(fixture, "true|/usr/bin/true|file|/lib/libc.so.6|LIBC||30=100\n");
    save(fixture);
    struct resolver_statistics statistics;
    resolver_statistics(fixture->resolver, &statistics);
    assert_int_equal(statistics.processes, 0);
}

/* Samples of a process that ended between a drain and the save come with the next drain. */
static void processes_are_kept_for_one_more_save(void **state) {
    struct fixture *fixture = *state;
    announce(fixture, 42, 1, 100, "late");
    save(fixture);
    sample(fixture, 42, 1, 100, PLACE_VDSO, NO_FILE, 0x10, 7);
    save(fixture);
    assert_saved(fixture, "late||vdso|[vdso]|||10=7\n");
}

static void an_exec_makes_another_process(void **state) {
    struct fixture *fixture = *state;
    announce(fixture, 42, 1, 100, "sh");
    announce(fixture, 42, 2, 100, "gzip");
    sample(fixture, 42, 1, 100, PLACE_VDSO, NO_FILE, 0x10, 1);
    sample(fixture, 42, 2, 100, PLACE_VDSO, NO_FILE, 0x10, 2);
    save(fixture);
    assert_saved(fixture, "sh||vdso|[vdso]|||10=1\n");
    assert_saved(fixture, "gzip||vdso|[vdso]|||10=2\n");
}

/* In the middle of an exec the name is the next program's already, the count of execs still the
 * old one, and no executable is told. A process that gave itself another name runs what it ran. */
static void the_middle_of_an_exec_renames_nothing(void **state) {
    struct fixture *fixture = *state;
    announce_running(fixture, 42, 1, 100, "sh", "/usr/bin/dash");
    sample(fixture, 42, 1, 100, PLACE_VDSO, NO_FILE, 0x10, 1);
    announce_in_exec(fixture, 42, 1, 100, "gzip");
    announce_running(fixture, 42, 2, 100, "gzip", "/usr/bin/gzip");
    sample(fixture, 42, 2, 100, PLACE_VDSO, NO_FILE, 0x10, 2);
    announce_running(fixture, 43, 1, 200, "server", "/usr/bin/server");
    announce(fixture, 43, 1, 200, "server: idle");
    sample(fixture, 43, 1, 200, PLACE_VDSO, NO_FILE, 0x10, 4);
    save(fixture);
    assert_saved(fixture, "sh|/usr/bin/dash|vdso|[vdso]|||10=1\n");
    assert_saved(fixture, "gzip|/usr/bin/gzip|vdso|[vdso]|||10=2\n");
    assert_saved(fixture, "server: idle|/usr/bin/server|vdso|[vdso]|||10=4\n");
}

/* None of them is there to be looked at: a fork runs its parent's program, and a program is the
 * first file that it maps, whichever library it spends its time in. */
static void executables_of_processes_that_have_ended(void **state) {
    struct fixture *fixture = *state;
    struct live_file_key dash = {.device = 1, .inode = 1}, loader = {.device = 1, .inode = 2};
    announce(fixture, 1, 1, 10, "sh");
    announce_file(fixture, dash, "/usr/bin/dash", "DASH", 1);
    announce_file(fixture, loader, "/lib/ld-linux.so.2", "LOAD", 1);
    announce(fixture, 50, 1, 20, "sh");
    sample(fixture, 50, 1, 20, PLACE_FILE, loader, 0x10, 1);
    announce(fixture, 50, 2, 20, "true");
    struct live_file_key program = {.device = 1, .inode = 3};
    announce_file(fixture, program, "/usr/bin/true", "TRUE", 50);
    announce_file(fixture, loader, "/lib/ld-linux.so.2", "LOAD", 50);
    sample(fixture, 50, 2, 20, PLACE_FILE, loader, 0x10, 2);
    save(fixture);
    assert_saved(fixture, "sh|/usr/bin/dash|file|/lib/ld-linux.so.2|LOAD||10=1\n");
    assert_saved(fixture, "true|/usr/bin/true|file|/lib/ld-linux.so.2|LOAD||10=2\n");
}

/* A process number that was given to another process meanwhile tells nothing of the first. */
static void numbers_of_processes_are_reused(void **state) {
    struct fixture *fixture = *state;
    live_tree_process(&fixture->tree, 42, 1, "second", 900, "");
    announce(fixture, 42, 1, 100, "first");
    announce(fixture, 42, 1, 900, "second");
    sample(fixture, 42, 1, 100, PLACE_VDSO, NO_FILE, 0x10, 1);
    sample(fixture, 42, 1, 900, PLACE_VDSO, NO_FILE, 0x10, 2);
    save(fixture);
    assert_saved(fixture, "first||vdso|[vdso]|||10=1\n");
    assert_saved(fixture, "second|/usr/bin/second|vdso|[vdso]|||10=2\n");
}

static void a_binary_that_was_replaced(void **state) {
    struct fixture *fixture = *state;
    const char *path = live_tree_path(&fixture->tree, "files/usr/bin/app");
    live_tree_elf(path, "OLD!");
    struct live_file_key old = live_tree_key(path);
    announce_file(fixture, old, "/usr/bin/app", "", 42);
    const char *renamed = live_tree_path(&fixture->tree, "files/usr/bin/new");
    live_tree_elf(renamed, "NEW!");
    assert_int_equal(rename(renamed, path), 0);
    announce_file(fixture, live_tree_key(path), "/usr/bin/app", "", 43);
    /* One that nobody has looked at in time. */
    struct live_file_key older = {.device = old.device, .inode = old.inode + 1000000};
    announce_file(fixture, older, "/usr/bin/app", "", 44);
    announce(fixture, 42, 1, 1, "app");
    sample(fixture, 42, 1, 1, PLACE_FILE, old, 0x10, 1);
    sample(fixture, 42, 1, 1, PLACE_FILE, live_tree_key(path), 0x10, 2);
    sample(fixture, 42, 1, 1, PLACE_FILE, older, 0x10, 4);
    save(fixture);
    assert_saved(fixture, "|file|/usr/bin/app|OLD!||10=1\n");
    assert_saved(fixture, "|file|/usr/bin/app|NEW!||10=2\n");
    assert_saved(fixture, "|file|/usr/bin/app (deleted)|||10=4\n");
}

static void files_of_containers(void **state) {
    struct fixture *fixture = *state;
    struct live_tree *tree = &fixture->tree;
    live_tree_elf(live_tree_path(tree, "files/usr/bin/app"), "HOST");
    const char *path = live_tree_path(tree, "proc/42/root/usr/bin/app");
    live_tree_elf(path, "CONT");
    struct live_file_key key = live_tree_key(path);
    announce(fixture, 42, 1, 1, "app");
    announce_file(fixture, key, "/usr/bin/app", "", 42);
    sample(fixture, 42, 1, 1, PLACE_FILE, key, 0x10, 1);
    save(fixture);
    assert_saved(fixture, "|file|/usr/bin/app|CONT|/proc/42/root|10=1\n");
}

/* The process is gone; its parent in the same container is not. */
static void files_are_seen_by_parents(void **state) {
    struct fixture *fixture = *state;
    const char *path = live_tree_path(&fixture->tree, "proc/42/root/usr/bin/app");
    live_tree_elf(path, "CONT");
    struct live_process child = {.key = {50, 1, 5}, .parent = 42, .command = "app"};
    assert_true(fixture->sink.process(fixture->sink.context, &child, &fixture->error));
    announce_file(fixture, live_tree_key(path), "/usr/bin/app", "", 50);
    struct live_sample taken = {
        .process = child.key, .at = {PLACE_FILE, live_tree_key(path), 0, NULL}, .count = 1};
    assert_true(fixture->sink.sample(fixture->sink.context, &taken, &fixture->error));
    save(fixture);
    assert_saved(fixture, "app|/usr/bin/app|file|/usr/bin/app|CONT|/proc/42/root|0=1\n");
}

static void mapping_of(char line[256], struct live_file_key key, const char *path) {
    snprintf(line, 256, "400000-500000 r-xp 00000000 %x:%x %llu %s\n", (unsigned)(key.device >> 32),
             (unsigned)key.device, (unsigned long long)key.inode, path);
}

/* Neither process nor file was announced: both are there to be looked at. */
static void what_was_never_announced(void **state) {
    struct fixture *fixture = *state;
    char maps[256];
    const char *path = live_tree_path(&fixture->tree, "files/usr/bin/app");
    live_tree_elf(path, "APP!");
    struct live_file_key key = live_tree_key(path);
    mapping_of(maps, key, "/usr/bin/app");
    live_tree_process(&fixture->tree, 42, 1, "app", 100, maps);
    sample(fixture, 42, 9, 100, PLACE_FILE, key, 0x10, 1);
    save(fixture);
    assert_saved(fixture, "app|/usr/bin/app|file|/usr/bin/app|APP!||10=1\n");
}

/* Its process has ended, but others have the file mapped. */
static void files_that_others_have(void **state) {
    struct fixture *fixture = *state;
    char maps[256];
    const char *path = live_tree_path(&fixture->tree, "files/lib/libz.so");
    live_tree_elf(path, "LIBZ");
    struct live_file_key key = live_tree_key(path), gone = {.device = 1, .inode = 1};
    mapping_of(maps, key, "/lib/libz.so");
    live_tree_process(&fixture->tree, 43, 1, "other", 100, maps);
    sample(fixture, 42, 1, 100, PLACE_FILE, key, 0x10, 2);
    sample(fixture, 42, 1, 100, PLACE_FILE, gone, 0x10, 3);
    sample(fixture, 42, 1, 100, PLACE_UNKNOWN, NO_FILE, 0x20, 4);
    save(fixture);
    assert_saved(fixture, "[unknown]||file|/lib/libz.so|LIBZ||10=2\n");
    assert_saved(fixture, "[unknown]||unknown|[unknown]|||10=3 20=4\n");
    struct resolver_statistics statistics;
    resolver_statistics(fixture->resolver, &statistics);
    assert_int_equal(statistics.unknown, 7);
}

static void what_ran_before_the_start(void **state) {
    struct fixture *fixture = *state;
    char maps[256];
    const char *path = live_tree_path(&fixture->tree, "files/usr/bin/old");
    live_tree_elf(path, "OLD!");
    struct live_file_key key = live_tree_key(path);
    mapping_of(maps, key, "/usr/bin/old");
    live_tree_process(&fixture->tree, 42, 1, "old", 100, maps);
    assert_true(resolver_scan(fixture->resolver, &fixture->error));
    live_tree_remove(live_tree_path(&fixture->tree, "proc/42"));
    live_tree_remove(path);
    key.generation = 77; /* which /proc does not tell */
    sample(fixture, 42, 5, 100, PLACE_FILE, key, 0x10, 1);
    save(fixture);
    assert_saved(fixture, "old|/usr/bin/old|file|/usr/bin/old|OLD!||10=1\n");
}

/* ---- what is no file ---- */

static void samples_in_the_kernel(void **state) {
    struct fixture *fixture = *state;
    live_tree_text(live_tree_path(&fixture->tree, "proc/kallsyms"),
                   "ffffffff81000000 T _stext\nffffffff81000100 t schedule\n"
                   "ffffffff81000200 t idle\nffffffff81000300 T _etext\n");
    sample(fixture, 0, 0, 0, PLACE_KERNEL, NO_FILE, 0xffffffff81000210, 3);
    announce(fixture, 42, 1, 1, "app");
    sample(fixture, 42, 1, 1, PLACE_KERNEL, NO_FILE, 0xffffffff81000110, 2);
    sample(fixture, 42, 1, 1, PLACE_KERNEL, NO_FILE, 0xffffffffc1000110, 1);
    save(fixture);
    assert_saved(fixture, "swapper||kernel|[kernel]|||210=3\n");
    assert_saved(fixture, "app||kernel|[kernel]|||110=2\n");
    assert_saved(fixture, "app||unknown|[unknown]|||ffffffffc1000110=1\n");

    /* Symbols of the next save join those of the first. */
    sample(fixture, 42, 1, 1, PLACE_KERNEL, NO_FILE, 0xffffffff81000000, 1);
    save(fixture);
    struct store_image kernel = {.kind = IMAGE_KERNEL, .path = "[kernel]", .root = ""};
    int64_t image;
    struct code_symbol *symbols;
    size_t count;
    assert_true(store_image(fixture->store, &kernel, &image, &fixture->error));
    assert_true(store_get_symbols(fixture->store, image, &symbols, &count, &fixture->error));
    assert_int_equal(count, 3);
    assert_string_equal(symbols[1].name, "schedule");
    assert_int_equal(symbols[1].start, 0x100);
    assert_int_equal(symbols[1].size, 0x100);
    assert_string_equal(symbols[2].name, "idle");
    store_free_symbols(symbols, count);
}

/* "depth path+offset=value" of each node, in lines. */
static bool describe_calls(void *context, const struct store_call_tree *tree) {
    struct described {
        struct fixture *fixture;
        char text[1024];
    } *described = context;
    size_t used = strlen(described->text);
    used += (size_t)snprintf(described->text + used, 1024 - used, "%s\n", tree->process->command);
    for (size_t i = 0; i < tree->count; i++) {
        const struct store_call *call = &tree->calls[i];
        const struct store_image *image =
            call->image
                ? store_image_of(described->fixture->store, call->image, &described->fixture->error)
                : NULL;
        unsigned depth = 0;
        for (uint32_t at = call->parent; at != STORE_CALL_TOP; at = tree->calls[at].parent)
            depth++;
        used += (size_t)snprintf(described->text + used, 1024 - used, "%u %s+%llx=%llu\n", depth,
                                 image ? image->path : "cut", (unsigned long long)call->offset,
                                 (unsigned long long)call->value);
    }
    return true;
}

/* Two processes of one name and program share a tree; the kernel's function that only called has
 * its name as well. */
static void callers(void **state) {
    struct fixture *fixture = *state;
    struct live_file_key key = {.inode = 9};
    live_tree_text(live_tree_path(&fixture->tree, "proc/kallsyms"),
                   "ffffffff81000000 T _stext\nffffffff81000100 T sys_read\n"
                   "ffffffff81000200 T copy_out\nffffffff81000300 T _etext\n");
    const struct live_frame main_at = {.place = PLACE_FILE, .file = key, .offset = 0x40},
                            read_at = {.place = PLACE_FILE, .file = key, .offset = 0x80};
    const struct live_frame in_kernel = {
        .place = PLACE_KERNEL, .file = NO_FILE, .offset = 0xffffffff81000110};
    const struct live_frame deep[] = {in_kernel, read_at, main_at}, shallow[] = {main_at};
    for (uint32_t pid = 42; pid < 44; pid++) {
        announce(fixture, pid, 1, 5, "app");
        announce_file(fixture, key, "/usr/bin/app", "ABCD", pid);
        struct live_sample taken = {
            .process = {pid, 1, start_of(5)},
            .at = {.place = PLACE_KERNEL, .file = NO_FILE, .offset = 0xffffffff81000210},
            .callers = deep,
            .caller_count = 3,
            .end = LIVE_STACK_WHOLE,
            .count = 1};
        assert_true(fixture->sink.sample(fixture->sink.context, &taken, &fixture->error));
        taken.at = read_at;
        taken.callers = shallow;
        taken.caller_count = 1;
        taken.end = LIVE_STACK_FAILED;
        assert_true(fixture->sink.sample(fixture->sink.context, &taken, &fixture->error));
    }
    struct resolver_statistics statistics;
    resolver_statistics(fixture->resolver, &statistics);
    assert_int_equal(statistics.stacks[LIVE_STACK_WHOLE], 2);
    assert_int_equal(statistics.stacks[LIVE_STACK_FAILED], 2);
    save(fixture);
    struct {
        struct fixture *fixture;
        char text[1024];
    } described = {.fixture = fixture};
    assert_true(
        store_each_call_tree(fixture->store, NULL, describe_calls, &described, &fixture->error));
    assert_string_equal(described.text, "app\n0 /usr/bin/app+40=0\n1 /usr/bin/app+80=0\n"
                                        "2 [kernel]+110=0\n3 [kernel]+210=2\n"
                                        "0 cut+2=0\n1 /usr/bin/app+40=0\n2 /usr/bin/app+80=2\n");
    struct store_image kernel = {.kind = IMAGE_KERNEL, .path = "[kernel]", .root = ""};
    struct code_symbol *symbols;
    size_t count;
    int64_t image;
    assert_true(store_image(fixture->store, &kernel, &image, &fixture->error));
    assert_true(store_get_symbols(fixture->store, image, &symbols, &count, &fixture->error));
    assert_int_equal(count, 2);
    assert_string_equal(symbols[0].name, "sys_read");
    store_free_symbols(symbols, count);
    if (!store_check(fixture->store, &fixture->error))
        fail_msg("%s", fixture->error.message);
}

/* Of samples that are alike the callers are looked at once; of what was saved nothing is kept. */
static void alike(void **state) {
    struct fixture *fixture = *state;
    struct live_file_key key = {.inode = 9};
    const struct live_frame callers[] = {{.place = PLACE_FILE, .file = key, .offset = 0x40},
                                         {.place = PLACE_FILE, .file = key, .offset = 0x50}};
    announce(fixture, 42, 1, 5, "app");
    announce_file(fixture, key, "/usr/bin/app", "ABCD", 42);
    struct live_sample taken = {.process = {42, 1, start_of(5)},
                                .at = {.place = PLACE_FILE, .file = key, .offset = 0x80},
                                .callers = callers,
                                .caller_count = 1,
                                .end = LIVE_STACK_WHOLE,
                                .alike = 77,
                                .count = 1};
    for (int i = 0; i < 4; i++, taken.callers = &callers[1]) {
        if (i == 2)
            save(fixture);
        assert_true(fixture->sink.sample(fixture->sink.context, &taken, &fixture->error));
    }
    save(fixture);
    struct {
        struct fixture *fixture;
        char text[1024];
    } described = {.fixture = fixture};
    assert_true(
        store_each_call_tree(fixture->store, NULL, describe_calls, &described, &fixture->error));
    assert_string_equal(described.text, "app\n0 /usr/bin/app+40=0\n1 /usr/bin/app+80=2\n"
                                        "0 /usr/bin/app+50=0\n1 /usr/bin/app+80=2\n");
}

/* What an interpreter runs: a source is an image, whose functions keep their names. */
static void functions_of_a_source(void **state) {
    struct fixture *fixture = *state;
    const struct live_code code = {.path = "/a/b.py",
                                   .name = "Class.method",
                                   .first_line = 10,
                                   .start = source_function(10, 7),
                                   .size = source_function_size()};
    const struct live_frame caller = {
        .place = PLACE_CODE, .code = &code, .offset = source_place(code.start, 12)};
    struct live_sample taken = {.process = {42, 1, start_of(5)},
                                .at = {.place = PLACE_ANONYMOUS},
                                .callers = &caller,
                                .caller_count = 1,
                                .end = LIVE_STACK_WHOLE,
                                .count = 3};
    announce(fixture, 42, 1, 5, "app");
    for (int i = 0; i < 2; i++) {
        assert_true(fixture->sink.sample(fixture->sink.context, &taken, &fixture->error));
        save(fixture);
    }
    const struct store_image source = {.kind = IMAGE_SOURCE, .path = "/a/b.py", .root = ""};
    struct store_image stored = source;
    struct location location;
    struct program *program = program_new();
    struct image_names *names = image_names_new(fixture->store, program, &fixture->error);
    assert_true(store_image(fixture->store, &source, &stored.id, &fixture->error));
    assert_true(image_names_locate(names, &stored, caller.offset, &location, &fixture->error));
    assert_string_equal(location.function, "Class.method");
    assert_string_equal(location.file, "/a/b.py");
    assert_int_equal(location.line, 12);
    image_names_free(names);
    program_free(program);
    if (!store_check(fixture->store, &fixture->error))
        fail_msg("%s", fixture->error.message);
}

static void a_kernel_whose_symbols_are_hidden(void **state) {
    struct fixture *fixture = *state;
    assert_non_null(strstr(resolver_note(fixture->resolver), "kptr_restrict"));
    announce(fixture, 42, 1, 1, "app");
    sample(fixture, 42, 1, 1, PLACE_KERNEL, NO_FILE, 0xffffffff81000110, 2);
    save(fixture);
    assert_saved(fixture, "app||kernel|[kernel]|||ffffffff81000110=2\n");
}

static void code_made_at_run_time(void **state) {
    struct fixture *fixture = *state;
    live_tree_process(&fixture->tree, 42, 1, "node", 100, "");
    announce(fixture, 42, 1, 100, "node");
    announce(fixture, 43, 1, 200, "pcre");
    sample(fixture, 42, 1, 100, PLACE_ANONYMOUS, NO_FILE, 0x1010, 2);
    sample(fixture, 43, 1, 200, PLACE_ANONYMOUS, NO_FILE, 0x5550, 3);
    /* The process ends and leaves its map. */
    live_tree_remove(live_tree_path(&fixture->tree, "proc/42"));
    live_tree_text(live_tree_path(&fixture->tree, "files/tmp/perf-42.map"), "1000 100 hot loop\n");
    save(fixture);
    assert_saved(fixture, "node|/usr/bin/node|jit|[jit] node 42|||1010=2\n");
    assert_saved(fixture, "pcre||jit|[jit] pcre|||0=3\n");
}

/* The dump is written when the process ends. Of two functions at one address neither is believed.
 */
static void code_that_a_dump_tells_of_at_last(void **state) {
    struct fixture *fixture = *state;
    live_tree_process(&fixture->tree, 42, 1, "node", 100, "");
    announce(fixture, 42, 1, 100, "node");
    const char *path = live_tree_path(&fixture->tree, "files/tmp/jit-42.dump");
    live_tree_text(path, "");
    announce_file(fixture, live_tree_key(path), "/tmp/jit-42.dump", "", 42);
    sample(fixture, 42, 1, 100, PLACE_ANONYMOUS, NO_FILE, 0x1010, 2);
    sample(fixture, 42, 1, 100, PLACE_ANONYMOUS, NO_FILE, 0x9004, 3);
    const struct live_frame caller = {.place = PLACE_ANONYMOUS, .offset = 0x9008};
    const struct live_sample called = {.process = {42, 1, start_of(100)},
                                       .at = {.place = PLACE_ANONYMOUS, .offset = 0x9004},
                                       .callers = &caller,
                                       .caller_count = 1,
                                       .end = LIVE_STACK_WHOLE,
                                       .count = 4};
    assert_true(fixture->sink.sample(fixture->sink.context, &called, &fixture->error));
    live_tree_remove(live_tree_path(&fixture->tree, "proc/42"));
    const int dump = open(path, O_WRONLY);
    assert_true(dump >= 0);
    put_header(dump, 0);
    put_load(dump, 100, 0x1000, 0x40, 1, "first");
    put_load(dump, 200, 0x1000, 0x40, 2, "second");
    put_load(dump, 300, 0x9000, 0x40, 3, "third");
    close(dump);
    save(fixture);

    struct code_symbol *symbols;
    size_t count;
    struct store_image jit = {.kind = IMAGE_JIT, .path = "[jit] node", .root = ""};
    assert_true(store_image(fixture->store, &jit, &jit.id, &fixture->error));
    assert_true(store_get_symbols(fixture->store, jit.id, &symbols, &count, &fixture->error));
    if (count != 1)
        fail_msg("%zu names in\n%s", count, saved(fixture));
    assert_string_equal(symbols[0].name, "third");
    char line[128];
    snprintf(line, sizeof line, "node|/usr/bin/node|jit|[jit] node|||0=2 %llx=7\n",
             (unsigned long long)symbols[0].start + 4);
    assert_saved(fixture, line);
    store_free_symbols(symbols, count);
    if (!store_check(fixture->store, &fixture->error))
        fail_msg("%s", fixture->error.message);
}

/* Who counts in the kernel does not tell of the dump: it is found in the maps of the process. */
static void code_of_a_dump_that_is_found(void **state) {
    struct fixture *fixture = *state;
    live_tree_process(&fixture->tree, 43, 1, "php", 100,
                      "7f0000000000-7f0000001000 r-xp 00000000 08:01 77 /tmp/jit-43.dump\n");
    const char *path = live_tree_path(&fixture->tree, "proc/43/root/tmp/jit-43.dump");
    live_tree_text(path, "");
    const int dump = open(path, O_WRONLY);
    assert_true(dump >= 0);
    put_header(dump, 0);
    put_load(dump, 100, 0x1000, 0x40, 1, "loop");
    close(dump);
    announce(fixture, 43, 1, 100, "php");
    sample(fixture, 43, 1, 100, PLACE_ANONYMOUS, NO_FILE, 0x1010, 2);
    sample(fixture, 43, 1, 100, PLACE_ANONYMOUS, NO_FILE, 0x8010, 5);
    save(fixture);
    const char *text = saved(fixture);
    const char *line = strstr(text, "php|/usr/bin/php|jit|[jit] php|||0=5 ");
    if (!line || !strstr(line, "10=2\n"))
        fail_msg("%s", text);
}

/* ---- bounds ---- */

static void more_than_there_is_room_for(void **state) {
    struct fixture *fixture = *state;
    resolver_free(fixture->resolver);
    fixture->resolver = resolver_new_in(&fixture->tree.roots, &EVENT, 1, 100, &fixture->error);
    fixture->sink = resolver_sink(fixture->resolver);
    for (uint64_t i = 0; i < 300; i++) {
        assert_int_equal(resolver_full(fixture->resolver), i >= 50);
        sample(fixture, 42, 1, 1, PLACE_VDSO, NO_FILE, i, 1);
    }
    struct resolver_statistics statistics;
    resolver_statistics(fixture->resolver, &statistics);
    assert_int_equal(statistics.samples, 300);
    assert_int_equal(statistics.unknown, 200);
    save(fixture);
    assert_saved(fixture, "[unknown]||unknown|[unknown]|||0=200\n");
    assert_false(resolver_full(fixture->resolver));
}

/* Nothing is lost when a save fails: it can be done again. */
static void a_save_that_fails(void **state) {
    struct fixture *fixture = *state;
    announce(fixture, 42, 1, 1, "app");
    sample(fixture, 42, 1, 1, PLACE_VDSO, NO_FILE, 0x10, 5);
    assert_false(resolver_save(fixture->resolver, fixture->store, fixture->session + 99,
                               &fixture->event, &fixture->error));
    assert_string_equal(saved(fixture), "");
    save(fixture);
    assert_saved(fixture, "app||vdso|[vdso]|||10=5\n");
}

static void a_hundred_thousand_entries(void **state) {
    struct fixture *fixture = *state;
    for (uint64_t i = 0; i < 100000; i++) {
        struct live_file_key key = {.device = 1, .inode = i % 200 + 1};
        if (i < 200)
            announce_file(fixture, key, i % 2 ? "/usr/bin/some" : "/usr/lib/other", "", 42);
        sample(fixture, (uint32_t)(i % 1000 + 1), 1, 1, PLACE_FILE, key, i * 37 % 1000003, 1);
    }
    double start = clock_processor();
    save(fixture);
    double took = clock_processor() - start;
    print_message("100,000 entries saved in %.0f ms of processor time\n", took * 1000);
    assert_true(took < 20); /* 0.1 s; a search of all for each would take minutes */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(samples_of_a_process_in_its_file),
        TEST(processes_that_have_ended),
        TEST(processes_are_kept_for_one_more_save),
        TEST(an_exec_makes_another_process),
        TEST(the_middle_of_an_exec_renames_nothing),
        TEST(executables_of_processes_that_have_ended),
        TEST(numbers_of_processes_are_reused),
        TEST(a_binary_that_was_replaced),
        TEST(files_of_containers),
        TEST(files_are_seen_by_parents),
        TEST(what_was_never_announced),
        TEST(files_that_others_have),
        TEST(what_ran_before_the_start),
        TEST(samples_in_the_kernel),
        TEST(callers),
        TEST(alike),
        TEST(functions_of_a_source),
        TEST(a_kernel_whose_symbols_are_hidden),
        TEST(code_made_at_run_time),
        TEST(code_that_a_dump_tells_of_at_last),
        TEST(code_of_a_dump_that_is_found),
        TEST(more_than_there_is_room_for),
        TEST(a_save_that_fails),
        TEST(a_hundred_thousand_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
