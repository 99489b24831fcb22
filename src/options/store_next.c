#include "options/store_next.h"

#include "report/profile_next.h"
#include "util/text.h"

char *store_next_of_rows(const struct profile_report *report, const struct store_options *store,
                         const struct sample_options *samples) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    profile_next_verb(report, file);
    store_options_put(store, report->by != PROFILE_BY_EPOCH, file);
    if (report->by < PROFILE_BY_PROCESS)
        sample_options_put(samples, file);
    profile_next_rows(report, file);
    return text_printer_end(&printer);
}

/* NULL: out of memory. */
static FILE *begin_top(struct text_printer *printer, const struct store_options *store) {
    FILE *file = text_printer_begin(printer);
    if (file) {
        fputs("culprit top", file);
        store_options_put(store, true, file);
    }
    return file;
}

char *store_next_of_calls(const struct call_report *report, bool tree,
                          const struct store_options *store, const struct sample_options *samples) {
    struct text_printer printer;
    FILE *file = begin_top(&printer, store);
    if (!file)
        return NULL;
    sample_options_put(samples, file);
    if (report->event != report->set->events)
        text_put_option(file, "event", report->event->name);
    fputs(tree ? " --callers" : " --tree", file);
    return text_printer_end(&printer);
}

/* What one host alone has. */
static char *of_host(const char *host, const struct store_options *store) {
    struct text_printer printer;
    FILE *file = begin_top(&printer, store);
    if (!file)
        return NULL;
    text_put_option(file, "host", host);
    return text_printer_end(&printer);
}

char *store_next_of_outliers(const struct fleet_report *report, const struct store_options *store) {
    const struct outliers *outliers = &report->outliers;
    return outliers->count ? of_host(outliers->items[0].host->name, store) : NULL;
}

char *store_next_of_spread(const struct fleet_report *report, const struct store_options *store) {
    const struct spread_row *first = report->spread.count ? report->spread.rows : NULL;
    return first && first->most ? of_host(first->most->name, store) : NULL;
}
