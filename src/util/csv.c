/* Characters are taken one by one into one text with NULs between the fields; where they begin is
 * turned into pointers when the record is complete, as the text may move while it grows. */
#include "util/csv.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/text.h"

bool csv_open(struct csv *csv, const char *path, struct error *error) {
    *csv = (struct csv){.path = path, .next_line = 1};
    csv->file = fopen(path, "re");
    return csv->file || error_errno(error, "cannot read %s", path);
}

void csv_close(struct csv *csv) {
    if (csv->file)
        fclose(csv->file);
    free(csv->fields);
    free(csv->text);
    free(csv->starts);
    *csv = (struct csv){0};
}

bool csv_error(const struct csv *csv, struct error *error, const char *format, ...) {
    char what[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return error_set(error, "%s: line %" PRIu64 ": %s", csv->path, csv->line, what);
}

/* ---- a record ---- */

static bool put(struct csv *csv, size_t *used, char c, struct error *error) {
    if (*used == CSV_MAX_RECORD)
        return csv_error(csv, error, "a record of more than a megabyte");
    if (!array_reserve((void **)&csv->text, &csv->text_capacity, *used + 1, 1))
        return csv_error(csv, error, "out of memory");
    csv->text[(*used)++] = c;
    return true;
}

static bool begin_field(struct csv *csv, size_t used, struct error *error) {
    size_t need = (size_t)csv->field_count + 1;
    if (!array_room(csv->starts, csv->start_capacity, need) ||
        !array_room(csv->fields, csv->field_capacity, need))
        return csv_error(csv, error, "out of memory");
    csv->starts[csv->field_count++] = used;
    return true;
}

/* The next character, outside quotes; a line end of CR LF is one of LF. */
static int take(struct csv *csv) {
    int c = getc_unlocked(csv->file);
    if (c == '\r') {
        int after = getc_unlocked(csv->file);
        if (after == '\n')
            c = after;
        else
            ungetc(after, csv->file);
    }
    csv->next_line += c == '\n';
    return c;
}

/* What stands in quotes, whose first has been taken. */
static bool take_quoted(struct csv *csv, size_t *used, int *after, struct error *error) {
    for (;;) {
        int c = getc_unlocked(csv->file);
        csv->next_line += c == '\n';
        if (c == EOF)
            return csv_error(csv, error, "a quote that is not closed");
        if (c == 0)
            return csv_error(csv, error, "a NUL: not a text file");
        if (c == '"') {
            *after = take(csv);
            if (*after != '"')
                return *after == ',' || *after == '\n' || *after == EOF ||
                       csv_error(csv, error, "something between a closing quote and the comma");
        }
        if (!put(csv, used, (char)c, error))
            return false;
    }
}

/* What does not, from its first character on. A comment, which nothing can quote, ends in no CR. */
static bool take_plain(struct csv *csv, size_t *used, int c, int *after, struct error *error) {
    const size_t begin = *used;
    while (c != EOF && c != '\n' && (c != ',' || csv->comment)) {
        if (c == 0)
            return csv_error(csv, error, "a NUL: not a text file");
        if (c == '"' && !csv->comment)
            return csv_error(csv, error, "a quote within a field that does not begin with one");
        if (!put(csv, used, (char)c, error))
            return false;
        c = take(csv);
    }
    while (csv->comment && *used > begin && csv->text[*used - 1] == '\r')
        --*used;
    *after = c;
    return true;
}

static bool take_fields(struct csv *csv, int c, struct error *error) {
    size_t used = 0;
    csv->field_count = 0;
    csv->comment = c == '#';
    int after = ',';
    for (c = csv->comment ? take(csv) : c; after == ','; c = after == ',' ? take(csv) : c)
        if (!begin_field(csv, used, error) ||
            !(c == '"' && !csv->comment ? take_quoted(csv, &used, &after, error)
                                        : take_plain(csv, &used, c, &after, error)) ||
            !put(csv, &used, 0, error))
            return false;
    for (uint32_t i = 0; i < csv->field_count; i++)
        csv->fields[i] = csv->text + csv->starts[i];
    return true;
}

int csv_next(struct csv *csv, struct error *error) {
    int c;
    do {
        csv->line = csv->next_line;
        c = take(csv);
    } while (c == '\n');
    bool good = c == EOF || take_fields(csv, c, error);
    if (ferror(csv->file)) {
        error_errno(error, "cannot read %s", csv->path);
        return -1;
    }
    return !good ? -1 : c != EOF;
}

/* ---- numbers ---- */

/* What `text`, of the column `name`, is not. */
static bool refuse(const struct csv *csv, const char *name, const char *text, struct error *error,
                   const char *what) {
    char start[64];
    return csv_error(csv, error, "%s '%s': %s", name, text_clean(start, sizeof start, text), what);
}

static bool whole(const struct csv *csv, const char *name, const char *text, int base,
                  uint64_t most, uint64_t *value, struct error *error) {
    char *end, what[64];
    errno = 0;
    unsigned long long number = strtoull(text, &end, base);
    /* strtoull would take blanks, signs, a second 0x. */
    if (*text && !*end && !strpbrk(text, " \t\n\v\f\r+-xX") && errno != ERANGE && number <= most) {
        *value = number;
        return true;
    }
    snprintf(what, sizeof what, "not a whole number up to %" PRIu64, most);
    return refuse(csv, name, text, error, what);
}

bool csv_decimal(const struct csv *csv, uint32_t field, const char *name, uint64_t most,
                 uint64_t *value, struct error *error) {
    return whole(csv, name, csv->fields[field], 10, most, value, error);
}

bool csv_hexadecimal(const struct csv *csv, uint32_t field, const char *name, uint64_t *value,
                     struct error *error) {
    const char *text = csv->fields[field];
    if (text[0] == '0' && text[1] == 'x')
        return whole(csv, name, text + 2, 16, UINT64_MAX, value, error);
    return refuse(csv, name, text, error, "not of the form 0x1f");
}

bool csv_number(const struct csv *csv, uint32_t field, const char *name, double least, double most,
                double *value, struct error *error) {
    const char *text = csv->fields[field];
    char *end, what[96];
    *value = strtod(text, &end);
    /* strtod would take blanks, plus signs, hexadecimal digits, words. */
    if (isdigit((unsigned char)text[*text == '-']) && !*end && !strpbrk(text, "xX") &&
        *value >= least && *value <= most)
        return true;
    snprintf(what, sizeof what, "not a number from %g to %g", least, most);
    return refuse(csv, name, text, error, what);
}

/* ---- writing ---- */

void csv_put(FILE *out, const char *field) {
    if (!strpbrk(field, ",\"\r\n") && *field != '#') {
        fputs(field, out);
        return;
    }
    putc('"', out);
    for (; *field; field++) {
        if (*field == '"')
            putc('"', out);
        putc(*field, out);
    }
    putc('"', out);
}

void csv_put_number(FILE *out, double value) {
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, out);
}
