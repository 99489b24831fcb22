/* The guest's memory as the plugin reads it again and again: what was there before a system call
 * may be gone after it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/qemu/plugin_guest.c" /* NOLINT(bugprone-suspicious-include): it is in no library */

struct plugin plugin; /* guest addresses are our own */

enum { SIZE = 2 * PAGE };

static uint8_t *mapped(void) {
    uint8_t *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    memset(memory, 7, SIZE);
    return memory;
}

/* Whether a word can be read, which is then what mapped() wrote. */
static bool reads(const uint8_t *at) {
    uint64_t word = 0;
    const bool read = guest_read_again((uintptr_t)at, &word, sizeof word);
    assert_true(!read || word == 0x0707070707070707);
    return read;
}

/* Read through the pointer after that, the page would be a fault in the emulator. */
static void a_page_that_a_system_call_unmaps(void **state) {
    (void)state;
    uint8_t *memory = mapped();
    assert_true(reads(memory) && reads(memory + 8));
    munmap(memory, SIZE);
    guest_may_change();
    assert_false(reads(memory));
    assert_false(reads(memory + 8));
}

static void a_page_that_a_system_call_protects(void **state) {
    (void)state;
    uint8_t *memory = mapped();
    assert_true(reads(memory));
    mprotect(memory, SIZE, PROT_NONE);
    guest_may_change();
    assert_false(reads(memory));
    mprotect(memory, SIZE, PROT_READ);
    guest_may_change();
    assert_true(reads(memory));
    munmap(memory, SIZE);
}

/* The page before it is known, the other is gone. */
static void a_word_that_reaches_into_the_next_page(void **state) {
    (void)state;
    uint8_t *memory = mapped();
    assert_true(reads(memory));
    assert_true(reads(memory + PAGE - 4));
    munmap(memory + PAGE, PAGE);
    assert_false(reads(memory + PAGE - 4));
    munmap(memory, PAGE);
}

/* Pages that share a place among those known: only the one read last is. */
static void another_page_in_the_same_place(void **state) {
    (void)state;
    const size_t apart = (size_t)KNOWN_PAGES * PAGE;
    uint8_t *memory =
        mmap(NULL, apart + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    memset(memory, 7, PAGE);
    assert_true(reads(memory));
    munmap(memory + apart, PAGE);
    assert_false(reads(memory + apart));
    munmap(memory, apart);
}

/* A thread may have unmapped it meanwhile, without a system call of this one. */
static void a_page_that_another_thread_unmaps(void **state) {
    (void)state;
    uint8_t *memory = mapped();
    plugin.threaded = true;
    assert_true(reads(memory));
    munmap(memory, SIZE);
    assert_false(reads(memory));
    plugin.threaded = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_that_a_system_call_unmaps),
        cmocka_unit_test(a_page_that_a_system_call_protects),
        cmocka_unit_test(a_word_that_reaches_into_the_next_page),
        cmocka_unit_test(another_page_in_the_same_place),
        cmocka_unit_test(a_page_that_another_thread_unmaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
