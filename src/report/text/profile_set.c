/* The head of a report on profiles: the epochs, and an event of them. */
#include <inttypes.h>
#include <stdarg.h>
#include <time.h>

#include "report/estimated.h"
#include "report/profile_report.h"
#include "store/day_sums.h"

static void format_time(int64_t ns, const char *format, char *text, size_t size) {
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm broken;
    if (!gmtime_r(&seconds, &broken) || !strftime(text, size, format, &broken))
        snprintf(text, size, "?");
}

static void print_when(const struct profile_set *set, FILE *file) {
    const struct sample_choice *choice = &set->choice;
    char begin[32], stop[32];
    int64_t start = set->epochs[0].start, end = 0;
    bool goes_on = false;
    for (size_t i = 0; i < set->epoch_count; i++) {
        const struct store_session *epoch = &set->epochs[i];
        int64_t reached = epoch->end ? epoch->end : epoch->saved;
        end = reached > end ? reached : end;
        goes_on |= !epoch->end;
    }
    if (choice->since > start)
        start = choice->since;
    if (choice->until && choice->until < end) {
        end = choice->until;
        goes_on = false;
    }
    format_time(start, "%Y-%m-%d %H:%M:%S", begin, sizeof begin);
    format_time(end, "%Y-%m-%d %H:%M:%S", stop, sizeof stop);
    if (set->simulated)
        fprintf(file, "simulated %s UTC", begin);
    else if (set->seconds <= 0 && !goes_on)
        fprintf(file, "%s UTC", begin);
    else
        fprintf(file, "%s to %s UTC, %s%s", begin, stop, text_duration(set->seconds).s,
                goes_on ? ", not ended" : "");
}

__attribute__((format(printf, 3, 4))) static void print_part(FILE *file, bool *first,
                                                             const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs(*first ? "only " : ", ", file);
    vfprintf(file, format, arguments);
    va_end(arguments);
    *first = false;
}

void sample_choice_text(const struct sample_choice *choice, FILE *file) {
    const struct sample_choice no_build = {.pid = choice->pid,
                                           .thread = choice->thread,
                                           .processor = choice->processor,
                                           .cgroup = choice->cgroup,
                                           .since = choice->since,
                                           .until = choice->until};
    if (!sample_choice_any(&no_build)) /* of a build the set's label tells */
        return;
    char name[256], when[32];
    bool first = true;
    const bool days = choice->since / DAY_NS != choice->until / DAY_NS && choice->until;
    const char *format = days ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S";
    if (choice->pid)
        print_part(file, &first, "process %" PRIu32, choice->pid);
    if (choice->thread)
        print_part(file, &first, "thread %" PRIu32, choice->thread);
    if (choice->processor)
        print_part(file, &first, "cpu %" PRIu32, choice->processor - 1);
    if (choice->cgroup)
        print_part(file, &first, "%s", text_clip(name, sizeof name, choice->cgroup, 40));
    if (choice->since) {
        format_time(choice->since, format, when, sizeof when);
        print_part(file, &first, "since %s UTC", when);
    }
    if (choice->until) {
        format_time(choice->until, format, when, sizeof when);
        print_part(file, &first, "until %s UTC", when);
    }
    fputc('\n', file);
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
             host && *host        ? host
             : host && !set->sums ? ""
                                  : "several machines",
             kernel && *kernel ? ", Linux " : "", kernel ? kernel : "",
             processor && *processor ? (host && !*host && !set->sums ? "machine " : ", ") : "",
             processor ? processor : "");
    if (head[0]) {
        page_clip(&page, head, page.columns);
        fputc('\n', file);
    }
    print_when(set, file);
    fputc('\n', file);
    sample_choice_text(&set->choice, file);
}

static void print_period(const struct profile_event *event, FILE *file) {
    char unit[128];
    const char *mean = event->mean ? ", in the mean" : "";
    if (event->periods_differ && !event->mean)
        fputs(", taken at different distances", file);
    else if (event->period && !strcmp(event->period_unit, "ns"))
        fprintf(file, ", one every %s of a processor's time%s",
                text_duration((double)event->period / 1e9).s, mean);
    else if (event->period == 1)
        fputs(", each one", file);
    else if (event->period)
        fprintf(file, ", one every %s %s%s", text_grouped(event->period).s,
                text_clip(unit, sizeof unit, event->period_unit, 20), mean);
}

static void print_event(const struct profile_event *event, double total, FILE *file) {
    char name[128];
    fprintf(file, "%s: %s", text_clip(name, sizeof name, event->name, 64),
            text_grouped((uint64_t)(total + 0.5)).s);
    if (strcmp(event->name, event->unit) != 0)
        fprintf(file, " %s", text_clip(name, sizeof name, event->unit, 15));
    print_period(event, file);
    estimated_text(event, file);
}

void profile_event_text(const struct profile_event *event, double total, const char *margin,
                        const struct page *page) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return;
    print_event(event, total, file);
    char *text = text_printer_end(&printer), next[32];
    snprintf(next, sizeof next, "%s  ", margin);
    if (text)
        page_wrap(page, text, NULL, margin, next);
    free(text);
}
