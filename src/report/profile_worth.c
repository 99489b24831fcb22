/* What the figures of profiles rest on, in notes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/estimated.h"
#include "report/missing_names.h"
#include "report/profile_report.h"
#include "util/array.h"
#include "util/text.h"

static bool is_counted(const struct profile_event *event) {
    return !strcmp(event->unit, "samples");
}

/* Each wait is timed; what it was for ends before it does. */
static bool note_waits(const struct profile_event *event, struct report *report) {
    if (!strcmp(event->name, "off-cpu"))
        return report_note(report,
                           "off-cpu: every wait is timed, from when a thread leaves its processor "
                           "of its own accord until it runs again, so with the time that it then "
                           "waits for a processor; several threads wait at once; where those "
                           "waited that waited already when it began is not known");
    if (!strcmp(event->name, "run-queue"))
        return report_note(report, "run-queue: threads that could have run and had to leave their "
                                   "processor to others; every wait is timed");
    return true;
}

/* Of two sets it may be the same. */
static bool note_once(struct report *report, const char *text) {
    return any_where(i, report->note_count, !strcmp(report->notes[i], text)) ||
           report_note(report, "%s", text);
}

static bool note_unlike(const struct unlike_event *unlike, struct report *report) {
    char hosts[512], text[1024];
    size_t used = 0;
    *hosts = 0;
    for (size_t i = 0; i < UNLIKE_NAMED && unlike->named[i] && used < sizeof hosts; i++)
        used += (size_t)snprintf(hosts + used, sizeof hosts - used, "%s%s", i ? ", " : "",
                                 unlike->named[i]);
    snprintf(text, sizeof text,
             "%s: what %zu host%s (%s%s) count%s in %s is left out, as most hosts count it in %s; "
             "--host chooses",
             unlike->name, unlike->hosts, text_plural(unlike->hosts), hosts,
             unlike->hosts > UNLIKE_NAMED ? ", …" : "", unlike->hosts == 1 ? "s" : "", unlike->unit,
             unlike->kept_unit);
    return note_once(report, text);
}

bool profile_set_note_damage(const struct profile_set *set, struct report *report) {
    enum { NAMED = 3 };
    const struct store_damage *damage;
    char text[1024];
    size_t at = 0, count = 0;
    bool good = all_where(i, set->left_out_count, note_unlike(&set->unlike[i], report));
    while (good && (damage = profile_set_damage(set, &at))) {
        if (damage->epoch)
            snprintf(text, sizeof text,
                     "epoch %" PRId64 " of %s: what cannot be read of it is left out (%s); the "
                     "owner of the tables removes it: culprit epochs remove %" PRId64,
                     damage->epoch, damage->whose, damage->why, damage->epoch);
        else
            snprintf(text, sizeof text, "%s: what cannot be read of it is left out (%s)",
                     damage->whose, damage->why);
        good = count++ >= NAMED || note_once(report, text);
    }
    snprintf(text, sizeof text, "likewise something of %zu more epochs or images", count - NAMED);
    return good && (count <= NAMED || note_once(report, text));
}

bool profile_set_worth(const struct profile_set *set, const struct profile_event *event,
                       double largest, double smallest, struct report *report) {
    bool good = profile_set_note_damage(set, report);
    double first = 100 / sqrt(largest), last = 100 / sqrt(smallest > 0 ? smallest : largest);
    if (set->simulated && !is_counted(event))
        good &= estimated_note(set, event, report);
    if (set->weighted)
        good &= report_note(report, "regions that stand for a run: each counts with its weight");
    const bool each = event->period == 1 && !strcmp(event->period_unit, "events");
    if (is_counted(event) && largest > 0 && !each)
        good &= report_note(report,
                            "sampling error (1/√n of a row with n samples%s): ± %.*f %% of its "
                            "figure in the first row, ± %.*f %% in the last shown",
                            event->mean ? ", more where these count differently" : "", first < 10,
                            first, last < 10, last);
    if (!strcmp(event->name, "cpu-clock"))
        good &= report_note(report,
                            "cpu-clock is a timer's interrupt: it comes some instructions late, "
                            "and code that holds interrupts off is charged to where they are "
                            "allowed again");
    else if (is_counted(event) && !event->precise)
        good &= report_note(report,
                            "%s is not precise here: a sample may be charged to an "
                            "instruction some way behind the one that caused it",
                            event->name);
    good &= note_waits(event, report);
    if (event->mean)
        good &=
            report_note(report, "samples were taken at different distances: each counts by its "
                                "own, so that shares are of the time (or events) they stand for");
    else if (event->periods_differ)
        good &= report_note(report, "the epochs were sampled at different distances, and their "
                                    "samples are added as they are");
    return good;
}

/* Files are told of by missing_names.h; what is no file, by its own note. */
bool profile_note_images(const struct profile_table *table, enum profile_by by, size_t most,
                         const char *what, struct program *program, struct report *report) {
    const bool by_place = by == PROFILE_BY_PROCEDURE || by == PROFILE_BY_LINE;
    const size_t images = by_place ? profile_table_image_count(table) : 0;
    struct missing_names *items = calloc(images + 1, sizeof *items);
    size_t count = 0;
    bool good = items;
    for (size_t i = 0; good && i < images; i++) {
        const struct profile_image image = profile_table_image(table, i);
        if (image.file != UINT32_MAX) {
            items[count++] = (struct missing_names){image.file, image.nameless};
        } else if (image.note && image.nameless > 0 && most) {
            good = report_note(report, "%s: %s", image.path, image.note);
            most--;
        }
    }
    good = good && missing_names_note(report, program, items, count, what);
    free(items);
    return good;
}

void profile_set_arguments(const struct profile_set *set, bool store, FILE *file) {
    if (store)
        text_put_option(file, "store", store_path(set->store));
    if (set->choice.build) {
        text_put_option(file, "build", set->choice.build);
        return;
    }
    if (set->sums) /* of no list */
        return;
    fputs(" --epoch ", file);
    for (size_t i = 0, end; i < set->epoch_count; i = end) {
        for (end = i + 1;
             end < set->epoch_count && set->sessions[end] == set->sessions[end - 1] + 1;)
            end++;
        fprintf(file, "%s%" PRId64, i ? "," : "", set->sessions[i]);
        if (end > i + 1)
            fprintf(file, "..%" PRId64, set->sessions[end - 1]);
    }
}
