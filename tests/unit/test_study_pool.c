/* A pool: items are done in their order, each once; the first error and an interrupt end it; and
 * how far it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "study/pool.h"

enum { ITEMS = 100, NONE = 1000 };

struct items {
    _Atomic uint32_t begun[ITEMS];
    _Atomic uint32_t under_way, most_under_way;
    size_t first;       /* that is to be begun next, of one thread */
    bool in_order;      /* likewise */
    size_t fails, ends; /* items that fail, and that the user interrupts; NONE: none does */
    size_t waits;       /* from this one on items wait until they are interrupted */
    struct watch *watch;
    _Atomic int signals; /* that items which wait were ended by, added up */
    uint64_t awaited;    /* instructions; item 2 waits until so many are seen to be done; 0: not */
    _Atomic uint64_t done, total; /* as seen */
};

static void await_interrupt(struct items *items, const struct watch *watch) {
    while (!watch->signal)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    items->signals += watch->signal;
}

/* Not for ever. */
static void await_progress(const struct items *items) {
    for (int i = 0; i < 10000 && items->done < items->awaited; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static bool do_item(void *context, size_t number, struct watch *watch, struct error *error) {
    struct items *items = context;
    const uint32_t now = ++items->under_way;
    items->begun[number]++;
    if (now > items->most_under_way)
        items->most_under_way = now;
    items->in_order = items->in_order && number == items->first;
    items->first = number + 1;
    watch_begin(watch, "item", "instructions", 10);
    watch_progress(watch, 10);
    if (number == 2)
        await_progress(items);
    watch_end(watch);
    if (number == items->ends)
        watch_interrupt(items->watch, SIGINT);
    if (number >= items->waits)
        await_interrupt(items, watch);
    items->under_way--;
    return number != items->fails || error_set(error, "item %zu", number);
}

static void see(void *context, const struct progress *progress) {
    struct items *items = context;
    items->done = progress->done;
    items->total = progress->total;
}

static uint64_t size_of(void *context, size_t number) {
    (void)context;
    return number;
}

struct run {
    struct items items;
    struct watch watch;
    struct error error;
    bool good;
    uint32_t begun; /* items, each once */
};

static struct run *run_items(size_t count, uint32_t jobs, bool sizes, struct items items) {
    struct run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    run->items = items;
    run->items.in_order = true;
    run->items.watch = &run->watch;
    run->watch.observe = see;
    run->watch.context = &run->items;
    const struct pool_work work = {.watch = &run->watch,
                                   .label = "items",
                                   .count = count,
                                   .jobs = jobs,
                                   .size = sizes ? size_of : NULL,
                                   .item = do_item,
                                   .context = &run->items};
    run->good = pool_run(&work, &run->error);
    for (size_t i = 0; i < ITEMS; i++) {
        assert_in_range(run->items.begun[i], 0, 1);
        run->begun += run->items.begun[i];
    }
    return run;
}

static void each_item_is_done_once(void **state) {
    (void)state;
    static const struct items all = {.fails = NONE, .ends = NONE, .waits = NONE};
    struct run *run = run_items(ITEMS, 1, false, all);
    assert_true(run->good && run->items.in_order);
    assert_int_equal(run->begun, ITEMS);
    assert_int_equal(run->items.most_under_way, 1);
    free(run);
    run = run_items(ITEMS, 4, false, all);
    assert_true(run->good);
    assert_int_equal(run->begun, ITEMS);
    assert_in_range(run->items.most_under_way, 1, 4);
    free(run);
    run = run_items(0, 4, false, all);
    assert_true(run->good);
    assert_int_equal(run->begun, 0);
    free(run);
}

/* Each item says that 10 instructions are done, of which item 2 is under way; of those that are
 * known beforehand there are 0 + 1 + 2, and no more are done. */
static void progress_is_that_of_all_items(void **state) {
    (void)state;
    struct items all = {.fails = NONE, .ends = NONE, .waits = NONE, .awaited = 30};
    struct run *run = run_items(3, 1, false, all);
    assert_int_equal(run->items.done, 30);
    assert_int_equal(run->items.total, 30);
    free(run);
    all.awaited = 3;
    run = run_items(3, 1, true, all);
    assert_int_equal(run->items.done, 3);
    assert_int_equal(run->items.total, 3);
    free(run);
}

/* With two threads item 1 may have been begun: it waits until it is interrupted, as item 0 failed.
 */
static void an_error_ends_it(void **state) {
    (void)state;
    static const struct items failing = {.fails = 0, .ends = NONE, .waits = NONE};
    struct run *run = run_items(ITEMS, 1, false, failing);
    assert_false(run->good);
    assert_string_equal(run->error.message, "item 0");
    assert_int_equal(run->begun, 1);
    free(run);
    static const struct items waiting = {.fails = 0, .ends = NONE, .waits = 1};
    run = run_items(ITEMS, 2, false, waiting);
    assert_false(run->good);
    assert_string_equal(run->error.message, "item 0");
    assert_in_range(run->begun, 1, 2);
    assert_int_equal(run->items.signals, SIGTERM * (int)(run->begun - 1));
    free(run);
}

/* Item 0 interrupts; it and those that were begun beside it wait until they are told. */
static void an_interrupt_is_handed_on(void **state) {
    (void)state;
    static const struct items ending = {.fails = NONE, .ends = 0, .waits = 0};
    struct run *run = run_items(ITEMS, 3, false, ending);
    assert_true(run->good);
    assert_in_range(run->begun, 1, 3);
    assert_int_equal(run->items.signals, SIGINT * (int)run->begun);
    assert_int_equal(watch_take(&run->watch), SIGINT);
    free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_item_is_done_once),
        cmocka_unit_test(progress_is_that_of_all_items),
        cmocka_unit_test(an_error_ends_it),
        cmocka_unit_test(an_interrupt_is_handed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
