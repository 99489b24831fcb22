/* By recursive descent; what is computed is computed while it is read. */
#include "util/arithmetic.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 100, LONGEST_NAME = 63 };

struct reader {
    const char *text, *at;
    bool (*value_of)(void *context, const char *name, double *value, struct error *error);
    void *context;
    unsigned depth;
    struct error *error;
};

static bool wrong(struct reader *reader, const char *at, const char *what) {
    return error_set(reader->error, "%.200s: character %zu: %s", reader->text,
                     (size_t)(at - reader->text) + 1, what);
}

static void skip_spaces(struct reader *reader) {
    reader->at += strspn(reader->at, " \t");
}

static bool read_sum(struct reader *reader, double *value);

static bool read_number(struct reader *reader, double *value) {
    const char *begin = reader->at;
    char *end;
    *value = strtod(begin, &end);
    const char *suffix = *end ? strchr("KMG", *end) : NULL;
    if (suffix) {
        *value = ldexp(*value, 10 * (int)(suffix - "KMG" + 1));
        end++;
    }
    reader->at = end;
    return !isalnum((unsigned char)*end) && *end != '_' && *end != '.' && isfinite(*value)
               ? true
               : wrong(reader, begin, "no number");
}

static bool read_name(struct reader *reader, double *value) {
    const char *begin = reader->at;
    char name[LONGEST_NAME + 1];
    size_t length = 0;
    while (isalnum((unsigned char)begin[length]) || begin[length] == '_' || begin[length] == '.')
        length++;
    if (length > LONGEST_NAME)
        return wrong(reader, begin, "the name is too long");
    memcpy(name, begin, length);
    name[length] = 0;
    reader->at += length;
    return reader->value_of(reader->context, name, value, reader->error) ||
           error_prefix(reader->error, "%.200s: character %zu", reader->text,
                        (size_t)(begin - reader->text) + 1);
}

static bool read_operand(struct reader *reader, double *value) {
    skip_spaces(reader);
    const char *begin = reader->at;
    if (*begin == '-' || *begin == '(') {
        if (++reader->depth > DEEPEST)
            return wrong(reader, begin, "nested too deeply");
        reader->at++;
        if (*begin == '-' ? !read_operand(reader, value) : !read_sum(reader, value))
            return false;
        reader->depth--;
        if (*begin == '-') {
            *value = -*value;
            return true;
        }
        if (*reader->at != ')')
            return wrong(reader, begin, "this is not closed");
        reader->at++;
        return true;
    }
    if (isdigit((unsigned char)*begin))
        return read_number(reader, value);
    if (isalpha((unsigned char)*begin) || *begin == '_')
        return read_name(reader, value);
    return wrong(reader, begin, "a number, a name or ( should be here");
}

static bool read_product(struct reader *reader, double *value) {
    if (!read_operand(reader, value))
        return false;
    for (skip_spaces(reader); *reader->at == '*' || *reader->at == '/'; skip_spaces(reader)) {
        const char *sign = reader->at++;
        double right;
        if (!read_operand(reader, &right))
            return false;
        if (*sign == '/' && right == 0)
            return wrong(reader, sign, "a division by 0");
        *value = *sign == '*' ? *value * right : *value / right;
    }
    return true;
}

static bool read_sum(struct reader *reader, double *value) {
    if (!read_product(reader, value))
        return false;
    while (*reader->at == '+' || *reader->at == '-') {
        const bool minus = *reader->at++ == '-';
        double right;
        if (!read_product(reader, &right))
            return false;
        *value += minus ? -right : right;
    }
    return true;
}

bool arithmetic_value(const char *text,
                      bool (*value_of)(void *context, const char *name, double *value,
                                       struct error *error),
                      void *context, double *value, struct error *error) {
    struct reader reader = {
        .text = text, .at = text, .value_of = value_of, .context = context, .error = error};
    if (!read_sum(&reader, value))
        return false;
    if (*reader.at)
        return wrong(&reader, reader.at, "an operator should be here");
    return isfinite(*value) || error_set(error, "%.200s: too large", text);
}
