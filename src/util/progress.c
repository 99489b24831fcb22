/* The line is built of pieces in order of worth: label, count, percent and time left first; the
 * rate and the bar only where there is room. The time left assumes that the mean rate so far goes
 * on. On a terminal the line is redrawn in place with a carriage return and "erase to end of line".
 */
#include "util/progress.h"

#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/text.h"

#define FIRST_DRAWING 0.5  /* seconds: quicker work shows nothing */
#define DRAW_INTERVAL 0.1  /* on a terminal */
#define LINE_INTERVAL 60.0 /* in a log */
#define FIRST_WAIT    2.0  /* in a log: after which waiting is worth a line */
#define ERASE_LINE    "\r\033[K"

enum { LEAST_BAR = 10, MOST_BAR = 30 };

void progress_start(struct progress *progress, FILE *stream, const char *label, const char *unit,
                    uint64_t total) {
    bool terminal = stream && isatty(fileno(stream));
    double started = clock_monotonic();
    *progress = (struct progress){
        .stream = stream,
        .terminal = terminal,
        .label = label,
        .unit = unit,
        .total = total,
        .started = started,
        .next = started + (terminal ? FIRST_DRAWING : LINE_INTERVAL),
    };
}

void progress_start_within(struct progress *progress, FILE *stream, const char *label,
                           const char *unit, uint64_t most) {
    progress_start(progress, stream, label, unit, most);
    progress->at_most = true;
}

void progress_set_total(struct progress *progress, uint64_t total) {
    progress->total = total;
}

/* More than was announced: an estimate was short, and says nothing of how much is left. */
static bool has_goal(const struct progress *progress) {
    return progress->total && progress->done <= progress->total;
}

/* "simulating  1.20 G of 8.19 G instructions  14.6 %  12.1 M/s  9 min 41 s left", or
 * "capturing  1.20 G of at most 8.19 G instructions  12.1 M/s  at most 9 min 41 s left" */
static void without_bar(const struct progress *progress, double seconds, bool with_rate,
                        char *buffer, size_t size) {
    double rate = seconds > 0 ? (double)progress->done / seconds : 0;
    char goal[64] = "", percent[40] = "", speed[48] = "", left[64] = "";
    if (has_goal(progress)) {
        const uint64_t done = progress->done, total = progress->total;
        const char *bound = progress->at_most ? "at most " : "";
        snprintf(goal, sizeof goal, " of %s%s", bound, text_count(total).s);
        if (!progress->at_most)
            snprintf(percent, sizeof percent, "  %s %%",
                     text_percent((double)done, (double)total).s);
        if (rate > 0)
            snprintf(left, sizeof left, "  %s%s left", bound,
                     text_duration((double)(total - done) / rate).s);
    }
    if (with_rate && rate > 0)
        snprintf(speed, sizeof speed, "  %s/s", text_quantity(rate).s);
    snprintf(buffer, size, "%s  %s%s %s%s%s%s", progress->label, text_count(progress->done).s, goal,
             progress->unit, percent, speed, left);
}

static void append_bar(const struct progress *progress, unsigned room, char *buffer, size_t size) {
    unsigned width = room > MOST_BAR ? MOST_BAR : room;
    double part = (double)progress->done / (double)progress->total;
    unsigned full = part >= 1 ? width : (unsigned)(part * width);
    size_t length = strlen(buffer);
    if (length + width + 5 > size)
        return;
    length += (size_t)snprintf(buffer + length, size - length, "  [");
    for (unsigned i = 0; i < width; i++)
        buffer[length++] = i < full ? '#' : '.';
    snprintf(buffer + length, size - length, "]");
}

void progress_line(const struct progress *progress, double seconds, unsigned columns, char *buffer,
                   size_t size) {
    char line[512];
    without_bar(progress, seconds, true, line, sizeof line);
    if (text_columns(line) > columns)
        without_bar(progress, seconds, false, line, sizeof line);
    unsigned used = text_columns(line);
    if (has_goal(progress) && !progress->at_most && used + 4 + LEAST_BAR <= columns)
        append_bar(progress, columns - used - 4, line, sizeof line);
    used = text_columns(line);
    text_fit(buffer, size, line, used < columns ? used : columns, TEXT_LEFT);
}

/* The last column stays free: writing into it makes some terminals wrap. */
static unsigned room(const struct progress *progress) {
    return text_terminal_columns(progress->stream, NULL) - 1;
}

static void draw(struct progress *progress, const char *line) {
    if (progress->terminal)
        fprintf(progress->stream, ERASE_LINE "%s", line);
    else
        fprintf(progress->stream, "%s\n", line);
    fflush(progress->stream);
    progress->drawn = progress->terminal;
}

void progress_update(struct progress *progress, uint64_t done) {
    progress->done = done;
    if (!progress->stream)
        return;
    double time = clock_monotonic();
    if (time < progress->next)
        return;
    progress->next = time + (progress->terminal ? DRAW_INTERVAL : LINE_INTERVAL);
    char line[1024];
    progress_line(progress, time - progress->started, room(progress), line, sizeof line);
    draw(progress, line);
}

void progress_wait(struct progress *progress, const char *what) {
    if (!progress->stream)
        return;
    double time = clock_monotonic();
    if (!progress->waiting) {
        progress->waiting = time;
        if (!progress->terminal)
            progress->next = time + FIRST_WAIT;
    }
    if (time < progress->next)
        return;
    progress->next = time + (progress->terminal ? DRAW_INTERVAL : LINE_INTERVAL);
    char text[512], line[1024];
    snprintf(text, sizeof text, "%s  %s", what, text_duration(time - progress->waiting).s);
    unsigned used = text_columns(text), columns = progress->terminal ? room(progress) : used;
    text_fit(line, sizeof line, text, used < columns ? used : columns, TEXT_LEFT);
    draw(progress, line);
}

void progress_clear(struct progress *progress) {
    if (!progress->drawn)
        return;
    fputs(ERASE_LINE, progress->stream);
    fflush(progress->stream);
    progress->drawn = false;
}

void progress_finish(struct progress *progress) {
    progress_clear(progress);
    progress->stream = NULL;
}
