/* strtod alone would also take signs, hexadecimal numbers, "inf" and "nan". */
#include "util/duration.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    double seconds;
} UNITS[] = {{"", 1},     {"ms", 1e-3}, {"s", 1},     {"m", 60},
             {"min", 60}, {"h", 3600},  {"d", 86400}, {"w", 604800}};

bool duration_read(const char *text, double *seconds) {
    size_t digits = strspn(text, "0123456789.");
    char number[32], *end;
    if (digits == 0 || digits >= sizeof number)
        return false;
    memcpy(number, text, digits);
    number[digits] = 0;
    *seconds = strtod(number, &end);
    if (*end)
        return false;
    text += digits;
    while (*text == ' ')
        text++;
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
        if (!strcmp(text, UNITS[i].name)) {
            *seconds *= UNITS[i].seconds;
            return true;
        }
    return false;
}
