#include "trace/trace_name.h"

#include <string.h>

/* The word's length less an ending that it has; the same: it has not. */
static size_t cut(const char *word, size_t length, const char *ending) {
    const size_t size = strlen(ending);
    return length > size && !memcmp(word + length - size, ending, size) ? length - size : length;
}

/* The length of the word without such an ending; all of it: there is none. */
static size_t stem(const char *word) {
    static const char *const PACKED[] = {".gz", ".xz", ".zip"};
    static const char *const FOREIGN[] = {".champsim", ".champsimtrace", ".trace"};
    const size_t length = strlen(word), own = cut(word, length, ".ctrace");
    size_t unpacked = length;
    for (size_t i = 0; i < sizeof PACKED / sizeof *PACKED && unpacked == length; i++)
        unpacked = cut(word, length, PACKED[i]);
    if (own < length)
        return own;
    for (size_t i = 0; i < sizeof FOREIGN / sizeof *FOREIGN; i++) {
        const size_t left = cut(word, unpacked, FOREIGN[i]);
        if (left < unpacked)
            return left;
    }
    return length;
}

bool trace_is_named(const char *word) {
    return stem(word) < strlen(word);
}
