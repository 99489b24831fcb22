/* Bytes are held back as long as they may become a sign. */
#include "util/ascii_stream.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/text.h"

/* √ and § are in prose, where columns do not matter. */
static const char *const SIGNS[][2] = {
    {"…", "~"},    {"±", "~"},     {"µ", "u"}, {"×", "x"}, {"≤", "<"}, {"·", "."}, {"σ", "s"},
    {"√", "sqrt"}, {"§", "sec. "}, {"│", "|"}, {"├", "|"}, {"└", "`"}, {"▏", "."}, {"▎", "."},
    {"▍", "."},    {"▌", "#"},     {"▋", "#"}, {"▊", "#"}, {"▉", "#"}, {"▁", "."}, {"▂", ":"},
    {"▃", "-"},    {"▄", "="},     {"▅", "+"}, {"▆", "*"}, {"▇", "%"}, {"█", "#"},
};
enum { SIGN_COUNT = sizeof SIGNS / sizeof *SIGNS, SIGN_BYTES = 3 };

struct ascii {
    FILE *file, *stream;
    char held[SIGN_BYTES];
    size_t count;
    struct ascii *next;
};

static void drop(struct ascii *ascii, size_t count) {
    ascii->count -= count;
    memmove(ascii->held, ascii->held + count, ascii->count);
}

/* The first sign that begins with what is held; SIGN_COUNT: none does. */
static size_t begun(const struct ascii *ascii) {
    return index_where(i, SIGN_COUNT, strncmp(SIGNS[i][0], ascii->held, ascii->count) == 0);
}

static void take(struct ascii *ascii, char byte) {
    size_t sign;
    ascii->held[ascii->count++] = byte;
    while (ascii->count && (sign = begun(ascii)) == SIGN_COUNT) {
        fputc(ascii->held[0], ascii->file);
        drop(ascii, 1);
    }
    if (ascii->count && strlen(SIGNS[sign][0]) == ascii->count) {
        fputs(SIGNS[sign][1], ascii->file);
        drop(ascii, ascii->count);
    }
}

static ssize_t pass_on(void *cookie, const char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        take(cookie, bytes[i]);
    return (ssize_t)size;
}

/* All that there are. */
static struct ascii **first(void) {
    static struct ascii *streams;
    return &streams;
}

FILE *ascii_stream(FILE *file) {
    struct ascii *ascii = *first();
    while (ascii && ascii->file != file)
        ascii = ascii->next;
    if (ascii)
        return ascii->stream;
    if (!(ascii = calloc(1, sizeof *ascii)))
        return file;
    ascii->file = file;
    ascii->stream = fopencookie(ascii, "w", (cookie_io_functions_t){.write = pass_on});
    if (!ascii->stream) {
        free(ascii);
        return file;
    }
    setvbuf(ascii->stream, NULL, _IONBF, 0);
    ascii->next = *first();
    *first() = ascii;
    return ascii->stream;
}

FILE *shown_stream(FILE *file) {
    return text_use_unicode(file) ? file : ascii_stream(file);
}

FILE *ascii_stream_behind(FILE *stream) {
    for (const struct ascii *ascii = *first(); ascii; ascii = ascii->next)
        if (ascii->stream == stream)
            return ascii->file;
    return stream;
}
