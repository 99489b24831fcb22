/* The progress line at given moments, and what reaches a terminal and a log. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/progress.h"
#include "util/text.h"

static struct progress at(uint64_t done, uint64_t total) {
    return (struct progress){
        .label = "simulating", .unit = "instructions", .total = total, .done = done};
}

static void line_with_total(void **state) {
    (void)state;
    char line[512];
    /* 1.2 G of 8 G in 100 s: 12 M/s, 6.8 G left in 566.7 s. */
    struct progress progress = at(1200000000, 8000000000);
    progress_line(&progress, 100, 90, line, sizeof line);
    assert_string_equal(line, "simulating  1.20 G of 8.00 G instructions  15.0 %  12.0 M/s  "
                              "9 min 27 s left  [#.........]");
    /* Less room: the bar goes, then the rate. */
    progress_line(&progress, 100, 80, line, sizeof line);
    assert_string_equal(line, "simulating  1.20 G of 8.00 G instructions  15.0 %  12.0 M/s  "
                              "9 min 27 s left");
    progress_line(&progress, 100, 70, line, sizeof line);
    assert_string_equal(line, "simulating  1.20 G of 8.00 G instructions  15.0 %  9 min 27 s left");
}

static void line_without_total(void **state) {
    (void)state;
    char line[512];
    struct progress progress = at(3000, 0);
    progress_line(&progress, 2, 100, line, sizeof line);
    assert_string_equal(line, "simulating  3.00 k instructions  1.50 k/s");
    progress_line(&progress, 0, 100, line, sizeof line); /* no time passed: no rate, no division */
    assert_string_equal(line, "simulating  3.00 k instructions");
}

/* More done than announced: an estimate was short, so neither it, nor a percentage of it, nor a
 * time left is told; as much as announced is all. */
static void line_over_total(void **state) {
    (void)state;
    char line[512];
    struct progress progress = at(5460000000, 522000000);
    progress_line(&progress, 100, 90, line, sizeof line);
    assert_string_equal(line, "simulating  5.46 G instructions  54.6 M/s");
    progress = at(20, 20);
    progress_line(&progress, 2, 60, line, sizeof line);
    assert_string_equal(line, "simulating  20 of 20 instructions  100.0 %  10.0/s  0 s left");
}

/* A run that --limit cuts may end before: 286 M of 1.5 G in 67.5 s, 4.237 M/s; the rest would take
 * 286.5 s. */
static void line_within_limit(void **state) {
    (void)state;
    char line[512];
    struct progress progress = at(286000000, 1500000000);
    progress.at_most = true;
    progress_line(&progress, 67.5, 120, line, sizeof line);
    assert_string_equal(line, "simulating  286 M of at most 1.50 G instructions  4.24 M/s  "
                              "at most 4 min 47 s left");
    progress.total = 0;
    progress_line(&progress, 67.5, 120, line, sizeof line);
    assert_string_equal(line, "simulating  286 M instructions  4.24 M/s");
}

static void line_never_wider(void **state) {
    (void)state;
    char line[512];
    for (unsigned columns = 1; columns < 200; columns++)
        for (uint64_t done = 0; done <= 1000; done += 250) {
            struct progress progress = at(done, 1000);
            progress_line(&progress, 7, columns, line, sizeof line);
            assert_true(text_columns(line) <= columns);
        }
}

/* A log gets nothing in the first minute, then one line per minute. */
static void log_lines(void **state) {
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    struct progress progress;
    progress_start(&progress, file, "reading", "bytes", 100);
    progress_update(&progress, 10);
    assert_int_equal(ftell(file), 0);
    progress.next -= 61; /* a minute later */
    progress_update(&progress, 20);
    progress_update(&progress, 30);
    progress_finish(&progress);
    char text[256] = "";
    rewind(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    assert_non_null(strstr(text, "reading  20 of 100 bytes  20.0 %"));
    assert_ptr_equal(strchr(text, '\n'), text + length - 1); /* one line */
    assert_null(strchr(text, '\033'));
    fclose(file);
}

/* Waiting is worth a line after two seconds, then one a minute. */
static void log_waits(void **state) {
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    struct progress progress;
    progress_start(&progress, file, "reading", "bytes", 100);
    progress_wait(&progress, "read; the writer runs on");
    assert_int_equal(ftell(file), 0);
    progress.next -= 3;
    progress.waiting -= 3;
    progress_wait(&progress, "read; the writer runs on");
    progress_wait(&progress, "read; the writer runs on");
    progress_finish(&progress);
    progress_wait(&progress, "silent after the end");
    char text[256] = "";
    rewind(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    assert_ptr_equal(strstr(text, "read; the writer runs on  3"), text);
    assert_ptr_equal(strchr(text, '\n'), text + length - 1);
    fclose(file);
}

/* A terminal gets a bar in place, and a clean line at the end. */
static void terminal_bar(void **state) {
    (void)state;
    int controller = posix_openpt(O_RDWR | O_NOCTTY);
    if (controller < 0 || grantpt(controller) || unlockpt(controller)) {
        print_message("no pseudo terminals here\n");
        skip();
    }
    int end = open(ptsname(controller), O_RDWR | O_NOCTTY);
    assert_true(end >= 0);
    struct winsize size = {.ws_row = 24, .ws_col = 72};
    assert_int_equal(ioctl(end, TIOCSWINSZ, &size), 0);
    FILE *stream = fdopen(end, "w");
    assert_non_null(stream);

    struct progress progress;
    progress_start(&progress, stream, "reading", "bytes", 100);
    progress.next = 0; /* now */
    progress_update(&progress, 50);
    progress_finish(&progress);
    progress_finish(&progress);
    progress_update(&progress, 60); /* silent after the end */
    /* The terminal hands over what it got in pieces of its choice. */
    char text[512] = "";
    size_t length = 0;
    struct pollfd ready = {.fd = controller, .events = POLLIN};
    while (length < sizeof text - 1 && poll(&ready, 1, 200) > 0) {
        ssize_t got = read(controller, text + length, sizeof text - 1 - length);
        assert_true(got > 0);
        length += (size_t)got;
    }
    assert_non_null(strstr(text, "\r\033[Kreading  50 of 100 bytes  50.0 %"));
    assert_string_equal(text + length - 4, "\r\033[K");
    assert_null(strstr(text, "60 of 100")); /* the rate may have any digits */
    fclose(stream);
    close(controller);
}

static void silent(void **state) {
    (void)state;
    struct progress progress;
    progress_start(&progress, NULL, "reading", "bytes", 100);
    progress.next = 0;
    progress_update(&progress, 50);
    progress_finish(&progress);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_with_total),  cmocka_unit_test(line_without_total),
        cmocka_unit_test(line_over_total),  cmocka_unit_test(line_within_limit),
        cmocka_unit_test(line_never_wider), cmocka_unit_test(log_lines),
        cmocka_unit_test(terminal_bar),     cmocka_unit_test(silent),
        cmocka_unit_test(log_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
