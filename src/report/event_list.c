#include "report/event_list.h"

#include "live/event.h"
#include "live/event_name.h"
#include "report/table.h"

static void put_rows(struct table *table) {
    struct event_row row;
    char name[2 * LIVE_EVENT_NAME_BYTES + 8];
    for (size_t i = 0; event_name_row(i, &row); i++) {
        snprintf(name, sizeof name, "%s%s%s", row.event.name, row.other_name ? " or " : "",
                 row.other_name ? row.other_name : "");
        row.event.kernel = row.event.in_kernel;
        table_cell(table, name);
        table_cell(table, live_event_here(&row.event) ? "yes" : "no");
        table_cell(table, row.meaning);
    }
}

void event_list_text(const struct page *page) {
    static const struct live_roots HERE = {.proc = "/proc", .sys = "/sys", .files = ""};
    const size_t tracepoints = event_name_tracepoints(&HERE);
    struct table *table = table_new(page);
    table_column(table, "event", TABLE_WORD, .gap = 0);
    table_column(table, "here", TABLE_WORD, .gap = 2);
    table_column(table, "what it is", TABLE_TEXT, .gap = 2, .least = 16);
    if (table)
        put_rows(table);
    table_end(table);
    fputc('\n', page->file);
    if (tracepoints)
        page_print(page, "SUBSYSTEM:NAME: one of %zu tracepoints, such as sched:sched_switch",
                   tracepoints);
    else
        page_print(page, "SUBSYSTEM:NAME: a tracepoint, such as sched:sched_switch; to read which "
                         "there are takes root, and tracefs (mount -t tracefs nodev "
                         "/sys/kernel/tracing)");
    page_print(page, "rNNN, raw:0xNNN, cpu/event=0xNN,umask=0xNN/: an event of the processor as "
                     "its manual, or perf list, numbers it");
    page_print(page, "EVENT/period=N/: one of N is sampled");
}
