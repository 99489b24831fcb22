/* The table of keys, and values as text. Numbers are read strictly (digits, then a suffix where the
 * type has one), range checked against the table, and printed so that reading them back gives the
 * same bits. Words come from the lists below, in the order of their enums. */
#include "machine/key.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "util/nearest.h"

/* Offsets within the structs of the sections that come by name. */
#define OFFSET_queue(field)   offsetof(struct machine_queue, field)
#define OFFSET_pool(field)    offsetof(struct machine_pool, field)
#define OFFSET_class(field)   offsetof(struct machine_class, field)
#define OFFSET_(field)        offsetof(struct machine, field)
#define OFFSET_core(field)    OFFSET_(field)
#define OFFSET_branch(field)  OFFSET_(field)
#define OFFSET_opcache(field) OFFSET_(field)
#define OFFSET_l1i(field)     OFFSET_(field)
#define OFFSET_l1d(field)     OFFSET_(field)
#define OFFSET_l2(field)      OFFSET_(field)
#define OFFSET_llc(field)     OFFSET_(field)
#define OFFSET_itlb(field)    OFFSET_(field)
#define OFFSET_dtlb(field)    OFFSET_(field)
#define OFFSET_l2tlb(field)   OFFSET_(field)
#define OFFSET_tlb(field)     OFFSET_(field)
#define OFFSET_dram(field)    OFFSET_(field)
#define OFFSET_chip(field)    OFFSET_(field)

#define KEY(section, name, field, type, standard, min, max, unit, meaning)                         \
    {#section, #name, KEY_##type, OFFSET_##section(field), standard, min, max, unit, meaning},
const struct key KEYS[] = {
#include "machine/machine.def"
};
#undef KEY
const size_t KEY_COUNT = sizeof KEYS / sizeof KEYS[0];

static const char *const FLAG_WORDS[] = {"no", "yes", NULL};
static const char *const ISA_WORDS[] = {"any", "x86-64", "riscv64", NULL};
static const char *const DIRECTION_WORDS[] = {"perfect",
#define PREDICTOR(value, word) #word,
#include "machine/predictors.def"
#undef PREDICTOR
                                              NULL};
static const char *const DISAMBIGUATION_WORDS[] = {"perfect", "speculate", "wait_table", NULL};
static const char *const REPLACEMENT_WORDS[] = {"lru", "plru", "random", NULL};
static const char *const PREFETCHER_WORDS[] = {"none",
#define PREFETCHER(value, word, in_page, by_instruction) #word,
#include "machine/prefetchers.def"
#undef PREFETCHER
                                               NULL};
const struct prefetcher_row machine_prefetchers[PREFETCHER_KINDS] = {
    {"none", false, false},
#define PREFETCHER(value, word, in_page, by_instruction) {#word, in_page, by_instruction},
#include "machine/prefetchers.def"
#undef PREFETCHER
};

/* The words a key may have, NULL when it is no choice. */
static const char *const *words_of(const struct key *key) {
    switch (key->type) {
    case KEY_FLAG:
        return FLAG_WORDS;
    case KEY_ISA:
        return ISA_WORDS;
    case KEY_DIRECTION:
        return DIRECTION_WORDS;
    case KEY_DISAMBIGUATION:
        return DISAMBIGUATION_WORDS;
    case KEY_REPLACEMENT:
        return REPLACEMENT_WORDS;
    case KEY_PREFETCHER:
        return PREFETCHER_WORDS;
    default:
        return NULL;
    }
}

static int word_count(const char *const *words) {
    int count = 0;
    while (words[count])
        count++;
    return count;
}

/* ---- fields ---- */

/* Choices are stored as the index of the word, but for isa, which is stored as the word. */
static double field_get(const struct key *key, const void *object) {
    const void *field = (const char *)object + key->offset;
    switch (key->type) {
    case KEY_SIZE64:
        return (double)*(const uint64_t *)field;
    case KEY_REAL:
        return *(const double *)field;
    case KEY_FLAG:
        return *(const bool *)field;
    case KEY_ISA:
        for (int i = 0; ISA_WORDS[i]; i++)
            if (!strcmp(field, ISA_WORDS[i]))
                return i;
        return -1;
    case KEY_TEXT:
        return 0;
    default:
        return *(const uint32_t *)field;
    }
}

static void field_set(const struct key *key, void *object, double value) {
    void *field = (char *)object + key->offset;
    switch (key->type) {
    case KEY_SIZE64:
        *(uint64_t *)field = (uint64_t)value;
        break;
    case KEY_REAL:
        *(double *)field = value;
        break;
    case KEY_FLAG:
        *(bool *)field = value != 0;
        break;
    case KEY_ISA:
        strncpy(field, ISA_WORDS[(int)value], sizeof((struct machine *)0)->isa);
        break;
    case KEY_TEXT:
        memset(field, 0, (size_t)key->max + 1);
        break;
    default:
        *(uint32_t *)field = (uint32_t)value;
        break;
    }
}

double key_number(const struct key *key, const void *object) {
    return field_get(key, object);
}

void key_reset(const struct key *key, void *object) {
    field_set(key, object, key->standard);
}

/* ---- text to value ---- */

static void format_number(const struct key *key, double value, char *text, size_t size) {
    if (key->type == KEY_REAL) {
        int digits = 1;
        do
            snprintf(text, size, "%.*g", digits, value);
        while (digits++ < 17 && strtod(text, NULL) != value);
        if (strchr(text, 'e') && value >= 1 && value < 1e15)
            snprintf(text, size, "%.15g", value); /* 10000, not 1e+04 */
        return;
    }
    uint64_t whole = value < 0 ? 0 : (uint64_t)value;
    static const char SUFFIXES[] = " KMG";
    int suffix = 0;
    if (key->type == KEY_SIZE32 || key->type == KEY_SIZE64)
        for (; whole && whole % 1024 == 0 && suffix < 3; suffix++)
            whole /= 1024;
    snprintf(text, size, "%llu%.*s", (unsigned long long)whole, suffix > 0, SUFFIXES + suffix);
}

/* "allowed: ..." for values of the key. Always false. */
static bool error_allowed(const struct key *key, struct error *error) {
    const char *const *words = words_of(key);
    if (words) {
        char list[VALUE_SIZE] = "";
        for (size_t i = 0, length = 0; words[i]; i++)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "",
                                       words[i]);
        return error_set(error, "allowed: %s", list);
    }
    if (key->type == KEY_TEXT)
        return error_set(error, "allowed: up to %d bytes of text without ';'", (int)key->max);
    char min[32], max[32];
    format_number(key, key->min, min, sizeof min);
    format_number(key, key->max, max, sizeof max);
    return error_set(error, "allowed: %s to %s%s%s%s", min, max, *key->unit ? " " : "", key->unit,
                     key->type == KEY_REAL ? "" : ", a whole number");
}

static bool read_whole(const struct key *key, const char *text, double *value) {
    if (!isdigit((unsigned char)*text))
        return false;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || number > 1ull << 53)
        return false;
    *value = (double)number;
    if (*end && key->type != KEY_NUMBER) {
        const char *suffix = strchr("KMG", toupper((unsigned char)*end));
        if (!suffix)
            return false;
        *value = ldexp(*value, 10 * (int)(suffix - "KMG" + 1));
        end++;
    }
    return !*end;
}

static bool read_real(const char *text, double *value) {
    if (!*text || text[strspn(text, "0123456789.eE+-")])
        return false;
    char *end;
    *value = strtod(text, &end);
    return !*end && isfinite(*value);
}

static bool read_text(const struct key *key, void *object, const char *text) {
    size_t length = strlen(text);
    if (length > (size_t)key->max || strchr(text, ';'))
        return false;
    for (size_t i = 0; i < length; i++)
        if (iscntrl((unsigned char)text[i]))
            return false;
    void *field = (char *)object + key->offset;
    memset(field, 0, (size_t)key->max + 1);
    memcpy(field, text, length);
    return true;
}

bool key_parse(const struct key *key, void *object, const char *text, struct error *error) {
    double value;
    const char *const *words = words_of(key);
    if (words) {
        for (int i = 0; words[i]; i++)
            if (!strcmp(text, words[i])) {
                field_set(key, object, i);
                return true;
            }
        return error_allowed(key, error);
    }
    if (key->type == KEY_TEXT)
        return read_text(key, object, text) || error_allowed(key, error);
    bool read = key->type == KEY_REAL ? read_real(text, &value) : read_whole(key, text, &value);
    if (!read || value < key->min || value > key->max)
        return error_allowed(key, error);
    field_set(key, object, value);
    return true;
}

bool key_check(const struct key *key, const void *object, struct error *error) {
    if (key->type == KEY_TEXT || key->type == KEY_QUEUE || key->type == KEY_POOL)
        return true;
    const char *const *words = words_of(key);
    double value = field_get(key, object), max = words ? word_count(words) - 1 : key->max;
    return (value >= key->min && value <= max) || error_allowed(key, error);
}

void key_format(const struct key *key, const void *object, char text[VALUE_SIZE]) {
    const char *const *words = words_of(key);
    double value = field_get(key, object);
    if (key->type == KEY_TEXT)
        snprintf(text, VALUE_SIZE, "%.*s", (int)key->max, (const char *)object + key->offset);
    else if (words && value >= 0 && value < word_count(words))
        snprintf(text, VALUE_SIZE, "%s", words[(int)value]);
    else
        format_number(key, value, text, VALUE_SIZE);
}

/* ---- names ---- */

const struct key *key_find(const char *section, const char *full_section, const char *name,
                           struct error *error) {
    const char *names[64], *sections[64];
    size_t name_count = 0, section_count = 0;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (!i || strcmp(KEYS[i].section, KEYS[i - 1].section))
            sections[section_count++] = KEYS[i].section;
        if (strcmp(KEYS[i].section, section))
            continue;
        if (!strcmp(KEYS[i].name, name))
            return &KEYS[i];
        names[name_count++] = KEYS[i].name;
    }
    char list[512] = "";
    size_t length = 0;
    const char *nearest;
    if (!name_count) {
        nearest = nearest_word(section, sections, section_count);
        for (size_t i = 1; i < section_count; i++)
            length += (size_t)snprintf(
                list + length, sizeof list - length, "%s%s%s", i > 1 ? ", " : "", sections[i],
                !strcmp(sections[i], "queue") || !strcmp(sections[i], "pool") ? ".NAME"
                : !strcmp(sections[i], "class")                               ? ".OPERATION"
                                                                              : "");
        return error_null(error, "no section [%.40s]%s%s%s; sections: %s", full_section,
                          nearest && *nearest ? "; did you mean [" : "",
                          nearest && *nearest ? nearest : "", nearest && *nearest ? "]?" : "",
                          list);
    }
    for (size_t i = 0; i < name_count && length < sizeof list; i++)
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", names[i]);
    if (length >= sizeof list)
        snprintf(list, sizeof list, "see 'culprit machines show zen4'");
    nearest = nearest_word(name, names, name_count);
    return error_null(error, "no key %.60s in %s%.40s%s%s%s%s; keys: %s", *name ? name : "''",
                      *section ? "[" : "", *section ? full_section : "front of the first section",
                      *section ? "]" : "", nearest ? "; did you mean " : "", nearest ? nearest : "",
                      nearest ? "?" : "", list);
}
