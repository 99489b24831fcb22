/* Both names are read from the end. What stands between angle brackets is skipped if only one of
 * the two has it. */
#include "program/function_name.h"

#include <ctype.h>
#include <string.h>

bool function_is_named(const char *function, const char *name, size_t length) {
    return function && length && !strncmp(function, name, length) &&
           (function[length] == 0 || function[length] == '(');
}

/* Where the opening bracket of the closing one at `at` is; NULL: there is none. */
static const char *opening(const char *begin, const char *at, char open, char close) {
    int depth = 0;
    for (;; at--) {
        depth += (*at == close) - (*at == open);
        if (depth == 0)
            return at;
        if (at == begin)
            return NULL;
    }
}

/* The end of a function's name: before its parameters and what is behind them, such as " const"; Go
 * has none, but "main.(*T).f". */
static const char *name_end(const char *function) {
    const char *close = strrchr(function, ')'), *open;
    bool last = close && (!close[1] || strchr(" [", close[1]));
    if (!last || !(open = opening(function, close, '(', ')')) || open == function)
        return function + strlen(function);
    /* "operator()" has no parameters there. */
    static const char CALL[] = "operator";
    size_t before = (size_t)(open - function);
    bool call = close == open + 1 && before >= sizeof CALL - 1 &&
                !memcmp(open - (sizeof CALL - 1), CALL, sizeof CALL - 1);
    return call ? close + 1 : open;
}

bool function_ends_in(const char *function, const char *name, size_t length) {
    if (!function || !length)
        return false;
    const char *at = name_end(function), *wanted = name + length;
    while (wanted > name) {
        const char *open;
        if (at == function)
            return false;
        if (at[-1] == '>' && wanted[-1] != '>') {
            if (!(open = opening(function, at - 1, '<', '>')))
                return false;
            at = open;
        } else if (*--at != *--wanted) {
            return false;
        }
    }
    return at == function || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '~' ||
                               (unsigned char)at[-1] >= 0x80);
}
