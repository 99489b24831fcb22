/* Every block that tests/guests/allocates.c says it allocated or freed is told of in its trace,
 * dynamically linked, where a library is preloaded, and statically, where its allocator's symbols
 * are watched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "temporary.h"
#include "trace/trace.h"
#include "util/array.h"
#include "util/order.h"

static char folder[TEMPORARY_BYTES];

struct block {
    uint64_t address, size; /* of what was freed: UINT64_MAX */
};

struct blocks {
    struct block *items;
    size_t count, capacity;
};

ORDER(by_block, struct block, ascending(a->address, b->address) ?: ascending(a->size, b->size))

static void add(struct blocks *blocks, uint64_t address, uint64_t size) {
    assert_true(
        array_push(blocks->items, blocks->capacity, blocks->count, (struct block){address, size}));
}

static struct blocks read_told(const char *path) {
    struct blocks blocks = {.count = 0};
    struct trace_batch batch;
    struct error error;
    struct trace *trace = trace_open(path, &error);
    assert_non_null(trace);
    while (trace_next(trace, &batch, &error) > 0)
        for (uint32_t i = 0; i < batch.memory_count; i++) {
            const struct trace_memory *event = &batch.memory[i];
            if (event->kind == MEMORY_ALLOCATED)
                add(&blocks, event->address, event->size);
            else if (event->kind == MEMORY_FREED)
                add(&blocks, event->address, UINT64_MAX);
        }
    trace_close(trace);
    return blocks;
}

static struct blocks read_printed(const char *path) {
    struct blocks blocks = {.count = 0};
    unsigned long address, size;
    char what;
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fscanf(file, "%c %lx %lx\n", &what, &address, &size) == 3)
        add(&blocks, address, what == 'f' ? UINT64_MAX : size);
    assert_true(feof(file));
    fclose(file);
    return blocks;
}

static void check(const char *compiler, const char *options) {
    char program[PATH_MAX], output[PATH_MAX], trace[PATH_MAX], command[2 * PATH_MAX];
    snprintf(program, sizeof program, "%s/allocates", folder);
    snprintf(output, sizeof output, "%s/output", folder);
    snprintf(trace, sizeof trace, "%s/trace", folder);
    snprintf(command, sizeof command, "%s %s -pthread -O1 -o %s tests/guests/allocates.c", compiler,
             options, program);
    assert_int_equal(system(command), 0);
    struct capture_result result;
    struct error error = {0};
    char *const words[] = {program, NULL};
    int status = 0, out = open(output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const struct capture_options capture = {.command = words,
                                            .addresses = true,
                                            .objects = true,
                                            .thread = -1,
                                            .descriptors = {0, out, 0}};
    if (!trace_record(&capture, trace, false, &(const struct watcher){0}, &result, &status, &error))
        fail_msg("%s", error.message);
    close(out);
    struct blocks told = read_told(trace), printed = read_printed(output);
    assert_true(printed.count > 800); /* of a thousand turns */
    assert_non_null(told.items);
    assert_non_null(printed.items);
    qsort(told.items, told.count, sizeof *told.items, by_block);
    qsort(printed.items, printed.count, sizeof *printed.items, by_block);
    /* The C library has blocks of its own, before, between and behind. */
    size_t at = 0;
    for (size_t i = 0; i < printed.count; i++, at++) {
        while (at < told.count && by_block(&told.items[at], &printed.items[i]) < 0)
            at++;
        assert_true(at < told.count && by_block(&told.items[at], &printed.items[i]) == 0);
    }
    free(told.items);
    free(printed.items);
}

static void preloaded(void **state) {
    (void)state;
    check("cc", "");
}

static void linked_statically(void **state) {
    (void)state;
    check("cc", "-static");
    check("cc", "-static-pie");
}

static void on_riscv64(void **state) {
    (void)state;
    if (system("command -v riscv64-linux-gnu-gcc >/dev/null") != 0) {
        print_message("needs riscv64-linux-gnu-gcc\n");
        skip();
    }
    check("riscv64-linux-gnu-gcc", "-static");
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(temporary_name(folder, "allocation-capture")) ? 0 : -1;
}

static int remove_folder(void **state) {
    char command[PATH_MAX];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(preloaded),
                                       cmocka_unit_test(linked_statically),
                                       cmocka_unit_test(on_riscv64)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
