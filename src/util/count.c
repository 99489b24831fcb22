/* strtoull alone would also take blanks and signs. */
#include "util/count.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* How many the suffix stands for; 1: it is none. */
static uint64_t unit_of(char suffix) {
    static const char suffixes[] = "KMGT";
    uint64_t unit = 1;
    const char *found = suffix ? strchr(suffixes, toupper((unsigned char)suffix)) : NULL;
    for (const char *s = suffixes; found && s <= found; s++)
        unit *= 1000;
    return unit;
}

/* The digits behind the point of 1.5M, of which the suffix makes a whole number: how many that is;
 * *after is moved to the suffix. Else 0, and *after stays. */
static uint64_t read_fraction(char **after) {
    uint64_t fraction = 0, parts = 1;
    char *at = *after;
    if (*at++ != '.')
        return 0;
    for (; isdigit((unsigned char)*at) && parts < UINT64_C(1000000000000); at++) {
        fraction = 10 * fraction + (uint64_t)(*at - '0');
        parts *= 10;
    }
    const uint64_t unit = unit_of(*at);
    if (parts == 1 || parts > unit)
        return 0;
    *after = at;
    return fraction * (unit / parts);
}

enum count_reading count_read(const char *text, uint64_t *count, const char **end) {
    char *after;
    *count = 0;
    *end = text;
    if (!isdigit((unsigned char)*text))
        return COUNT_NONE;
    errno = 0;
    *count = strtoull(text, &after, 10);
    bool fits = errno == 0;
    const uint64_t fraction = read_fraction(&after), unit = unit_of(*after);
    fits &= !__builtin_mul_overflow(*count, unit, count);
    fits &= !__builtin_add_overflow(*count, fraction, count);
    *end = after + (unit > 1);
    return fits ? COUNT_READ : COUNT_TOO_LARGE;
}
