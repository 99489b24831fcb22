/* Error messages: formatted once, truncated rather than allocated. They may quote what a damaged
 * file holds, and are one line all the same, which does not steer the terminal. */
#include "util/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* What a static analyzer sees in their place is for those who call them (error.h). */
#undef error_set
#undef error_errno
#undef error_prefix

/* Bytes of the character at `at`; 0: it is malformed, or a control character. */
static size_t printable(const unsigned char *at) {
    const size_t length = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    if (*at < 0x20 || *at == 0x7f || *at > 0xf4 || (*at == 0xc2 && at[1] < 0xa0))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* White space of any kind becomes one space, what cannot be printed a '?'. Always false. */
static bool finish(struct error *error) {
    unsigned char *to = (unsigned char *)error->message;
    for (const unsigned char *from = to; *from;) {
        const size_t length = printable(from);
        const bool space = strchr("\n\r\t", *from);
        if (length)
            memmove(to, from, length);
        else if (!space || to == (unsigned char *)error->message || to[-1] != ' ')
            *to = space ? ' ' : '?';
        else
            to--;
        to += length ? length : 1;
        from += length ? length : 1;
    }
    *to = '\0';
    return false;
}

bool error_set(struct error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    error->number = 0;
    return finish(error);
}

/* The limit on the size of files, where it is what failed. */
static void add_limit(struct error *error) {
    struct rlimit limit;
    if (error->number != EFBIG || getrlimit(RLIMIT_FSIZE, &limit) ||
        limit.rlim_cur == RLIM_INFINITY)
        return;
    const size_t length = strlen(error->message);
    snprintf(error->message + length, sizeof error->message - length,
             ", the limit is %" PRIu64 " bytes (raise it: ulimit -f)", (uint64_t)limit.rlim_cur);
}

bool error_errno(struct error *error, const char *format, ...) {
    error->number = errno;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    size_t length = strlen(error->message);
    snprintf(error->message + length, sizeof error->message - length, ": %s",
             strerror(error->number));
    add_limit(error);
    return finish(error);
}

bool error_prefix(struct error *error, const char *format, ...) {
    char old[sizeof error->message];
    memcpy(old, error->message, sizeof old);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    size_t length = strlen(error->message);
    snprintf(error->message + length, sizeof error->message - length, ": %.*s",
             (int)(sizeof error->message - length), old);
    return finish(error);
}
