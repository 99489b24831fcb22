/* A name is taken apart at the brackets: what is called, its parameters, its template arguments.
 * Each form leaves out more than the one before. Names whose forms are the same then get a window
 * of the whole name instead: its end, or what follows the beginning that they have in common. */
#include "report/short_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/order.h"
#include "util/text.h"

const char short_name_outside[] = ", no function";

static const char ELLIPSIS[] = "…";

/* ---- taking a name apart ---- */

static bool begins(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

/* Bytes of an operator's name, "operator()" or "operator<<", which are no brackets; 0: none. */
static size_t operator_length(const char *name, const char *at) {
    static const char WORD[] = "operator";
    if (!begins(at, WORD) || (at > name && at[-1] != ':' && at[-1] != ' '))
        return 0;
    size_t length = strlen(WORD);
    if (begins(at + length, "()"))
        return length + 2;
    size_t signs = strspn(at + length, "<>=-");
    return signs ? length + signs : 0;
}

/* The end of what an opening bracket at `at` begins: behind its closing one, or the end. */
static const char *behind_bracket(const char *name, const char *at) {
    int depth = 0;
    for (; *at; at++) {
        size_t operator= operator_length(name, at);
        if (operator) {
            at += operator- 1;
            continue;
        }
        bool arrow = *at == '>' && at > name && (at[-1] == '-' || at[-1] == '=');
        if (*at && strchr("(<[{", *at))
            depth++;
        else if (*at && strchr(")>]}", *at) && !arrow && --depth == 0)
            return at + 1;
    }
    return at;
}

/* Parentheses that are a part of what is called: "(anonymous namespace)", Go's "(*conn)", and those
 * of a function that a lambda or a class lies in, "f(int)::{lambda()#1}". */
static bool is_scope(const char *name, const char *at) {
    return begins(at, "(anonymous namespace)") || begins(at, "(*") ||
           begins(behind_bracket(name, at), "::");
}

/* Appends bytes [from, to) to a form. */
static void append(char *form, size_t *length, const char *from, const char *to) {
    memcpy(form + *length, from, (size_t)(to - from));
    *length += (size_t)(to - from);
    form[*length] = 0;
}

/* What is called, without its parameters and what stands before it, its type: template arguments
 * that lie deeper than `depth` brackets are "…". `form` has room for the name and as much again
 * for each bracket. */
static void make_form(const char *name, unsigned depth, char *form) {
    size_t length = 0, type = 0;
    unsigned inside = 0;
    bool called = false; /* parameters follow, so that a type may stand before */
    form[0] = 0;
    for (const char *at = name; *at;) {
        size_t operator= operator_length(name, at);
        const char *next = at + (operator ? operator : 1);
        if (!operator&& * at == '(' && !inside && !is_scope(name, at) && at > name) {
            called = true;
            break;
        }
        if (!operator&&(*at == '(' || *at == '{' || *at == '[')) {
            next = behind_bracket(name, at);
        } else if (!operator&& * at == '<' && at> name && inside >= depth) {
            const char *behind = behind_bracket(name, at), closing = '>';
            append(form, &length, at, at + 1);
            append(form, &length, ELLIPSIS, ELLIPSIS + strlen(ELLIPSIS));
            append(form, &length, &closing, &closing + 1);
            at = behind;
            continue;
        } else if (!operator&& * at == '<') {
            inside++;
        } else if (!operator&& * at == '>' && inside) {
            inside--;
        } else if (!operator&& * at == ' ' && !inside) {
            /* "void f<int>(int)", but not "operator new(unsigned long)", "operator<< <int>(int)" */
            if (*next != '<' && (length < 8 || strcmp(form + length - 8, "operator") != 0))
                type = length + 1;
        }
        append(form, &length, at, next);
        at = next;
    }
    if (called && type && type < length)
        memmove(form, form + type, length - type + 1);
}

/* What of a place is kept: "+0x98e2f", ", no function"; NULL: it is no place. */
static const char *end_of_place(const char *name) {
    const char *offset = strrchr(name, '+'), *outside = strstr(name, short_name_outside);
    if (outside && !outside[strlen(short_name_outside)])
        return outside;
    if (!offset || offset == name || !begins(offset, "+0x") || !offset[3] ||
        strspn(offset + 3, "0123456789abcdef") != strlen(offset + 3))
        return NULL;
    return offset;
}

/* ---- cutting ---- */

/* Bytes of the character at `at`. */
static size_t character(const char *at) {
    size_t size = 1;
    while ((at[size] & 0xc0) == 0x80)
        size++;
    return size;
}

/* The last `columns` of a name, "…" included. */
static void cut_front(const char *name, unsigned columns, char *cut, size_t size) {
    unsigned width = text_columns(name) + 1;
    while (*name && width > columns) {
        char one[8];
        size_t taken = character(name);
        snprintf(one, sizeof one, "%.*s", (int)taken, name);
        width -= text_columns(one);
        name += taken;
    }
    snprintf(cut, size, "%s%s", ELLIPSIS, name);
}

/* Where what follows a separator of scopes at `at` begins: "::", or one of the signs; NULL: it is
 * none. */
static const char *behind_scope(const char *at, const char *signs) {
    if (begins(at, "::"))
        return at + 2;
    return strchr(signs, *at) ? at + 1 : NULL;
}

/* Scopes that there is no room for are left out; then the end of what is called. */
static void cut_scopes(const char *form, unsigned columns, char *cut, size_t size) {
    /* Go's packages, and methods of its types; not the path of a script behind its function. */
    const char *signs = strpbrk(form, " :") ? "" : strstr(form, ".(") ? "/." : "/";
    const char *last = form;
    int depth = 0;
    for (const char *at = form; *at; at++) {
        depth += strchr("(<[{", *at) ? 1 : 0;
        depth -= strchr(")>]}", *at) && depth > 0 ? 1 : 0;
        const char *rest = depth == 0 ? behind_scope(at, signs) : NULL;
        if (rest && text_columns(rest) + 1 <= columns) {
            snprintf(cut, size, "%s%s", ELLIPSIS, rest);
            return;
        }
        last = rest ? rest : last;
    }
    text_clip(cut, size, last, columns);
}

static void cut_place(const char *name, const char *end, unsigned columns, char *cut, size_t size) {
    char *image = strndup(name, (size_t)(end - name));
    unsigned kept = text_columns(end);
    if (!image || kept + 2 > columns) {
        cut_front(name, columns, cut, size);
    } else {
        text_clip(cut, size, image, columns - kept);
        strncat(cut, end, size - strlen(cut) - 1);
    }
    free(image);
}

/* Deeper than any that is worth reading. */
enum { DEEPEST = 4 };

struct shortened {
    const char *name, *called, *shown; /* the whole, without parameters, and as it is shown */
    const char *key;                   /* what tells it from others */
    size_t index;
};

static const char *keep(const char *text, struct arena *arena) {
    return arena_copy(arena, text, strlen(text));
}

/* The longest form that fits. False: out of memory. */
static bool shorten(struct shortened *item, unsigned columns, struct arena *arena) {
    const char *name = item->name, *end = end_of_place(name);
    size_t size = 4 * strlen(name) + 16;
    char *form = malloc(2 * size), *cut = form ? form + size : NULL;
    if (!form)
        return false;
    make_form(name, DEEPEST, form);
    item->called = keep(form, arena);
    for (unsigned depth = DEEPEST; text_columns(form) > columns && depth-- > 0;)
        make_form(name, depth, form);
    if (text_columns(name) <= columns)
        text_clean(cut, size, name);
    else if (end)
        cut_place(name, end, columns, cut, size);
    else if (text_columns(form) <= columns)
        text_clean(cut, size, form);
    else
        cut_scopes(form, columns, cut, size);
    item->shown = keep(cut, arena);
    free(form);
    return item->called && item->shown;
}

/* ---- telling names apart ---- */

ORDER(by_shown, struct shortened, strcmp(a->shown, b->shown) ?: strcmp(a->name, b->name))

ORDER(by_key, struct shortened, strcmp(a->key, b->key) ?: strcmp(a->name, b->name))

/* Names without parameters, where these already differ, else the whole. In order. */
static void choose_keys(struct shortened *items, size_t count) {
    bool enough = true;
    for (size_t i = 0; i < count; i++)
        items[i].key = items[i].called;
    qsort(items, count, sizeof *items, by_key);
    for (size_t i = 1; i < count; i++)
        enough &= strcmp(items[i].key, items[i - 1].key) != 0 ||
                  !strcmp(items[i].name, items[i - 1].name);
    for (size_t i = 0; !enough && i < count; i++)
        items[i].key = items[i].name;
    if (!enough)
        qsort(items, count, sizeof *items, by_key);
}

/* Where the keys, which are sorted, begin to differ: at the beginning of that word, if it is near.
 */
static size_t first_difference(const struct shortened *items, size_t count, unsigned columns) {
    const char *first = items[0].key, *last = items[count - 1].key;
    size_t common = 0;
    while (first[common] && first[common] == last[common])
        common++;
    while (common && (first[common] & 0xc0) == 0x80)
        common--;
    size_t word = common;
    while (word && (isalnum((unsigned char)first[word - 1]) || first[word - 1] == '_'))
        word--;
    return common - word <= columns / 2 ? word : common;
}

/* Shows the ends of the keys. False: these are the same, or out of memory. */
static bool show_ends(struct shortened *items, size_t count, unsigned columns,
                      struct arena *arena) {
    bool differ = true;
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(items[i].key) + 8;
        char *cut = arena_alloc(arena, size);
        if (!cut)
            return false;
        if (text_columns(items[i].key) <= columns)
            text_clean(cut, size, items[i].key);
        else
            cut_front(items[i].key, columns, cut, size);
        items[i].shown = cut;
        for (size_t k = i; differ && k-- > 0;)
            differ =
                !strcmp(items[k].key, items[i].key) || strcmp(items[k].shown, items[i].shown) != 0;
    }
    return differ;
}

/* Shows the keys from where they begin to differ; those that look the same there, too, differ only
 * further on. */
static bool show_differences(struct shortened *items, size_t count, unsigned columns,
                             struct arena *arena) {
    size_t common = first_difference(items, count, columns);
    for (size_t i = 0; i < count; i++) {
        const char *from = items[i].key + (common < strlen(items[i].key) ? common : 0);
        size_t size = strlen(from) + 16;
        char *cut = arena_alloc(arena, size);
        if (!cut)
            return false;
        strcpy(cut, ELLIPSIS);
        text_clip(cut + strlen(ELLIPSIS), size - strlen(ELLIPSIS), from, columns - 1);
        items[i].shown = cut;
    }
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && !strcmp(items[end].shown, items[i].shown);)
            end++;
        if (strcmp(items[i].key, items[end - 1].key) != 0 && end - i < count &&
            !show_differences(items + i, end - i, columns, arena))
            return false;
    }
    return true;
}

bool short_names(const char **names, size_t count, unsigned columns, struct arena *arena) {
    enum { FEW = 64 }; /* of which each is compared with each */
    struct shortened *items = calloc(count + 1, sizeof *items);
    bool good = items;
    for (size_t i = 0; good && i < count; i++) {
        items[i] = (struct shortened){.name = names[i], .index = i};
        good = shorten(&items[i], columns, arena);
    }
    if (good)
        qsort(items, count, sizeof *items, by_shown);
    for (size_t i = 0, end; good && i < count; i = end) {
        for (end = i + 1; end < count && !strcmp(items[end].shown, items[i].shown);)
            end++;
        if (columns < 2 || !strcmp(items[i].name, items[end - 1].name))
            continue;
        choose_keys(items + i, end - i);
        if (end - i > FEW || !show_ends(items + i, end - i, columns, arena))
            good = show_differences(items + i, end - i, columns, arena);
    }
    for (size_t i = 0; good && i < count; i++)
        names[items[i].index] = items[i].shown;
    free(items);
    return good;
}

char *short_name(const char *name, unsigned columns, char *text, size_t size) {
    struct arena arena = {0};
    short_names(&name, 1, columns, &arena);
    text_clip(text, size, name, columns);
    arena_free(&arena);
    return text;
}
