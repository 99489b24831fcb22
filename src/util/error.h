/* Errors travel as return values: a function that can fail takes a `struct error *` as its last
 * argument and returns false (or NULL, or -1). The message is one line that says what failed, on
 * which input, and what to do; only src/cmd/ prints it. */
#pragma once

#include <stdbool.h>

struct error {
    char message[1024]; /* empty: no error */
    int number;         /* errno, if error_errno() set it; else 0 */
};

/* Sets the message, always one line without control characters whatever it quotes, and always
 * returns false, so that `return error_set(e, ...)` reads well. */
bool error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Like error_set, with ": " and strerror(errno) appended; of a file that is too large for the limit
 * of the process (ulimit -f), that limit as well. */
bool error_errno(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "format: " in front of the message that is already there. Returns false. */
bool error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same of functions that return a pointer: NULL. */
#define error_null(...) ((void)error_set(__VA_ARGS__), NULL)

#ifdef __clang_analyzer__ /* sees one file at a time, and would try what follows if they were true \
                           */
#define error_set(...)    (error_set(__VA_ARGS__), false)
#define error_errno(...)  (error_errno(__VA_ARGS__), false)
#define error_prefix(...) (error_prefix(__VA_ARGS__), false)
#endif
