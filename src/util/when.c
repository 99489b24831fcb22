#include "util/when.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/duration.h"

static const int64_t SECOND = 1000000000;

/* Of the whole text. */
static bool matches(const char *text, const char *format, struct tm *broken) {
    const char *end = strptime(text, format, broken);
    return end && !*end;
}

/* Takes a mark of UTC off the end. */
static bool take_utc(char *text) {
    static const char *const MARKS[] = {" UTC", "UTC", "Z"};
    const size_t length = strlen(text);
    for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++) {
        const size_t size = strlen(MARKS[i]);
        if (length > size && !strcmp(text + length - size, MARKS[i])) {
            text[length - size] = 0;
            return true;
        }
    }
    return false;
}

static bool read_ago(const char *text, int64_t now, int64_t *moment) {
    static const char AGO[] = " ago";
    char copy[64];
    double seconds;
    size_t length = strlen(text);
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length + 1);
    if (copy[0] == '-')
        memmove(copy, copy + 1, length--);
    else if (length > sizeof AGO && !strcmp(copy + length - sizeof AGO + 1, AGO))
        copy[length - sizeof AGO + 1] = 0;
    if (!strpbrk(copy, "smhdw") || !duration_read(copy, &seconds) || seconds > 1e10)
        return false;
    *moment = now - (int64_t)(seconds * 1e9);
    return true;
}

static bool read_date(const char *text, int64_t now, int64_t *moment) {
    static const char *const DATES[] = {
        "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
        "%Y-%m-%d",          "%H:%M:%S",          "%H:%M"};
    char copy[64];
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    const bool utc = take_utc(copy);
    const time_t seconds = (time_t)(now / SECOND);
    struct tm today;
    if (!(utc ? gmtime_r(&seconds, &today) : localtime_r(&seconds, &today)))
        return false;
    for (size_t i = 0; i < sizeof DATES / sizeof *DATES; i++) {
        struct tm broken = today;
        broken.tm_hour = broken.tm_min = broken.tm_sec = 0;
        broken.tm_isdst = -1;
        if (!matches(copy, DATES[i], &broken))
            continue;
        const time_t found = utc ? timegm(&broken) : mktime(&broken);
        *moment = (int64_t)found * SECOND;
        return found > 0 && found < INT64_MAX / SECOND;
    }
    return false;
}

static bool read_seconds(const char *text, int64_t *moment) {
    char *end;
    const double seconds = strtod(text + 1, &end);
    *moment = (int64_t)(seconds * 1e9);
    return end != text + 1 && !*end && seconds > 0 && seconds < 9e9;
}

bool when_read(const char *text, int64_t now, int64_t *moment) {
    if (!strcmp(text, "now")) {
        *moment = now;
        return true;
    }
    if (text[0] == '@')
        return read_seconds(text, moment);
    return read_ago(text, now, moment) || read_date(text, now, moment);
}
