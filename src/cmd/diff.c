/* culprit diff: two profiles side by side. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/profile_options.h"
#include "report/profile_diff.h"
#include "util/text.h"

enum key { KEY_COMPARE = 1600 };

static const struct argp_option OPTIONS[] = {
    {"compare", KEY_COMPARE, "MEASURE", 0,
     "share of all (default), count: the samples or cycles themselves, of runs that do the same "
     "work, or rate: per second",
     2},
    {0}};

struct request {
    enum diff_measure measure;
    struct compare_request compared;
};

static error_t parse(int key, char *value, struct argp_state *state) {
    struct request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->compared;
        return 0;
    case KEY_COMPARE:
        for (int measure = 0; measure < DIFF_MEASURES; measure++)
            if (!strcmp(value, diff_measure_name((enum diff_measure)measure))) {
                request->measure = (enum diff_measure)measure;
                return 0;
            }
        options_fail(state, "--compare %s: one of share, count, rate", value);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child CHILDREN[] = {{&compare_argp, 0, NULL, 0}, {0}};

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "--epoch BEFORE --epoch AFTER\nBEFORE AFTER",
    .doc = "Shows which procedures changed most between two profiles: two epochs, or the last "
           "epochs of two stores. Procedures are matched by name and image, so that a program "
           "compares with itself rebuilt."
           "\vExample:\n  culprit sim --save --limit 20M -- gzip -9 -c /bin/bash > /dev/null\n"
           "  culprit sim --save --limit 20M -- gzip -1 -c /bin/bash > /dev/null\n"
           "  culprit diff --epoch 1 --epoch 2",
    .children = CHILDREN};

/* Where the time went afterwards, in the file that changed most. */
static char *next_of(const struct request *request, const struct profile_sets *sets,
                     const struct diff_report *report) {
    const struct profile_row *first = profile_diff_row(report, 0);
    size_t size;
    char *text = NULL;
    FILE *file = first ? open_memstream(&text, &size) : NULL;
    if (!file)
        return NULL;
    fputs("culprit top", file);
    profile_set_arguments(&sets->sets[1], request->compared.store.store_count > 0, file);
    const char *slash = strrchr(first->image, '/');
    if (first->process) /* an image may lie elsewhere there */
        text_put_option(file, "process", first->process);
    else
        text_put_option(file, "image", slash && slash[1] ? slash + 1 : first->image);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

static bool write_report(const void *context, const struct profile_sets *sets,
                         const struct profile_table *table, FILE *file, struct error *error) {
    const struct request *request = context;
    struct diff_report report = {.report = {.verb = "diff"},
                                 .sets = sets->sets,
                                 .events = sets->events,
                                 .by = request->compared.rows.by,
                                 .measure = request->measure,
                                 .table = table,
                                 .top = request->compared.output.top};
    const struct page page = page_of(file);
    bool good = sets->count == 2 || error_set(error,
                                              "two sets are compared, not %zu (--epoch 3 "
                                              "--epoch 4; 'culprit variance' takes more)",
                                              sets->count);
    good = good && profile_diff_build(&report, error);
    if (good)
        report.report.next = next_of(request, sets, &report);
    if (good && request->compared.output.json)
        good = profile_diff_json(&report, file, error);
    else if (good)
        profile_diff_text(&report, &page);
    profile_diff_free(&report);
    return good;
}

int cmd_diff(int argc, char **argv) {
    struct request request = {.compared.most_stores = 2};
    options_parse(&ARGP, argc, argv, &request);
    return profile_sets_report(&request.compared, write_report, &request);
}
