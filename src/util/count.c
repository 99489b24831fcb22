/* strtoull alone would also take blanks and signs. */
#include "util/count.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum count_reading count_read(const char *text, uint64_t *count, const char **end) {
    static const char suffixes[] = "KMGT";
    char *after;
    *count = 0;
    *end = text;
    if (!isdigit((unsigned char)*text))
        return COUNT_NONE;
    errno = 0;
    *count = strtoull(text, &after, 10);
    bool fits = errno == 0;
    const char *suffix = *after ? strchr(suffixes, toupper((unsigned char)*after)) : NULL;
    for (const char *s = suffixes; suffix && s <= suffix; s++)
        fits &= !__builtin_mul_overflow(*count, UINT64_C(1000), count);
    *end = after + (suffix != NULL);
    return fits ? COUNT_READ : COUNT_TOO_LARGE;
}
