/* Both names are read from the end. What stands between angle brackets is skipped if only one of
 * the two has it, and so are the marks of an ABI ("f[abi:cxx11]"). */
#include "program/function_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A name's parts, each up to where the next begins. */
struct parts {
    const char *begin;
    const char *name_end; /* before the parameters */
    const char *end;      /* before what the compiler puts behind */
    const char *last;
};

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

static bool begins_with(const char *text, const char *end, const char *word) {
    const size_t length = strlen(word);
    return (size_t)(end - text) >= length && !memcmp(text, word, length);
}

static bool ends_with(const char *begin, const char *text, const char *word) {
    const size_t length = strlen(word);
    return (size_t)(text - begin) >= length && !memcmp(text - length, word, length);
}

/* Bytes of a suffix of GCC or LLVM at `text`: ".isra.0", ".cold"; 0: there is none. */
static size_t suffix_length(const char *text, const char *end) {
    static const char *const NUMBERED[] = {".constprop.", ".isra.",     ".part.",
                                           ".cold.",      ".lto_priv.", ".llvm."};
    static const char *const BARE[] = {".cold", ".localalias"};
    for (size_t i = 0; i < sizeof NUMBERED / sizeof *NUMBERED; i++) {
        const size_t word = strlen(NUMBERED[i]);
        size_t digits = 0;
        if (!begins_with(text, end, NUMBERED[i]))
            continue;
        while (text + word + digits < end && isdigit((unsigned char)text[word + digits]))
            digits++;
        if (digits)
            return word + digits;
    }
    for (size_t i = 0; i < sizeof BARE / sizeof *BARE; i++)
        if (begins_with(text, end, BARE[i]))
            return strlen(BARE[i]);
    return 0;
}

/* Nothing but suffixes is from `text` to `end`. */
static bool is_suffixes(const char *text, const char *end) {
    size_t length = 1;
    while (text < end && (length = suffix_length(text, end)))
        text += length;
    return length != 0;
}

/* Before suffixes as a demangler writes them (" [clone .isra.0]") or as they are. */
static const char *suffix_begin(const char *begin, const char *end) {
    static const char CLONE[] = " [clone .";
    for (const char *open; end > begin && end[-1] == ']'; end = open - 1) {
        open = opening(begin, end - 1, '[', ']');
        if (!open || open == begin || !begins_with(open - 1, end, CLONE))
            break;
    }
    for (const char *at = begin + 1; at < end; at++)
        if (*at == '.' && is_suffixes(at, end))
            return at;
    return end;
}

/* The end of a function's name: before its parameters and what is behind them, such as " const"; Go
 * has none, but "main.(*T).f". */
static const char *name_end(const char *begin, const char *end) {
    const char *close = memrchr(begin, ')', (size_t)(end - begin)), *open;
    const bool last = close && (close + 1 == end || close[1] == ' ' || close[1] == '[');
    if (!last || !(open = opening(begin, close, '(', ')')) || open == begin)
        return end;
    /* "operator()" has no parameters there. */
    return close == open + 1 && ends_with(begin, open, "operator") ? close + 1 : open;
}

static struct parts parts_of(const char *name, size_t length) {
    struct parts parts = {.begin = name, .last = name + length};
    parts.end = suffix_begin(name, parts.last);
    parts.name_end = name_end(name, parts.end);
    return parts;
}

/* The suffix as it is in the symbol table: without " [clone ". */
static void plain_suffix(const struct parts *parts, char *text, size_t size) {
    size_t length = 0;
    for (const char *at = parts->end; at < parts->last && length + 1 < size; at++) {
        if (begins_with(at, parts->last, " [clone "))
            at += sizeof " [clone " - 1;
        if (*at != ']')
            text[length++] = *at;
    }
    text[length] = 0;
}

static bool same_suffix(const struct parts *a, const struct parts *b) {
    char of_a[128], of_b[128];
    plain_suffix(a, of_a, sizeof of_a);
    plain_suffix(b, of_b, sizeof of_b);
    return !strcmp(of_a, of_b);
}

/* Where the brackets begin that end at `at`; NULL: none do. */
static const char *skipped(const char *begin, const char *at, const char *wanted_begin,
                           const char *wanted) {
    if (at[-1] == '>' && (wanted == wanted_begin || wanted[-1] != '>'))
        return opening(begin, at - 1, '<', '>');
    if (at[-1] == ']' && (wanted == wanted_begin || wanted[-1] != ']')) {
        const char *open = opening(begin, at - 1, '[', ']');
        return open && begins_with(open, at, "[abi:") ? open : NULL;
    }
    return NULL;
}

/* "<…>", as names are shortened, stands for any template arguments. Returns where it begins; NULL:
 * it is not there. */
static const char *any_arguments(const char *begin, const char *wanted) {
    static const char *const ANY[] = {"<…>", "<...>"};
    for (size_t i = 0; i < sizeof ANY / sizeof *ANY; i++)
        if (ends_with(begin, wanted, ANY[i]))
            return wanted - strlen(ANY[i]);
    return NULL;
}

static bool in_word(char byte) {
    return isalnum((unsigned char)byte) || byte == '_' || byte == '~' ||
           (unsigned char)byte >= 0x80;
}

/* Behind the return type: the last space that is in no bracket. An operator has spaces and brackets
 * of its own. */
static const char *scope_begin(const struct parts *parts) {
    static const char OPERATOR[] = "operator";
    const char *at = parts->name_end;
    for (const char *word = parts->begin; word < parts->name_end; word++)
        if (begins_with(word, parts->name_end, OPERATOR) &&
            (word == parts->begin || !in_word(word[-1])))
            at = word;
    for (; at > parts->begin && at[-1] != ' '; at--) {
        static const char OPEN[] = "<([{", CLOSE[] = ">)]}";
        const char *bracket = strchr(CLOSE, at[-1]);
        const char *open =
            bracket ? opening(parts->begin, at - 1, OPEN[bracket - CLOSE], *bracket) : at - 1;
        if (!open)
            return parts->begin;
        at = open + 1;
    }
    return at;
}

/* Where in the name that ends at `at` the wanted one begins; NULL: it does not end so. */
static const char *ending(const char *begin, const char *at, const char *wanted_begin,
                          const char *wanted) {
    while (wanted > wanted_begin) {
        const char *open, *any;
        if (at == begin)
            return NULL;
        if (at[-1] == '>' && (any = any_arguments(wanted_begin, wanted))) {
            if (!(at = opening(begin, at - 1, '<', '>')))
                return NULL;
            wanted = any;
        } else if ((open = skipped(begin, at, wanted_begin, wanted))) {
            at = open;
        } else if (*--at != *--wanted) {
            return NULL;
        }
    }
    return at == begin || !in_word(at[-1]) ? at : NULL;
}

/* Most functions have not even the longest word of the name, and are found out quickly. */
static bool has_longest_word(const char *function, const char *name, size_t length) {
    const char *longest = name;
    size_t most = 0;
    for (size_t at = 0, run = 0; at < length; at++) {
        run = in_word(name[at]) ? run + 1 : 0;
        if (run > most) {
            most = run;
            longest = name + at + 1 - run;
        }
    }
    return memmem(function, strlen(function), longest, most);
}

static const char *find_ending(const struct parts *has, const char *name, size_t length) {
    const struct parts wanted = parts_of(name, length);
    if (wanted.end == wanted.begin || (wanted.end < wanted.last && !same_suffix(has, &wanted)))
        return NULL;
    const bool parameters = wanted.name_end < wanted.end;
    return ending(has->begin, parameters ? has->end : has->name_end, wanted.begin, wanted.end);
}

bool function_ends_in(const char *function, const char *name, size_t length) {
    if (!function || !length || !has_longest_word(function, name, length))
        return false;
    const struct parts has = parts_of(function, strlen(function));
    return find_ending(&has, name, length);
}

bool function_is_scoped(const char *function, const char *name, size_t length) {
    if (!function || !length || !has_longest_word(function, name, length))
        return false;
    const struct parts has = parts_of(function, strlen(function));
    const char *at = find_ending(&has, name, length);
    return at && at <= scope_begin(&has);
}

/* ---- how it is named ---- */

/* The bytes from `from` to `end`, with template arguments or "<…>" in place of them. */
static void put_scoped(char *text, size_t size, const char *from, const char *end, bool arguments) {
    size_t length = 0;
    int depth = 0;
    for (; from < end && length + sizeof "<…>" < size; from++) {
        depth -= *from == '>' && depth > 0;
        if (arguments || depth == 0)
            text[length++] = *from;
        depth += *from == '<';
        if (!arguments && *from == '<' && depth == 1)
            length += (size_t)snprintf(text + length, size - length, "…");
    }
    text[length] = 0;
}

char *function_scoped_name(char *text, size_t size, const char *function) {
    const struct parts parts = parts_of(function, strlen(function));
    const char *from = scope_begin(&parts);
    char suffix[128];
    plain_suffix(&parts, suffix, sizeof suffix);
    const bool fits = (size_t)(parts.name_end - from) + strlen(suffix) + sizeof "<…>" < size;
    put_scoped(text, size, from, parts.name_end, fits);
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s", suffix);
    return text;
}

char *function_last_word(char *text, size_t size, const char *function) {
    const struct parts parts = parts_of(function, strlen(function));
    const char *end = parts.name_end;
    for (const char *open; end > parts.begin && (end[-1] == '>' || end[-1] == ']'); end = open)
        if (!(open = skipped(parts.begin, end, parts.begin, parts.begin)))
            break;
    const char *begin = end;
    while (begin > parts.begin && in_word(begin[-1]))
        begin--;
    snprintf(text, size, "%.*s", (int)(end - begin), begin);
    return text;
}
