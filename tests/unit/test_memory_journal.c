/* What a process has at a place of its run, from what has happened to its memory until then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "attribute/memory_journal.h"

static void note(struct memory_journal *journal, uint32_t process, uint32_t node,
                 enum trace_memory_kind kind, uint64_t address, uint64_t size) {
    const struct trace_memory event = {
        .address = address, .size = size, .image = UINT32_MAX, .kind = kind};
    assert_true(memory_journal_note(journal, process, node, &event));
}

static bool put(void *context, const struct trace_memory *event, uint32_t node) {
    char *text = context;
    sprintf(text + strlen(text), "%s%c%lx+%lx@%u", *text ? " " : "", " afmubs"[event->kind],
            (unsigned long)event -> address, (unsigned long)event -> size, node);
    return true;
}

static void expect(const struct memory_journal *journal, const struct memory_mark *mark,
                   const char *expected) {
    char text[1024] = "";
    assert_true(memory_journal_recall(journal, mark, put, text));
    assert_string_equal(text, expected);
}

/* a 100 lives all the time; 200 is freed between the marks, 300 before the first, and 300 is made
 * again behind it, larger and by another; what is mapped stays in its order. */
static void places(void **state) {
    (void)state;
    struct memory_journal *journal = memory_journal_new();
    struct memory_mark first, second, third;
    note(journal, 0, 1, MEMORY_MAPPED, 0x1000, 0x1000);
    note(journal, 0, 2, MEMORY_ALLOCATED, 0x100, 16);
    note(journal, 0, 3, MEMORY_ALLOCATED, 0x300, 16);
    note(journal, 0, 3, MEMORY_ALLOCATED, 0x200, 16);
    note(journal, 0, 3, MEMORY_FREED, 0x300, 0);
    note(journal, 0, 1, MEMORY_UNMAPPED, 0x1000, 0x800);
    assert_true(memory_journal_mark(journal, 0, &first));
    note(journal, 0, 4, MEMORY_ALLOCATED, 0x400, 16);
    note(journal, 0, 4, MEMORY_FREED, 0x400, 0);
    note(journal, 0, 5, MEMORY_ALLOCATED, 0x300, 32);
    note(journal, 0, 5, MEMORY_FREED, 0x200, 0);
    note(journal, 0, 5, MEMORY_FREED, 0x208, 0); /* no block begins there */
    assert_true(memory_journal_mark(journal, 0, &second));
    note(journal, 0, 5, MEMORY_FREED, 0x300, 0); /* found where it was moved to */
    assert_true(memory_journal_mark(journal, 0, &third));
    expect(journal, &first, "m1000+1000@1 a100+10@2 a200+10@3 u1000+800@1");
    expect(journal, &second, "m1000+1000@1 a100+10@2 u1000+800@1 a300+20@5");
    expect(journal, &third, "m1000+1000@1 a100+10@2 u1000+800@1");
    memory_journal_free(journal);
}

/* A block whose end nobody told of is over when another begins at its place; the program that exec
 * puts in place of another has nothing of it. */
static void replaced(void **state) {
    (void)state;
    struct memory_journal *journal = memory_journal_new();
    struct memory_mark first, second, third;
    note(journal, 0, 1, MEMORY_ALLOCATED, 0x100, 16);
    assert_true(memory_journal_mark(journal, 0, &first));
    note(journal, 0, 2, MEMORY_ALLOCATED, 0x100, 48);
    assert_true(memory_journal_mark(journal, 0, &second));
    note(journal, 3, 7, MEMORY_ALLOCATED, 0x100, 64);
    assert_true(memory_journal_mark(journal, 3, &third));
    expect(journal, &first, "a100+10@1");
    expect(journal, &second, "a100+30@2");
    expect(journal, &third, "a100+40@7");
    memory_journal_free(journal);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(replaced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
