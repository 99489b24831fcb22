/* The head of a report on profiles: the epochs, and an event of them. */
#include <time.h>

#include "report/profile_report.h"

static void format_time(int64_t ns, const char *format, char *text, size_t size) {
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm broken;
    if (!gmtime_r(&seconds, &broken) || !strftime(text, size, format, &broken))
        snprintf(text, size, "?");
}

static void print_when(const struct profile_set *set, FILE *file) {
    const struct store_session *first = &set->epochs[0];
    char begin[32], stop[32];
    int64_t end = 0;
    bool goes_on = false;
    for (size_t i = 0; i < set->epoch_count; i++) {
        const struct store_session *epoch = &set->epochs[i];
        int64_t reached = epoch->end ? epoch->end : epoch->saved;
        end = reached > end ? reached : end;
        goes_on |= !epoch->end;
    }
    format_time(first->start, "%Y-%m-%d %H:%M:%S", begin, sizeof begin);
    format_time(end, "%Y-%m-%d %H:%M:%S", stop, sizeof stop);
    if (set->simulated)
        fprintf(file, "simulated %s UTC", begin);
    else if (set->seconds <= 0 && !goes_on)
        fprintf(file, "%s UTC", begin);
    else
        fprintf(file, "%s to %s UTC, %s%s", begin, stop, text_duration(set->seconds).s,
                goes_on ? ", not ended" : "");
}

void profile_set_text(const struct profile_set *set, FILE *file) {
    const struct page page = page_of(file, false);
    char head[1024];
    const char *host = profile_set_shared(set, offsetof(struct store_session, host));
    const char *kernel = profile_set_shared(set, offsetof(struct store_session, kernel));
    const char *processor = profile_set_shared(set, offsetof(struct store_session, processor));
    snprintf(head, sizeof head, "%s: %s", set->label,
             set->command ? set->command : "several commands");
    page_clip(&page, head, page.columns);
    fputc('\n', file);
    snprintf(head, sizeof head, "%s%s%s%s%s",
             host && *host ? host
             : host        ? ""
                           : "several machines",
             kernel && *kernel ? ", Linux " : "", kernel ? kernel : "",
             processor && *processor ? (host && !*host ? "machine " : ", ") : "",
             processor ? processor : "");
    if (head[0]) {
        page_clip(&page, head, page.columns);
        fputc('\n', file);
    }
    print_when(set, file);
    fputc('\n', file);
}

static void print_period(const struct profile_event *event, FILE *file) {
    char unit[128];
    const char *mean = event->mean ? ", in the mean" : "";
    if (event->periods_differ && !event->mean)
        fputs(", taken at different distances", file);
    else if (event->period && !strcmp(event->period_unit, "ns"))
        fprintf(file, ", one every %s of a processor's time%s",
                text_duration((double)event->period / 1e9).s, mean);
    else if (event->period)
        fprintf(file, ", one every %s %s%s", text_grouped(event->period).s,
                text_clip(unit, sizeof unit, event->period_unit, 20), mean);
}

void profile_event_text(const struct profile_event *event, double total, FILE *file) {
    char name[128];
    fprintf(file, "%s: %s", text_clip(name, sizeof name, event->name, 20),
            text_grouped((uint64_t)(total + 0.5)).s);
    if (strcmp(event->name, event->unit) != 0)
        fprintf(file, " %s", text_clip(name, sizeof name, event->unit, 15));
    print_period(event, file);
    fputc('\n', file);
}
