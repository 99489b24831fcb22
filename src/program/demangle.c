/* The demanglers are GCC's, from libiberty (Debian: libiberty-dev), whose two files carry a
 * permission to be linked into anything. Their callback interface holds no heap memory, so the
 * callback may leave by longjmp: a few hundred bytes of hostile name can expand through back
 * references to 2^100 characters, and the callback is the only place to stop that. */
#include "program/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include <libiberty/demangle.h>

enum {
    /* The demangler refuses longer names unless told not to limit its recursion; */
    UNLIMITED_NAME_BYTES = 1024,
    /* up to here its recursion (at most a few frames a character) fits any thread's stack. */
    LONGEST_NAME_BYTES = 4096,
    LONGEST_OUTPUT_BYTES = 16384
};

struct output {
    jmp_buf too_long;
    size_t length;
    char text[LONGEST_OUTPUT_BYTES];
};

static void output_append(const char *text, size_t length, void *opaque) {
    struct output *output = opaque;
    if (length > sizeof output->text - output->length)
        longjmp(output->too_long, 1);
    memcpy(output->text + output->length, text, length);
    output->length += length;
}

static bool demangle_rust(const char *name, struct output *output) {
    output->length = 0;
    if (setjmp(output->too_long))
        return false;
    return rust_demangle_callback(name, 0, output_append, output) && output->length;
}

static bool demangle_cplusplus(const char *name, size_t length, struct output *output) {
    output->length = 0;
    if (setjmp(output->too_long))
        return false;
    int options = DMGL_PARAMS | DMGL_ANSI;
    if (length > UNLIMITED_NAME_BYTES / 2)
        options |= DMGL_NO_RECURSE_LIMIT;
    return cplus_demangle_v3_callback(name, options, output_append, output) && output->length;
}

/* Bytes of the name without its symbol version and without LLVM's suffix on Rust names. */
static size_t plain_length(const char *name) {
    const char *version = name[0] ? strchr(name + 1, '@') : NULL;
    const char *llvm = strstr(name, ".llvm.");
    size_t length = version ? (size_t)(version - name) : strlen(name);
    return llvm && llvm > name && (size_t)(llvm - name) < length ? (size_t)(llvm - name) : length;
}

const char *demangle(struct arena *arena, const char *name) {
    size_t length = plain_length(name);
    const char *plain = name;
    if (name[length]) {
        plain = arena_copy(arena, name, length);
        if (!plain)
            return name;
    }
    bool rust = plain[0] == '_' && plain[1] == 'R';
    bool itanium = plain[0] == '_' && plain[1] == 'Z';
    if ((!rust && !itanium) || length > LONGEST_NAME_BYTES)
        return plain;
    struct output output;
    if (!demangle_rust(plain, &output) && !(itanium && demangle_cplusplus(plain, length, &output)))
        return plain;
    const char *copy = arena_copy(arena, output.text, output.length);
    return copy ? copy : plain;
}
