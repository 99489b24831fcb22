/* What to type for debug symbols, on systems made of a few files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/symbol_package.h"
#include "temporary.h"

static char root[TEMPORARY_BYTES];

static void put(const char *path, const char *text) {
    char command[512];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s%s')\"", root, path);
    assert_int_equal(system(command), 0);
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int setup(void **state) {
    (void)state;
    return mkdtemp(temporary_name(root, "symbols")) ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void a_debian(void) {
    put("/etc/os-release", "NAME=\"Debian GNU/Linux\"\nVERSION_CODENAME=bookworm\nID=debian\n");
    put("/etc/apt/trusted.gpg.d/debian-archive-bookworm-stable.asc", "");
    put("/etc/apt/sources.list.d/debian.sources",
        "Types: deb\nURIs: http://deb.debian.org/debian\nSuites: bookworm bookworm-updates\n");
    put("/var/lib/dpkg/info/gzip.list", "/.\n/bin\n/bin/gzip\n/bin/gunzip\n");
    put("/var/lib/dpkg/info/bc.list", "/.\n/usr/bin/bc\n");
    put("/var/lib/dpkg/info/libc6:amd64.list", "/.\n/lib/x86_64-linux-gnu/libc.so.6\n");
    put("/var/lib/dpkg/info/python3.11-minimal.list", "/usr/bin/python3.11\n");
}

static void check(const char *const *paths, size_t count, const char *command, const char *unowned,
                  const char *present) {
    const struct symbol_system system = {.root = root};
    struct symbol_advice advice;
    assert_true(symbol_advice_find(&system, paths, count, &advice));
    const char *found[] = {advice.command, advice.unowned, advice.present};
    const char *wanted[] = {command, unowned, present};
    for (int i = 0; i < 3; i++)
        if (wanted[i])
            assert_string_equal(found[i] ? found[i] : "nothing", wanted[i]);
        else
            assert_null(found[i]);
    symbol_advice_free(&advice);
}

#define ADD_ARCHIVE                                                                                \
    "echo deb http://deb.debian.org/debian-debug bookworm-debug main | sudo tee "                  \
    "/etc/apt/sources.list.d/debug.list && sudo apt update && "

static void debian_names_the_package(void **state) {
    (void)state;
    a_debian();
    /* /usr merged: the file runs as /usr/bin/gzip and is listed as /bin/gzip. */
    check((const char *const[]){"/usr/bin/gzip"}, 1, ADD_ARCHIVE "sudo apt install gzip-dbgsym",
          NULL, NULL);
    check((const char *const[]){"/bin/bc", "/usr/bin/gzip", "/bin/gzip"}, 3,
          ADD_ARCHIVE "sudo apt install bc-dbgsym gzip-dbgsym", NULL, NULL);
    /* These are in the main archive. */
    check((const char *const[]){"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/python3.11"}, 2,
          "sudo apt install libc6-dbg python3.11-dbg", NULL, NULL);
    check((const char *const[]){"/home/me/own", "/bin/bc"}, 2,
          ADD_ARCHIVE "sudo apt install bc-dbgsym", "own", NULL);
    check((const char *const[]){"/home/me/own", "/tmp/other"}, 2, NULL, "own, other", NULL);
    check(NULL, 0, NULL, NULL, NULL);
}

static void a_key_that_apt_does_not_trust_yet_is_named(void **state) {
    (void)state;
    a_debian();
    char command[256];
    snprintf(command, sizeof command, "rm -r %s/etc/apt/trusted.gpg.d", root);
    assert_int_equal(system(command), 0);
    put("/usr/share/keyrings/debian-archive-keyring.gpg", "");
    check((const char *const[]){"/bin/bc"}, 1,
          "echo deb \\[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg\\] "
          "http://deb.debian.org/debian-debug bookworm-debug main | sudo tee "
          "/etc/apt/sources.list.d/debug.list && sudo apt update && sudo apt install bc-dbgsym",
          NULL, NULL);
}

static void a_configured_archive_is_not_added_again(void **state) {
    (void)state;
    a_debian();
    put("/etc/apt/sources.list", "# deb http://deb.debian.org/debian-debug bookworm-debug main\n");
    check((const char *const[]){"/bin/bc"}, 1, ADD_ARCHIVE "sudo apt install bc-dbgsym", NULL,
          NULL);
    put("/etc/apt/sources.list.d/debug.sources",
        "Enabled: no\nURIs: http://mirror/debian-debug\nSuites: bookworm-debug\n");
    check((const char *const[]){"/bin/bc"}, 1, ADD_ARCHIVE "sudo apt install bc-dbgsym", NULL,
          NULL);
    put("/etc/apt/sources.list.d/debug.sources",
        "URIs: http://mirror/debian-debug\nSuites: bookworm-debug\n");
    check((const char *const[]){"/bin/bc"}, 1, "sudo apt install bc-dbgsym", NULL, NULL);
}

static void installed_symbols_of_another_build_are_told(void **state) {
    (void)state;
    a_debian();
    put("/var/lib/dpkg/info/bc-dbgsym.list", "/usr/lib/debug/.build-id/00/11.debug\n");
    check((const char *const[]){"/bin/bc"}, 1, NULL, NULL, "bc-dbgsym");
}

static void other_distributions_ask_rpm(void **state) {
    (void)state;
    put("/etc/os-release", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n");
    const char *const paths[] = {"/usr/bin/gzip", "/opt/it's"};
    check(paths, 2, "sudo dnf debuginfo-install $(rpm -qf /usr/bin/gzip '/opt/it'\\''s')", NULL,
          NULL);
    put("/etc/os-release", "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n");
    check(paths, 1,
          "sudo zypper --plus-content debug install $(rpm -qf --qf '%{NAME}-debuginfo ' "
          "/usr/bin/gzip)",
          NULL, NULL);
    put("/etc/os-release", "ID=gentoo\n");
    check(paths, 2, NULL, NULL, NULL);
}

/* What would become a part of a command is taken only when it is a plain name. */
static void hostile_files_give_no_command(void **state) {
    (void)state;
    a_debian();
    put("/etc/os-release", "ID=debian\nVERSION_CODENAME=\"x; rm -rf ~ #\"\n");
    put("/var/lib/dpkg/info/$(evil).list", "/usr/bin/evil\n");
    put("/var/lib/dpkg/info/-o.list", "/usr/bin/evil\n");
    check((const char *const[]){"/usr/bin/evil"}, 1, NULL, "evil", NULL);
    check((const char *const[]){"/usr/bin/bc"}, 1,
          "echo deb http://deb.debian.org/debian-debug unstable-debug main | sudo tee "
          "/etc/apt/sources.list.d/debug.list && sudo apt update && sudo apt install bc-dbgsym",
          NULL, NULL);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(debian_names_the_package),
        TEST(a_key_that_apt_does_not_trust_yet_is_named),
        TEST(a_configured_archive_is_not_added_again),
        TEST(installed_symbols_of_another_build_are_told),
        TEST(other_distributions_ask_rpm),
        TEST(hostile_files_give_no_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
