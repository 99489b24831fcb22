/* The line is built of pieces in order of worth: label, count, percent and time left first; the
 * rate and the bar only where there is room. The time left assumes that the mean rate so far goes
 * on. On a terminal the line is redrawn in place with a carriage return and "erase to end of line".
 */
#include "util/progress.h"

#include <unistd.h>

#include "util/clock.h"
#include "util/text.h"

#define FIRST_DRAWING 0.5  /* seconds: quicker work shows nothing */
#define DRAW_INTERVAL 0.1  /* on a terminal */
#define LINE_INTERVAL 60.0 /* in a log */
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

void progress_set_total(struct progress *progress, uint64_t total) {
    progress->total = total;
}

/* "simulating  1.20 G of 8.19 G instructions  14.6 %  12.1 M/s  9 min 41 s left" */
static void without_bar(const struct progress *progress, double seconds, bool with_rate,
                        char *buffer, size_t size) {
    double rate = seconds > 0 ? (double)progress->done / seconds : 0;
    char goal[48] = "", percent[40] = "", speed[48] = "", left[48] = "";
    if (progress->total) {
        uint64_t done = progress->done < progress->total ? progress->done : progress->total;
        snprintf(goal, sizeof goal, " of %s", text_count(progress->total).s);
        snprintf(percent, sizeof percent, "  %s %%",
                 text_percent((double)done, (double)progress->total).s);
        if (rate > 0)
            snprintf(left, sizeof left, "  %s left",
                     text_duration((double)(progress->total - done) / rate).s);
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
    size_t length = 0;
    while (buffer[length])
        length++;
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
    if (progress->total && used + 4 + LEAST_BAR <= columns)
        append_bar(progress, columns - used - 4, line, sizeof line);
    used = text_columns(line);
    text_fit(buffer, size, line, used < columns ? used : columns, TEXT_LEFT);
}

static void draw(struct progress *progress, double seconds) {
    char line[1024];
    /* The last column stays free: writing into it makes some terminals wrap. */
    progress_line(progress, seconds, text_terminal_columns(progress->stream) - 1, line,
                  sizeof line);
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
    draw(progress, time - progress->started);
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
