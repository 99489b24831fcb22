/* NAME=PART[,PART...][:CHANGE][@PLACE[,PLACE...]], each piece cut off from behind. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/category.h"

#define BIT(part) (UINT64_C(1) << (part))

/* Beside the standard categories and operations. */
static const struct {
    const char *name;
    enum graph_part part;
} PARTS[] = {{"icache", GRAPH_PART_FETCH_CACHE}, {"itlb", GRAPH_PART_FETCH_TLB},
             {"dtlb", GRAPH_PART_WALK},          {"l2", GRAPH_PART_MISS_L2},
             {"llc", GRAPH_PART_MISS_LLC},       {"dram", GRAPH_PART_MISS_DRAM},
             {"write", GRAPH_PART_WRITE}};
enum { OWN_PARTS = sizeof PARTS / sizeof *PARTS };

static bool executes(unsigned operation) {
    return operation != OP_NOP && operation != OP_LOAD && operation != OP_STORE &&
           operation != OP_SYSTEM && operation != OP_CLOCK;
}

/* The parts of that name; 0: there is none. */
static uint64_t parts_named(const char *name, size_t length) {
    struct categories standard;
    categories_standard(&standard);
    for (uint32_t i = 0; i < standard.count; i++)
        if (strlen(standard.list[i].name) == length && !memcmp(standard.list[i].name, name, length))
            return standard.list[i].parts;
    for (size_t i = 0; i < OWN_PARTS; i++)
        if (strlen(PARTS[i].name) == length && !memcmp(PARTS[i].name, name, length))
            return BIT(PARTS[i].part);
    for (unsigned i = 0; i < OP_COUNT; i++) {
        const char *operation = operation_name((enum operation)i);
        if (executes(i) && strlen(operation) == length && !memcmp(operation, name, length))
            return BIT((unsigned)GRAPH_PART_OPERATION + i);
    }
    return 0;
}

/* "imiss, dmiss ..." */
static void list_parts(char *text, size_t size) {
    struct categories standard;
    size_t used = 0;
    categories_standard(&standard);
    for (uint32_t i = 0; i < standard.count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s ", standard.list[i].name);
    for (size_t i = 0; i < OWN_PARTS; i++)
        used += (size_t)snprintf(text + used, size - used, "%s ", PARTS[i].name);
    for (unsigned i = 0; i < OP_COUNT; i++)
        if (executes(i))
            used += (size_t)snprintf(text + used, size - used, "%s ",
                                     operation_name((enum operation)i));
    text[used - 1] = 0;
}

static bool take_parts(struct category *category, const char *text, size_t length,
                       struct error *error) {
    for (const char *end = text + length; text <= end;) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        size_t one = (size_t)((comma ? comma : end) - text);
        uint64_t parts = parts_named(text, one);
        if (!parts) {
            char known[400];
            list_parts(known, sizeof known);
            return error_set(error, "no such part: '%.*s': choose from %s", (int)one, text, known);
        }
        category->parts |= parts;
        text += one + 1;
    }
    return true;
}

/* "-2": cycles faster; "50%": so much is left. */
static bool take_change(struct category *category, const char *text, size_t length,
                        struct error *error) {
    const char *digits = *text == '-' ? text + 1 : text;
    char *end = NULL;
    unsigned long amount = isdigit((unsigned char)*digits) ? strtoul(digits, &end, 10) : 0;
    bool whole = end && amount <= UINT16_MAX;
    category->amount = (uint32_t)amount;
    if (whole && *text == '-' && end == text + length && amount) {
        category->change = CATEGORY_FASTER;
        return true;
    }
    if (whole && *text != '-' && *end == '%' && end + 1 == text + length) {
        category->change = CATEGORY_SCALE;
        return true;
    }
    return error_set(error, "':%.*s': -N for N cycles faster, N%% for what is left of it",
                     (int)length, text);
}

static bool parse(struct category *category, const char *text, const char **places,
                  struct error *error) {
    const char *equals = strchr(text, '='), *at = strchr(text, '@');
    if (equals && at && equals > at)
        equals = NULL;
    const char *name_end = equals ? equals : text + strcspn(text, ":@");
    size_t name = (size_t)(name_end - text);
    if (name == 0 || name >= sizeof category->name || memchr(text, '+', name))
        return error_set(error, "a name of 1 to %d characters, none of them +",
                         CATEGORY_NAME_BYTES - 1);
    memcpy(category->name, text, name);
    const char *parts = equals ? equals + 1 : text, *end = at ? at : parts + strlen(parts);
    const char *colon = memchr(parts, ':', (size_t)(end - parts));
    *places = at ? at + 1 : NULL;
    if (!take_parts(category, parts, (size_t)((colon ? colon : end) - parts), error) ||
        (colon && !take_change(category, colon + 1, (size_t)(end - colon - 1), error)))
        return false;
    if (!at)
        return true;
    if (!at[1])
        return error_set(error, "no function, line or address after the @");
    category->insn_count = CATEGORY_INSNS;
    category->insns = calloc(CATEGORY_INSNS / 32, sizeof *category->insns);
    return category->insns || error_set(error, "out of memory");
}

bool categories_parse(struct categories *categories, const char *text, const char **places,
                      struct error *error) {
    struct category category = {0};
    if (!parse(&category, text, places, error)) {
        free(category.insns);
        return false;
    }
    for (uint32_t i = 0; i < categories->count; i++)
        if (!strcmp(categories->list[i].name, category.name)) {
            free(category.insns);
            return error_set(error, "two categories are named %s", category.name);
        }
    return categories_add(categories, &category, error);
}
