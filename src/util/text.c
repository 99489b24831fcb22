/* Numbers: scaled by thousands until three significant digits are left, rounding up into the next
 * prefix where it comes to that (999,999 is "1.00 M", not "1000 k").
 *
 * Columns: one UTF-8 character is read at a time, checked as in RFC 3629 (no overlong forms, no
 * surrogates); widths come from two short tables, so that no locale is needed. */
#include "util/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "util/order.h"

enum { DEFAULT_COLUMNS = 100, LEAST_COLUMNS = 40, MOST_COLUMNS = 400 };

/* Three significant digits of a value in [0, 1000). */
static void three_digits(struct text *text, double value, const char *suffix) {
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(text->s, sizeof text->s, "%.*f%s", decimals, value, suffix);
}

static struct text scaled(double value, double step, const char *const *suffixes, unsigned last) {
    struct text text;
    unsigned index = 0;
    while (index < last && value >= step - 0.5) {
        value /= step;
        index++;
    }
    three_digits(&text, value, suffixes[index]);
    return text;
}

static const char *const SI_SUFFIXES[] = {"", " k", " M", " G", " T", " P", " E"};

struct text text_count(uint64_t count) {
    struct text text;
    if (count < 1000) {
        snprintf(text.s, sizeof text.s, "%" PRIu64, count);
        return text;
    }
    return scaled((double)count, 1000, SI_SUFFIXES, 6);
}

struct text text_quantity(double quantity) {
    struct text text;
    if (!isfinite(quantity)) {
        snprintf(text.s, sizeof text.s, "%s", isnan(quantity) ? "nan" : "inf");
    } else if (fabs(quantity) < 0.001) {
        snprintf(text.s, sizeof text.s, "0");
    } else if (fabs(quantity) < 0.0995) {
        snprintf(text.s, sizeof text.s, "%.3f", quantity);
    } else if (quantity < 0) {
        struct text positive = scaled(-quantity, 1000, SI_SUFFIXES, 6);
        snprintf(text.s, sizeof text.s, "-%.30s", positive.s);
    } else {
        text = scaled(quantity, 1000, SI_SUFFIXES, 6);
    }
    return text;
}

bool text_ends_with(const char *text, const char *ending) {
    const size_t length = strlen(text), part = strlen(ending);
    return length >= part && !strcmp(text + length - part, ending);
}

char **text_words(char *text, size_t room) {
    char **words = calloc(strlen(text) / 2 + 2 + room, sizeof *words), *rest = NULL;
    size_t count = 0;
    for (char *word = words ? strtok_r(text, " ", &rest) : NULL; word;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    return words;
}

struct text text_grouped(uint64_t count) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    struct text text;
    char *out = text.s;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}

struct text text_percent(double part, double whole) {
    struct text text;
    double percent = whole != 0 ? 100 * part / whole : 0;
    if (fabs(percent) < 0.05)
        percent = 0; /* never "-0.0" */
    snprintf(text.s, sizeof text.s, "%.1f", percent);
    return text;
}

double text_shown(double figure, int digits) {
    return fabs(figure) < 0.5 * pow(10, -digits) ? 0 : figure;
}

struct text text_bytes(uint64_t bytes) {
    static const char *const suffixes[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    struct text text;
    if (bytes < 1024) {
        snprintf(text.s, sizeof text.s, "%" PRIu64 " B", bytes);
        return text;
    }
    return scaled((double)bytes, 1024, suffixes, 6);
}

struct text text_duration(double seconds) {
    struct text text;
    char *s = text.s;
    if (!isfinite(seconds) || seconds < 0)
        snprintf(s, sizeof text.s, "?");
    else if (seconds == 0)
        snprintf(s, sizeof text.s, "0 s");
    else if (seconds < 0.9995e-6)
        snprintf(s, sizeof text.s, "%.0f ns", seconds * 1e9);
    else if (seconds < 0.9995e-3)
        three_digits(&text, seconds * 1e6, " us");
    else if (seconds < 0.9995)
        three_digits(&text, seconds * 1e3, " ms");
    else if (seconds < 59.95)
        snprintf(s, sizeof text.s, "%.1f s", seconds);
    else if (seconds < 3599.5) {
        unsigned whole = (unsigned)(seconds + 0.5);
        snprintf(s, sizeof text.s, "%u min %02u s", whole / 60, whole % 60);
    } else if (seconds < 86370) {
        unsigned minutes = (unsigned)(seconds / 60 + 0.5);
        snprintf(s, sizeof text.s, "%u h %02u min", minutes / 60, minutes % 60);
    } else if (seconds < 1e11) {
        uint64_t hours = (uint64_t)(seconds / 3600 + 0.5);
        snprintf(s, sizeof text.s, "%" PRIu64 " d %02u h", hours / 24, (unsigned)(hours % 24));
    } else
        snprintf(s, sizeof text.s, "%.2e s", seconds);
    return text;
}

struct text text_taken(double seconds) {
    struct text text = {""};
    if (seconds != 0)
        snprintf(text.s, sizeof text.s, " in %.*s", (int)sizeof text.s - 5,
                 text_duration(seconds).s);
    return text;
}

/* ---- UTF-8 ---- */

struct range {
    uint32_t first, last;
};
static const struct range COMBINING[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff}, {0x200b, 0x200d}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
static const struct range WIDE[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},  {0x3041, 0xa4cf},
                                    {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe30, 0xfe6f},
                                    {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
                                    {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

static bool in_ranges(uint32_t code, const struct range *ranges, size_t count) {
    const size_t at = first_where(i, count, code <= ranges[i].last);
    return at < count && code >= ranges[at].first;
}

struct character {
    const char *bytes; /* what to print: the character itself or "?" */
    unsigned size;     /* bytes to print */
    unsigned taken;    /* bytes of the source */
    unsigned columns;
};

static struct character replaced(void) {
    return (struct character){"?", 1, 1, 1};
}

/* The first character of a string that is not empty. Control characters (C0, DEL, C1), directional
 * overrides, what is no character and malformed bytes are replaced, one byte or character by one
 * '?'. */
static struct character next_character(const char *text) {
    const unsigned char *byte = (const unsigned char *)text;
    if (byte[0] < 0x80) {
        if (byte[0] < 0x20 || byte[0] == 0x7f)
            return replaced();
        return (struct character){text, 1, 1, 1};
    }
    unsigned size;
    uint32_t code, least;
    if ((byte[0] & 0xe0) == 0xc0) {
        size = 2, code = byte[0] & 0x1f, least = 0x80;
    } else if ((byte[0] & 0xf0) == 0xe0) {
        size = 3, code = byte[0] & 0x0f, least = 0x800;
    } else if ((byte[0] & 0xf8) == 0xf0) {
        size = 4, code = byte[0] & 0x07, least = 0x10000;
    } else {
        return replaced();
    }
    for (unsigned i = 1; i < size; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return replaced();
        code = code << 6 | (byte[i] & 0x3f);
    }
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return replaced();
    /* No characters (Unicode 23.7), which XML refuses. */
    const bool nothing = (code & 0xfffe) == 0xfffe;
    bool steers = nothing || code < 0xa0 || code == 0x200e || code == 0x200f ||
                  (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    if (steers)
        return (struct character){"?", 1, size, 1};
    unsigned columns = 1;
    if (in_ranges(code, COMBINING, sizeof COMBINING / sizeof COMBINING[0]))
        columns = 0;
    else if (in_ranges(code, WIDE, sizeof WIDE / sizeof WIDE[0]))
        columns = 2;
    return (struct character){text, size, size, columns};
}

unsigned text_columns(const char *text) {
    unsigned columns = 0;
    while (*text) {
        struct character character = next_character(text);
        columns += character.columns;
        text += character.taken;
    }
    return columns;
}

/* A bounded output: keeps room for the terminator, drops whole characters. */
struct output {
    char *buffer;
    size_t size, length;
};

static bool put(struct output *output, const char *bytes, unsigned size) {
    if (output->length + size + 1 > output->size)
        return false;
    memcpy(output->buffer + output->length, bytes, size);
    output->length += size;
    return true;
}

static void put_spaces(struct output *output, unsigned count) {
    while (count-- && put(output, " ", 1))
        continue;
}

/* Copies characters while they fit in `limit` columns; returns the columns written. */
static unsigned put_text(struct output *output, const char *text, unsigned limit) {
    unsigned columns = 0;
    while (*text) {
        struct character character = next_character(text);
        if (columns + character.columns > limit || !put(output, character.bytes, character.size))
            break;
        columns += character.columns;
        text += character.taken;
    }
    return columns;
}

char *text_fit(char *buffer, size_t size, const char *text, unsigned columns,
               enum text_align align) {
    if (!size)
        return buffer;
    struct output output = {buffer, size, 0};
    unsigned needed = text_columns(text);
    if (needed > columns) {
        unsigned written = columns ? put_text(&output, text, columns - 1) : 0;
        if (columns && put(&output, "…", strlen("…")))
            put_spaces(&output, columns - 1 - written);
    } else {
        if (align == TEXT_RIGHT)
            put_spaces(&output, columns - needed);
        put_text(&output, text, columns);
        if (align == TEXT_LEFT)
            put_spaces(&output, columns - needed);
    }
    buffer[output.length] = '\0';
    return buffer;
}

char *text_clean(char *buffer, size_t size, const char *text) {
    if (!size)
        return buffer;
    struct output output = {buffer, size, 0};
    put_text(&output, text, UINT32_MAX - 2);
    buffer[output.length] = '\0';
    return buffer;
}

char *text_clean_to_escape(char *buffer, size_t size, const char *text) {
    if (!size)
        return buffer;
    struct output output = {buffer, size, 0};
    while (*text) {
        struct character character = next_character(text);
        if ((unsigned char)*text < ' ')
            character.bytes = text;
        if (!put(&output, character.bytes, character.size))
            break;
        text += character.taken;
    }
    buffer[output.length] = '\0';
    return buffer;
}

char *text_clip(char *buffer, size_t size, const char *text, unsigned columns) {
    return text_columns(text) > columns ? text_fit(buffer, size, text, columns, TEXT_LEFT)
                                        : text_clean(buffer, size, text);
}

/* ---- printed text ---- */

FILE *text_printer_begin(struct text_printer *printer) {
    *printer = (struct text_printer){0};
    return printer->file = open_memstream(&printer->text, &printer->size);
}

char *text_printer_end(struct text_printer *printer) {
    if (fclose(printer->file) == 0)
        return printer->text;
    free(printer->text);
    return NULL;
}

/* ---- terminals ---- */

/* 0: not told. */
static unsigned told_columns(FILE *stream) {
    struct winsize size;
    if (isatty(fileno(stream)) && !ioctl(fileno(stream), TIOCGWINSZ, &size) && size.ws_col)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    return columns ? (unsigned)strtoul(columns, NULL, 10) : 0;
}

unsigned text_terminal_columns(FILE *stream, bool *told) {
    unsigned columns = told_columns(stream);
    if (told)
        *told = columns;
    if (!columns)
        return DEFAULT_COLUMNS;
    if (columns < LEAST_COLUMNS)
        return LEAST_COLUMNS;
    return columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
}

static const char *locale_named(void) {
    static const char *const VARIABLES[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++) {
        const char *value = getenv(VARIABLES[i]);
        if (value && *value)
            return value;
    }
    return NULL;
}

static bool is_dumb(void) {
    const char *terminal = getenv("TERM");
    return terminal && strcmp(terminal, "dumb") == 0;
}

bool text_use_unicode(FILE *stream) {
    const char *locale = locale_named();
    return (!locale || strcasestr(locale, "UTF-8") || strcasestr(locale, "UTF8")) &&
           !(is_dumb() && isatty(fileno(stream)));
}

bool text_use_colour(FILE *stream) {
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(fileno(stream)) && !(no_colour && *no_colour) && terminal && *terminal &&
           !is_dumb();
}

static bool has_control(const char *word) {
    for (; *word; word++)
        if ((unsigned char)*word < ' ' || *word == 0x7f)
            return true;
    return false;
}

/* $'…', as bash, zsh and ksh read it (POSIX 2024, 2.2.4); without a quote inside. */
static void put_escaped(FILE *file, const char *word) {
    fputs("$'", file);
    for (; *word; word++) {
        if (*word == '\n')
            fputs("\\n", file);
        else if (*word == '\t')
            fputs("\\t", file);
        else if ((unsigned char)*word < ' ' || *word == 0x7f || *word == '\'')
            fprintf(file, "\\%03o", (unsigned char)*word);
        else
            fputs(*word == '\\' ? "\\\\" : (char[]){*word, 0}, file);
    }
    fputc('\'', file);
}

void text_put_word(FILE *file, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%^";
    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, file);
        return;
    }
    if (has_control(word)) {
        put_escaped(file, word);
        return;
    }
    fputc('\'', file);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, file);
    fputc('\'', file);
}

void text_put_words(FILE *file, char *const *words) {
    for (; *words; words++) {
        fputc(' ', file);
        text_put_word(file, *words);
    }
}

void text_put_option(FILE *file, const char *name, const char *value) {
    if (!value)
        return;
    fprintf(file, " --%s ", name);
    text_put_word(file, value);
}

struct text text_time(int64_t nanoseconds) {
    time_t seconds = (time_t)(nanoseconds / 1000000000);
    struct text text;
    struct tm broken;
    if (!gmtime_r(&seconds, &broken) ||
        !strftime(text.s, sizeof text.s, "%Y-%m-%dT%H:%M:%SZ", &broken))
        strcpy(text.s, "?");
    return text;
}
