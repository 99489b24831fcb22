#include "report/baseline_field.h"

#include <inttypes.h>
#include <string.h>

#include "attribute/attribute.h"
#include "attribute/component.h"

/* ---- texts ---- */

void field_put_escaped(FILE *file, const char *text) {
    for (; *text; text++)
        if (*text == '\\')
            fputs("\\\\", file);
        else if ((unsigned char)*text < ' ' || *text == 127)
            fprintf(file, "\\x%02x", (unsigned char)*text);
        else
            fputc(*text, file);
}

static int hexadecimal(char digit) {
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                          : -1;
}

bool field_unescape(char *text) {
    char *to = text;
    for (const char *at = text; *at; at++) {
        if (*at != '\\') {
            *to++ = *at;
            continue;
        }
        if (*++at == '\\') {
            *to++ = '\\';
            continue;
        }
        const int high = *at == 'x' ? hexadecimal(at[1]) : -1;
        const int low = high >= 0 ? hexadecimal(at[2]) : -1;
        if (low < 0 || !(high | low))
            return false;
        *to++ = (char)(high << 4 | low);
        at += 2;
    }
    *to = 0;
    return true;
}

/* ---- numbers ---- */

void field_put_cycles(FILE *file, uint64_t units) {
    char decimals[8];
    const uint64_t rest = units % CYCLE_UNITS;
    fprintf(file, "%" PRIu64, units / CYCLE_UNITS);
    if (!rest)
        return;
    snprintf(decimals, sizeof decimals, "%03" PRIu64,
             (rest * 1000 + CYCLE_UNITS / 2) / CYCLE_UNITS);
    size_t length = strlen(decimals);
    while (decimals[length - 1] == '0')
        decimals[--length] = 0;
    fprintf(file, ".%s", decimals);
}

bool field_read_digits(const char *text, uint64_t most, uint64_t *number, const char **end) {
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (digit > most || value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    *end = at;
    return at > text;
}

bool field_read_hexadecimal(const char *text, size_t digits, uint64_t *number) {
    *number = 0;
    for (size_t i = 0; i < digits; i++) {
        const int digit = hexadecimal(text[i]);
        if (digit < 0)
            return false;
        *number = *number << 4 | (uint64_t)digit;
    }
    return !text[digits];
}

bool field_read_count(const char *text, uint64_t most, uint64_t *number) {
    const char *end;
    return field_read_digits(text, most, number, &end) && !*end;
}

bool field_read_cycles(const char *text, uint64_t *units) {
    uint64_t whole, decimals = 0, scale = 1;
    const char *end;
    if (!field_read_digits(text, MAX_CYCLES, &whole, &end))
        return false;
    if (*end == '.') {
        const char *first = end + 1;
        if (!field_read_digits(first, 999, &decimals, &end) || end - first > 3)
            return false;
        for (long i = end - first; i > 0; i--)
            scale *= 10;
    }
    *units = whole * CYCLE_UNITS + (decimals * CYCLE_UNITS + scale / 2) / scale;
    return !*end;
}

const char *field_value(const char *field, const char *key) {
    const size_t length = strlen(key);
    return !strncmp(field, key, length) && field[length] == '=' ? field + length + 1 : NULL;
}
