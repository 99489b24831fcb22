#include "report/thread_what_if.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/core.h"
#include "report/table.h"
#include "util/text.h"

enum { TEXT = 600, CORES_SHOWN = 5 };
#define LEAST_SHOWN 0.01

static const struct {
    const char *key, *name, *description;
} KINDS[] = {
    [WHAT_IF_LOCK] = {"lock", "lock", NULL},
    [WHAT_IF_LOCKS] = {"locks", "locks", "nobody waits for a lock"},
    [WHAT_IF_NO_LOCK] = {"no_lock", "nolock", "locks and unlocks take no time, and nobody waits"},
    [WHAT_IF_PADDING] = {"padding", "padding", NULL},
    [WHAT_IF_COPIES] = {"copies", "copies", NULL},
    [WHAT_IF_BARRIER] = {"barrier", "barrier", "work up to barriers shared out evenly"},
    [WHAT_IF_EVENT] = {"event", "waits", "work that threads wait for shared out evenly"},
    [WHAT_IF_SERIAL] = {"serial", "serial", "parts with fewer threads spread over all cores"},
    [WHAT_IF_BANDWIDTH] = {"memory_bandwidth", "dram", "memory's bandwidth unlimited"},
    [WHAT_IF_THREADS] = {"threads", "threads",
                         "what was simulated of causes among threads, at once"}};

static void name_of(const struct thread_what_if *what, char *text, size_t size) {
    snprintf(text, size, "%s",
             what->kind == WHAT_IF_IDEAL ? ideal_name(what->ideal) : KINDS[what->kind].name);
}

static const struct thread_place *waiter_of(const struct threads_report *threads,
                                            const struct thread_what_if *what) {
    for (size_t i = 0; i < threads->wait_count; i++)
        if (threads->waits[i].sum.waiter == what->waiter)
            return &threads->waits[i].waiter;
    return NULL;
}

static void description_of(const struct threads_report *threads, const struct thread_what_if *what,
                           char *text, size_t size) {
    const struct thread_place *place = waiter_of(threads, what);
    char where[TEXT / 2] = "a place that is not known";
    switch ((enum thread_what_if_kind)what->kind) {
    case WHAT_IF_LOCK:
        if (place)
            thread_place_text(place, where, sizeof where);
        snprintf(text, size, "nobody waits for the lock%s taken at %s", text_plural(what->count),
                 where);
        break;
    case WHAT_IF_PADDING:
        snprintf(text, size, "%zu line%s of false sharing laid out by thread", what->count,
                 text_plural(what->count));
        break;
    case WHAT_IF_COPIES:
        snprintf(text, size, "%zu line%s of true sharing: each thread has a copy", what->count,
                 text_plural(what->count));
        break;
    case WHAT_IF_IDEAL:
        snprintf(text, size, "%s", ideal_description(what->ideal));
        break;
    default:
        snprintf(text, size, "%s", KINDS[what->kind].description);
    }
}

static bool is_shown(const struct thread_what_ifs *what_ifs, size_t number) {
    return what_ifs->items[number].saved >= LEAST_SHOWN;
}

static void print_rows(const struct threads_report *threads, const struct page *page) {
    static const struct table_column COLUMNS[] = {{" cause", TABLE_WORD, .gap = 0},
                                                  {"gone", TABLE_TEXT, .gap = 1, .least = 24},
                                                  {"saves", TABLE_FIGURE, .gap = 1},
                                                  {"", TABLE_WORD, .gap = 1}};
    const struct thread_what_ifs *what_ifs = threads->what_ifs;
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    unsigned cores = 0;
    for (size_t i = 0; i < what_ifs->count; i++) {
        const struct thread_what_if *what = &what_ifs->items[i];
        char text[TEXT], name[32] = " ";
        if (!is_shown(what_ifs, i) || (what->kind == WHAT_IF_IDEAL && ++cores > CORES_SHOWN))
            continue;
        name_of(what, name + 1, sizeof name - 1);
        table_cell(table, name);
        description_of(threads, what, text, sizeof text);
        table_cell(table, text);
        table_figure(table, "%s %%", text_percent(what->saved, 1).s);
        if (what->interval > 0)
            snprintf(text, sizeof text, "± %s", text_percent(what->interval, 1).s);
        table_cell(table, what->reckoned ? "reckoned" : what->interval > 0 ? text : "");
    }
    table_end(table);
}

void thread_what_ifs_text(const struct threads_report *threads, const struct page *page) {
    const struct thread_what_ifs *what_ifs = threads->what_ifs;
    char text[160];
    size_t shown = 0;
    if (!what_ifs)
        return;
    for (size_t i = 0; i < what_ifs->count; i++)
        shown += is_shown(what_ifs, i);
    if (shown || what_ifs->left_out || what_ifs->interrupted)
        page_heading(page, "what if",
                     "a cause were gone entirely (% of the elapsed time; simulated again, or "
                     "reckoned from what threads did when)");
    if (shown)
        print_rows(threads, page);
    if (what_ifs->left_out) {
        snprintf(text, sizeof text,
                 "%zu more cause%s not simulated: the run is long, and each takes as long again",
                 what_ifs->left_out, what_ifs->left_out == 1 ? " was" : "s were");
        page_wrap(page, text, NULL, " ", " ");
    }
    if (what_ifs->interrupted)
        page_wrap(page, "interrupted: some causes were not simulated", NULL, " ", " ");
}

/* ---- JSON ---- */

static json_t *what_if(const struct threads_report *threads, const struct thread_what_if *what) {
    const struct thread_place *place = waiter_of(threads, what);
    const bool core = what->kind == WHAT_IF_IDEAL;
    json_t *object = json_pack("{s:s, s:f, s:b}", "cause",
                               core ? ideal_name(what->ideal) : KINDS[what->kind].key, "saving",
                               what->saved, "reckoned", what->reckoned);
    if (what->kind == WHAT_IF_LOCK)
        json_object_set_new(object, "taken_at", place ? thread_place_json(place) : json_null());
    if (what->interval > 0)
        json_object_set_new(object, "half_interval_95", json_real(what->interval));
    if (what->count)
        json_object_set_new(object, "count", json_integer((json_int_t)what->count));
    return object;
}

json_t *thread_what_ifs_json(const struct threads_report *threads) {
    const struct thread_what_ifs *what_ifs = threads->what_ifs;
    if (!what_ifs)
        return json_null();
    json_t *array = json_array();
    for (size_t i = 0; i < what_ifs->count; i++)
        json_array_append_new(array, what_if(threads, &what_ifs->items[i]));
    return json_pack("{s:o, s:I, s:b}", "causes", array, "left_out", (json_int_t)what_ifs->left_out,
                     "interrupted", what_ifs->interrupted);
}
