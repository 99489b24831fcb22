#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/slurm.h"
#include "util/array.h"
#include "util/order.h"
#include "util/text.h"

enum { MOST_ELEMENTS = 100000 };

/* States of squeue(1) that are no end; those of an end that nobody wanted are all others. */
enum job_fate slurm_fate(const char *state) {
    static const struct {
        const char *state;
        enum job_fate fate;
    } FATES[] = {
        {"PENDING", JOB_WAITS},       {"CONFIGURING", JOB_WAITS},   {"REQUEUED", JOB_WAITS},
        {"REQUEUE_HOLD", JOB_WAITS},  {"REQUEUE_FED", JOB_WAITS},   {"RESV_DEL_HOLD", JOB_WAITS},
        {"SPECIAL_EXIT", JOB_WAITS},  {"RUNNING", JOB_RUNS},        {"COMPLETING", JOB_RUNS},
        {"SUSPENDED", JOB_RUNS},      {"STOPPED", JOB_RUNS},        {"RESIZING", JOB_RUNS},
        {"SIGNALING", JOB_RUNS},      {"STAGE_OUT", JOB_RUNS},      {"COMPLETED", JOB_COMPLETED},
        {"PREEMPTED", JOB_PREEMPTED}, {"CANCELLED", JOB_CANCELLED},
    };
    for (size_t i = 0; i < sizeof FATES / sizeof *FATES; i++)
        if (!strcmp(FATES[i].state, state))
            return FATES[i].fate;
    return JOB_LOST;
}

bool slurm_read_config(const char *text, uint32_t *largest) {
    static const char KEY[] = "MaxArraySize";
    for (const char *at = text; (at = strstr(at, KEY)); at += sizeof KEY - 1) {
        const char *value = at + sizeof KEY - 1;
        value += strspn(value, " \t");
        if (*value != '=' || (at > text && at[-1] != '\n'))
            continue;
        char *end;
        errno = 0;
        const unsigned long number = strtoul(value + 1, &end, 10);
        if (errno || end == value + 1 || number > 1u << 30)
            return false;
        *largest = (uint32_t)number;
        return true;
    }
    return false;
}

bool slurm_read_number(const char *text, uint64_t *number) {
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return !errno && *number && (*end == '\n' || *end == ';' || !*end);
}

/* Copies what lies before the next '|' or the end of the line; *at is then behind it. */
static void take_field(const char **at, char *field, size_t size) {
    const size_t length = strcspn(*at, "|\n");
    const size_t kept = length < size - 1 ? length : size - 1;
    char raw[SLURM_TEXT];
    memcpy(raw, *at, kept);
    raw[kept] = 0;
    text_clean(field, size, raw);
    *at += length;
    if (**at == '|')
        ++*at;
}

static bool take_figure(const char **at, uint64_t most, uint64_t *figure) {
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *figure = strtoull(*at, &end, 10);
    if (errno || *figure > most)
        return false;
    *at = end;
    return true;
}

/* "7", or of elements that never were jobs of their own "0-3,7%2", perhaps in brackets: an element
 * for each. False: out of memory. What is none adds nothing. */
static bool add_elements(struct slurm_list *list, const char *at,
                         const struct slurm_element *like) {
    struct slurm_element rest = *like;
    rest.index = SLURM_REST;
    if (!strncmp(at, "N/A|", 4))
        return array_push(list->elements, list->capacity, list->count, rest);
    at += *at == '[';
    for (;; at++) {
        struct slurm_element element = *like;
        uint64_t first, last;
        if (!take_figure(&at, UINT32_MAX, &first))
            return true;
        last = first;
        if (*at == '-') {
            at++;
            if (!take_figure(&at, UINT32_MAX, &last))
                return true;
        }
        for (uint64_t index = first; index <= last; index++) {
            element.index = (uint32_t)index;
            if (list->count >= MOST_ELEMENTS)
                return true;
            if (!array_push(list->elements, list->capacity, list->count, element))
                return false;
        }
        if (*at != ',')
            return true;
    }
}

static int by_place(const void *left, const void *right) {
    const struct slurm_element *a = left, *b = right;
    return ascending(a->array, b->array) ?: ascending(a->index, b->index);
}

bool slurm_read_list(const char *text, struct slurm_list *list) {
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        struct slurm_element element = {0};
        if (!take_figure(&at, UINT64_MAX, &element.array) || *at != '|')
            continue;
        const char *indices = ++at;
        at += strcspn(at, "|\n");
        at += *at == '|';
        take_field(&at, element.state, sizeof element.state);
        take_field(&at, element.node, sizeof element.node);
        take_field(&at, element.reason, sizeof element.reason);
        element.fate = slurm_fate(element.state);
        if (!add_elements(list, indices, &element))
            return false;
    }
    if (list->count)
        qsort(list->elements, list->count, sizeof *list->elements, by_place);
    return true;
}

const struct slurm_element *slurm_find(const struct slurm_list *list, uint64_t array,
                                       uint32_t index) {
    struct slurm_element wanted = {.array = array, .index = index};
    if (!list->count)
        return NULL;
    const struct slurm_element *found =
        bsearch(&wanted, list->elements, list->count, sizeof wanted, by_place);
    wanted.index = SLURM_REST;
    return found ?: bsearch(&wanted, list->elements, list->count, sizeof wanted, by_place);
}

void slurm_list_free(struct slurm_list *list) {
    free(list->elements);
    *list = (struct slurm_list){0};
}
