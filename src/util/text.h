/* Numbers, times and columns as people read them.
 *
 * The formatters return their text by value, so that they can stand in an argument list:
 *
 *     fprintf(out, "%s instructions in %s\n", text_count(n).s, text_duration(seconds).s);
 *
 * Columns are terminal columns, not bytes: UTF-8 is measured and never cut in the middle of a
 * character. Whatever comes from a file (symbol and path names) is printed through text_fit() or
 * text_clean(), which replace control characters and malformed bytes by '?': a hostile name cannot
 * steer the terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct text {
    char s[32];
};

/* Three significant digits and an SI prefix: "0", "999", "1.00 k", "8.19 G", "18.4 E". The caller
 * writes the unit. */
struct text text_count(uint64_t count);

/* As text_count for rates and means, which need not be whole: "0.52", "10.3 M". Below 0.001 "0";
 * "nan" and "inf" where there is no number. */
struct text text_quantity(double quantity);

/* Every digit, in groups of three: "8,190,211,003". */
struct text text_grouped(uint64_t count);

/* Whether these are the last bytes of a text. */
bool text_ends_with(const char *text, const char *ending);

/* The ending of a noun after its count: "s", or nothing after 1. */
static inline const char *text_plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

/* part/whole in percent with one decimal, without the sign: "61.2"; "0.0" of an empty whole. */
struct text text_percent(double part, double whole);

/* A figure that is printed with so many digits: what would be "-0.00" is 0. */
double text_shown(double figure, int digits);

/* "0 B", "512 B", "1.50 KiB", "200 MiB". */
struct text text_bytes(uint64_t bytes);

/* "0 s", "840 ns", "12.3 ms", "6.1 s", "59.9 s", "2 min 03 s", "1 h 02 min", "3 d 04 h". Negative
 * or not finite: "?". */
struct text text_duration(double seconds);
/* What something took, after it: " in 1.3 s"; "" of 0, which is not to be told. */
struct text text_taken(double seconds);

/* Nanoseconds since 1970 as ISO 8601 has them, in UTC: "2026-11-22T03:00:00Z"; "?" where no
 * calendar reaches. */
struct text text_time(int64_t nanoseconds);

/* Columns that `text` takes on a terminal: 0 for combining marks, 2 for wide (East Asian)
 * characters, 1 for what text_fit() replaces. */
unsigned text_columns(const char *text);

enum text_align { TEXT_LEFT, TEXT_RIGHT };

/* Writes `text` into `buffer` in exactly `columns` columns: padded with spaces on the other side of
 * `align`, or cut, with '…' for what is missing. Always terminated; a buffer too small (4 × columns
 * + 1 bytes are always enough, but for runs of combining marks) ends early at a whole character.
 * Returns `buffer`. */
char *text_fit(char *buffer, size_t size, const char *text, unsigned columns,
               enum text_align align);

/* As text_fit(), without padding: at most so many columns. */
char *text_clip(char *buffer, size_t size, const char *text, unsigned columns);

/* As text_fit(), without padding and without a limit on columns. */
char *text_clean(char *buffer, size_t size, const char *text);

/* As text_clean(), but line ends and other control characters below the space stay: for a writer
 * that escapes them. */
char *text_clean_to_escape(char *buffer, size_t size, const char *text);

/* The words of a text, which spaces separate: `text` is cut into them, and NULL stands behind the
 * last, with room for so many more words. The caller's, to be freed; NULL: out of memory. */
char **text_words(char *text, size_t room);

/* Text that is printed piece by piece, as to a file. */
struct text_printer {
    char *text;
    size_t size;
    FILE *file;
};
/* Where to print it; NULL: out of memory. */
FILE *text_printer_begin(struct text_printer *printer);
/* What was printed, to be freed; NULL: out of memory. */
char *text_printer_end(struct text_printer *printer);

/* A word, quoted for a shell where it must be; with control characters as $'…'. */
void text_put_word(FILE *file, const char *word);
/* Several, each after a space. */
void text_put_words(FILE *file, char *const *words);
/* " --name value", the value as a word; NULL: nothing. */
void text_put_option(FILE *file, const char *name, const char *value);

/* Width of the terminal behind `stream`, 40 to 400 columns; of what is none, as COLUMNS says; else
 * 100, and *told is false unless it is NULL. */
unsigned text_terminal_columns(FILE *stream, bool *told);

/* Whether signs beyond ASCII can be printed on `stream`: the locale (LC_ALL, LC_CTYPE, LANG) is of
 * UTF-8, or none is named, and it is not a terminal that is "dumb". */
bool text_use_unicode(FILE *stream);

/* Whether to print colour on `stream`: a terminal that is not "dumb", and NO_COLOR is not set (or
 * is empty, see no-color.org). */
bool text_use_colour(FILE *stream);
