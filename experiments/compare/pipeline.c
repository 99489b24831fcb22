/* A program of several functions, of which one is changed: lines of a name and a number are read,
 * counted in a table by name, sorted and printed; -DCHANGE_... says which change. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 12000, NAMES = 3000, BUCKETS = 4096, TEXT = LINES * 24 };
struct entry {
    uint64_t total;
    uint32_t count;
    struct entry *next;
    char name[12];
#ifdef CHANGE_FIELD
    char note[96];
#endif
};
struct line {
    char name[12];
    uint32_t value;
    char rest[112];
};
static char text[TEXT], printed[NAMES * 40];
static struct entry entries[NAMES], *buckets[BUCKETS], *sorted[NAMES], *spare[NAMES];
static uint32_t entry_count;
uint32_t sum_bytes(const unsigned char *bytes, size_t size); /* pipeline_sum.c */

static uint32_t next_random(uint32_t *state) {
    return *state = *state * 1664525u + 1013904223u;
}

#ifdef UNUSED
__attribute__((noinline)) uint32_t count_vowels(const char *from, size_t size) {
    uint32_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += strchr("aeiou", from[i]) != NULL;
    return count;
}
char table_of_nothing[200] = "begins the data";
#endif

static __attribute__((noinline)) size_t make_text(void) {
    uint32_t state = 7;
    size_t at = 0;
    for (int i = 0; i < LINES; i++) {
        uint32_t name = next_random(&state) >> 8;
        for (name = name % NAMES + 20000; name; name /= 26)
            text[at++] = (char)('a' + name % 26);
        text[at++] = ' ';
        for (uint32_t value = next_random(&state) >> 18; value; value /= 10)
            text[at++] = (char)('0' + value % 10);
        text[at++] = '\n';
    }
    return at;
}

/* ---- reading ---- */

static __attribute__((noinline)) const char *parse(const char *at, struct line *line) {
    int i = 0;
#ifdef CHANGE_CHECK
    while (*at != ' ') {
        if (at < text || at >= text + TEXT || i < 0 || i >= 11) /* here CHANGE_CHECK */
            abort();                                            /* here CHANGE_CHECK */
        if (*at < 'a' || *at > 'z' || line == NULL)             /* here CHANGE_CHECK */
            abort();                                            /* here CHANGE_CHECK */
        line->name[i++] = *at++;                                /* here CHANGE_CHECK */
    }
#else
    while (*at != ' ')           /* here CHANGE_CHECK */
        line->name[i++] = *at++; /* here CHANGE_CHECK */
#endif
    line->name[i] = 0;
    line->value = 0;
    for (at++; *at != '\n'; at++)
        line->value = line->value * 10 + (uint32_t)(*at - '0');
    return at + 1;
}

static __attribute__((noinline)) uint32_t hash(const char *name) {
#ifdef CHANGE_HASH
    return ((unsigned char)name[0] + (unsigned char)name[1] * 2u) % BUCKETS;
#else
    uint32_t value = 5381;
    while (*name)
        value = value * 33 + (unsigned char)*name++;
    return (value ^ value >> 12) % BUCKETS;
#endif
}

static __attribute__((noinline)) struct entry *find(const char *name) {
    struct entry **at = &buckets[hash(name)];
    while (*at && strcmp((*at)->name, name) != 0) /* here CHANGE_HASH CHANGE_FIELD */
        at = &(*at)->next;                        /* here CHANGE_HASH CHANGE_FIELD */
    if (!*at) {
        *at = &entries[entry_count++];
        strcpy((*at)->name, name);
    }
    return *at; /* here CHANGE_FIELD */
}

#ifdef CHANGE_COPY
static __attribute__((noinline)) void add(struct line line) { /* here CHANGE_COPY */
    struct entry *entry = find(line.name);
    entry->total += line.value;
    entry->count++;
}
#else
static __attribute__((noinline)) void add(const struct line *line) {
    struct entry *entry = find(line->name);
    entry->total += line->value; /* here CHANGE_FIELD */
    entry->count++;              /* here CHANGE_FIELD */
}
#endif

static __attribute__((noinline)) void read_lines(const char *from, size_t size) {
    const char *end = from + size;
#ifndef CHANGE_ALLOCATION
    struct line *line = malloc(sizeof *line);
#endif
    while (from < end) {
#ifdef CHANGE_ALLOCATION
        struct line *line = calloc(8, sizeof *line);
#endif
        from = parse(from, line);
#ifdef CHANGE_COPY
        add(*line); /* here CHANGE_COPY */
#else
        add(line); /* here CHANGE_COPY */
#endif
#ifdef CHANGE_ALLOCATION
        free(line);
#endif
    }
#ifndef CHANGE_ALLOCATION
    free(line);
#endif
}

/* ---- sorting ---- */

static __attribute__((noinline)) void merge(struct entry **from, struct entry **to, size_t count) {
    const size_t half = count / 2;
    for (size_t i = 0, left = 0, right = half; i < count; i++)
        if (right == count || (left < half && from[left]->total <= from[right]->total))
            to[i] = from[left++];
        else
            to[i] = from[right++];
    memcpy(from, to, count * sizeof *from);
}

static __attribute__((noinline)) void sort(struct entry **from, struct entry **room, size_t count) {
    if (count < 2)
        return;
    sort(from, room, count / 2);
    sort(from + count / 2, room, count - count / 2);
    merge(from, room, count);
}

/* ---- printing ---- */

static __attribute__((noipa)) char *put_number(char *at, uint64_t number, uint64_t base) {
    char digits[24];
    int count = 0;
#ifdef CHANGE_DIVISION
    do
        digits[count++] = (char)('0' + number % base); /* here CHANGE_DIVISION */
    while (number /= base);                            /* here CHANGE_DIVISION */
#else
    (void)base;
    do
        digits[count++] = (char)('0' + number % 10); /* here CHANGE_DIVISION */
    while (number /= 10);                            /* here CHANGE_DIVISION */
#endif
    while (count)
        *at++ = digits[--count];
    return at;
}

static __attribute__((noinline)) size_t print_all(void) {
    char *at = printed;
    for (uint32_t i = 0; i < entry_count; i++) {
        at = stpcpy(at, sorted[i]->name);
        *at++ = ' ';
        at = put_number(at, sorted[i]->total, 10);
        *at++ = ' ';
        at = put_number(at, sorted[i]->count, 10);
        *at++ = '\n';
    }
    return (size_t)(at - printed);
}

int main(void) {
    const size_t size = make_text();
    read_lines(text, size);
    for (uint32_t i = 0; i < entry_count; i++)
        sorted[i] = &entries[i];
    sort(sorted, spare, entry_count);
    return sum_bytes((const unsigned char *)printed, print_all()) == 7;
}
