/* The characters of the quoted words are compared one by one as they are unquoted. */
#include <string.h>

#include "report/annotated.h"

enum quoting { PLAIN, QUOTED, ESCAPED };

/* Behind a backslash of $'...'. */
static char unescape(const char **at) {
    const char *from = *at;
    if (*from >= '0' && *from <= '7') {
        unsigned value = 0;
        for (int i = 0; i < 3 && *from >= '0' && *from <= '7'; i++)
            value = value * 8 + (unsigned)(*from++ - '0');
        *at = from;
        return (char)value;
    }
    if (*from)
        (*at)++;
    return *from == 'n' ? '\n' : *from == 't' ? '\t' : *from;
}

/* Begins or ends a quotation, if one does here. */
static bool take_quote(const char **at, enum quoting *quoting) {
    const bool escapes = *quoting == PLAIN && !strncmp(*at, "$'", 2);
    if (**at != '\'' && !escapes)
        return false;
    *at += escapes ? 2 : 1;
    *quoting = *quoting != PLAIN ? PLAIN : escapes ? ESCAPED : QUOTED;
    return true;
}

bool annotate_is_command(const char *quoted, const char *joined) {
    enum quoting quoting = PLAIN;
    while (*quoted) {
        if (take_quote(&quoted, &quoting))
            continue;
        char next = *quoted++;
        if (next == '\\' && quoting == ESCAPED)
            next = unescape(&quoted);
        else if (next == '\\' && quoting == PLAIN && *quoted)
            next = *quoted++;
        if (!*joined || next != *joined++)
            return false;
    }
    return !*joined;
}
