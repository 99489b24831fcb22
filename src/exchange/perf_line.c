/* Names may hold spaces, so lines are taken apart at what cannot be mistaken: the time ("12.345:"),
 * else the event ("cycles:"), and the numbers to the left of it. */
#include "exchange/perf_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char *skip_spaces(char *text) {
    return text + strspn(text, " \t");
}

/* Bytes up to the next space or the end. */
static size_t word(const char *text) {
    return strcspn(text, " \t");
}

static bool all_digits(const char *text, size_t length) {
    return length && strspn(text, "0123456789") >= length;
}

static void trim_end(char *text) {
    size_t length = strlen(text);
    while (length && strchr(" \t\r", text[length - 1]))
        text[--length] = 0;
}

/* ---- the head ---- */

static bool is_time(const char *text, size_t length) {
    size_t whole = strspn(text, "0123456789");
    if (!whole || text[whole] != '.')
        return false;
    size_t part = strspn(text + whole + 1, "0123456789");
    return part && whole + part + 2 == length && text[length - 1] == ':';
}

static uint64_t read_time(const char *text) {
    char *end;
    uint64_t ns = strtoull(text, &end, 10), scale = 1000000000;
    if (__builtin_mul_overflow(ns, scale, &ns))
        return 0;
    for (end++; isdigit((unsigned char)*end) && scale > 1; end++) {
        scale /= 10;
        ns += (uint64_t)(*end - '0') * scale;
    }
    return ns;
}

/* The first word that is a time, else the first but the very first one that ends in a colon. NULL:
 * no such. */
static char *find_anchor(char *line, bool *timed) {
    char *event = NULL, *first = skip_spaces(line);
    for (char *at = first; *at; at = skip_spaces(at + word(at))) {
        size_t length = word(at);
        *timed = is_time(at, length);
        if (*timed)
            return at;
        if (!event && at != first && length > 1 && at[length - 1] == ':')
            event = at;
    }
    return event;
}

/* Where the last word of text[0 .. length) begins; `length` then ends with it. */
static size_t last_word(const char *text, size_t *length) {
    while (*length && strchr(" \t\r", text[*length - 1]))
        --*length;
    size_t at = *length;
    while (at && !strchr(" \t", text[at - 1]))
        at--;
    return at;
}

/* "27969", "27968/27969", "-1" */
static bool is_pid(const char *text, size_t length) {
    return length && strspn(text, "0123456789/-") >= length &&
           (isdigit((unsigned char)text[0]) || text[0] == '-');
}

/* "COMMAND PID[/TID] [CPU] FLAGS PERIOD" from the right; a command may hold spaces and digits, and
 * be all there is. Flags and period count only behind a pid or a processor. */
static void parse_left(char *text, struct perf_head *head, bool period) {
    size_t length = strlen(text), at = last_word(text, &length);
    bool anchored = at && (is_pid(text + at, length - at) || text[at] == '[');
    size_t left = at, before = last_word(text, &left);
    if (before && (is_pid(text + before, left - before) || text[before] == '[')) {
        bool number = period && all_digits(text + at, length - at);
        if (number)
            head->period = strtoull(text + at, NULL, 10);
        if (number || !anchored) {
            length = left;
            at = before;
        }
    }
    if (at && text[at] == '[') {
        length = at;
        at = last_word(text, &length);
    }
    head->pid = -1;
    if (at && is_pid(text + at, length - at)) {
        head->pid = strtoll(text + at, NULL, 10);
        length = at;
        last_word(text, &length);
    }
    text[length] = 0;
    head->command = skip_spaces(text);
}

/* "cycles:upp" -> "cycles", precise; "sched:sched_switch" stays. */
static void parse_event(char *event, struct perf_head *head) {
    head->event = event;
    char *colon = strrchr(event, ':');
    if (!colon || colon == event || !colon[1] || colon[1 + strspn(colon + 1, "ukhIGHpPSDWeb")])
        return;
    head->precise = strpbrk(colon + 1, "pP") && !strstr(event, "-clock");
    *colon = 0;
}

/* "[PERIOD] [EVENT:] REST" */
static void parse_right(char *text, struct perf_head *head) {
    char *at = skip_spaces(text);
    size_t length = word(at);
    char *next = skip_spaces(at + length);
    size_t next_length = word(next);
    if (all_digits(at, length) && next_length > 1 && next[next_length - 1] == ':') {
        head->period = strtoull(at, NULL, 10);
        at = next;
        length = next_length;
    }
    if (length > 1 && at[length - 1] == ':') {
        bool last = !at[length];
        at[length - 1] = 0;
        parse_event(at, head);
        at += last ? length : length + 1;
    }
    head->rest = at;
}

void perf_head_parse(char *line, struct perf_head *head) {
    *head = (struct perf_head){.rest = line + strlen(line)};
    bool timed;
    char *anchor = find_anchor(line, &timed);
    if (anchor) {
        head->timed = timed;
        if (timed)
            head->time_ns = read_time(anchor);
        parse_right(timed ? anchor + word(anchor) : anchor, head);
        *(timed ? anchor : anchor - 1) = 0;
    }
    parse_left(line, head, anchor && !timed);
    head->anchored = anchor && (timed || head->pid >= 0);
}

/* ---- frames ---- */

static bool read_hex(const char *text, size_t length, uint64_t *value) {
    if (!length || length > 16 || strspn(text, "0123456789abcdef") < length)
        return false;
    *value = strtoull(text, NULL, 16);
    return true;
}

/* Cuts a "+0x1a" off the end. */
static bool cut_offset(char *text, uint64_t *offset) {
    char *plus = strrchr(text, '+');
    if (!plus || strncmp(plus, "+0x", 3) != 0 || !read_hex(plus + 3, strlen(plus + 3), offset))
        return false;
    *plus = 0;
    return true;
}

/* The beginning of a last "(...)", which may hold parentheses itself, after a space or at the
 * beginning; NULL: none. */
static char *find_image(char *text) {
    char *at = text + strlen(text);
    if (at == text || at[-1] != ')')
        return NULL;
    int depth = 0;
    while (at > text) {
        at--;
        depth += (*at == ')') - (*at == '(');
        if (!depth)
            return at == text || at[-1] == ' ' ? at : NULL;
    }
    return NULL;
}

static void cut_deleted(char *path) {
    static const char deleted[] = " (deleted)";
    size_t length = strlen(path), ending = sizeof deleted - 1;
    if (length > ending && !strcmp(path + length - ending, deleted))
        path[length - ending] = 0;
}

static void parse_image(char *text, struct perf_frame *frame) {
    text[strlen(text) - 1] = 0;
    frame->has_image_offset = cut_offset(text, &frame->image_offset);
    cut_deleted(text);
    frame->inlined = !strcmp(text, "inlined");
    frame->image = text;
}

bool perf_frame_parse(char *text, struct perf_frame *frame) {
    *frame = (struct perf_frame){0};
    trim_end(text);
    char *at = skip_spaces(text);
    size_t length = word(at);
    if (!read_hex(at, length, &frame->address))
        return false;
    /* Numbers stand in columns of 16 after a space: the last such one is the address; those before
     * it are a period or the address of data. */
    for (;;) {
        char *next = skip_spaces(at + length);
        size_t next_length = word(next);
        uint64_t value;
        if (next + next_length != at + length + 17 || !read_hex(next, next_length, &value))
            break;
        frame->address = value;
        at = next;
        length = next_length;
    }
    char *symbol = skip_spaces(at + length);
    char *image = find_image(symbol);
    if (image) {
        parse_image(image + 1, frame);
        *image = 0;
        trim_end(symbol);
    }
    frame->placed = cut_offset(symbol, &frame->symbol_offset);
    frame->symbol = *symbol && strcmp(symbol, "[unknown]") != 0 ? symbol : NULL;
    return true;
}

/* ---- mappings ---- */

static unsigned read_build_id(const char *text, uint8_t *build_id, unsigned capacity) {
    unsigned size = 0;
    for (; size < capacity && isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1]);
         text += 2) {
        const char digits[3] = {text[0], text[1], 0};
        build_id[size++] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return *text == '>' ? size : 0;
}

/* "PERF_RECORD_MMAP2 7/7: [0x5647b5324000(0xf000) @ 0x3000 fe:00 247489 0]: r-xp /usr/bin/gzip",
 * with the build id in angle brackets in place of device, inode and generation when it is known. */
bool perf_mapping_parse(char *text, struct perf_mapping *mapping) {
    *mapping = (struct perf_mapping){0};
    text = skip_spaces(text);
    if (strncmp(text, "PERF_RECORD_MMAP", 16) != 0)
        return false;
    text = skip_spaces(text + word(text));
    mapping->pid = strtoll(text, &text, 10);
    char *bracket = strstr(text, "[0x"), *close = strstr(text, "]: ");
    if (!bracket || !close || close < bracket)
        return false;
    *close = 0;
    char *at;
    uint64_t size;
    mapping->start = strtoull(bracket + 1, &at, 16);
    if (*at != '(')
        return false;
    size = strtoull(at + 1, &at, 16);
    if (strncmp(at, ") @ ", 4) != 0 || __builtin_add_overflow(mapping->start, size, &mapping->end))
        return false;
    mapping->file_offset = strtoull(at + 4, &at, 16);
    char *angle = strchr(at, '<');
    if (angle)
        mapping->build_id_size =
            read_build_id(angle + 1, mapping->build_id, sizeof mapping->build_id);
    char *protection = skip_spaces(close + 3);
    size_t length = word(protection);
    mapping->path = skip_spaces(protection + length);
    trim_end(mapping->path);
    cut_deleted(mapping->path);
    return size && memchr(protection, 'x', length) && *mapping->path;
}

bool perf_fork_parse(char *text, int64_t *pid, int64_t *tid, int64_t *parent) {
    char *at = text + strcspn(text, "(");
    *pid = strtoll(at + (*at == '('), &at, 10);
    if (strncmp(text, "PERF_RECORD_FORK(", 17) != 0 || *at != ':')
        return false;
    *tid = strtoll(at + 1, &at, 10);
    if (strncmp(at, "):(", 3) != 0)
        return false;
    *parent = strtoll(at + 3, &at, 10);
    return *at == ':';
}
