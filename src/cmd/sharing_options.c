#include "cmd/sharing_options.h"

#include <stdlib.h>
#include <string.h>

enum key {
    KEY_SKIP = 512,
    KEY_LIMIT,
    KEY_FROM,
    KEY_THREAD,
    KEY_MACHINE,
    KEY_SET,
    KEY_MODEL,
    KEY_GROUPS
};

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "What part of each trace:", 1},
    {"skip", KEY_SKIP, "N", 0, "Begin after N instructions (50M, 2G)", 0},
    {"limit", KEY_LIMIT, "N", 0, "End after N instructions", 0},
    {"from", KEY_FROM, "FUNCTION", 0, "Begin when this function is first entered", 0},
    {"thread", KEY_THREAD, "N", 0, "The N-th thread of the program (default 0, the first)", 0},
    {NULL, 0, NULL, 0, "On which machine:", 2},
    {"machine", KEY_MACHINE, "NAME", 0,
     "A machine of 'culprit machines', or a file (default: niagara)", 0},
    {"set", KEY_SET, "SECTION.KEY=VALUE", 0, "Change one figure of it; may be repeated", 0},
    {NULL, 0, NULL, 0, "By which model of contention:", 3},
    {"model", KEY_MODEL, "KIND", 0,
     "measured (default): the sets and blocks that each program was seen to touch; binomial: from "
     "its number of blocks alone; inductive: from its circular sequences; prior: the older model, "
     "which takes threads to meet in every set",
     0},
    {"groups", KEY_GROUPS, "N", 0,
     "Circular sequences are told apart by their length in so many groups (default 20)", 0},
    {0}};

static enum contention_model model_of(const struct argp_state *state, const char *value) {
    static const char *const NAMES[] = {[CONTENTION_MEASURED] = "measured",
                                        [CONTENTION_BINOMIAL] = "binomial",
                                        [CONTENTION_INDUCTIVE] = "inductive",
                                        [CONTENTION_PRIOR] = "prior"};
    for (int i = CONTENTION_MEASURED; i <= CONTENTION_PRIOR; i++)
        if (!strcmp(value, NAMES[i]))
            return (enum contention_model)i;
    options_fail(state, "--model %s: measured, binomial, inductive or prior", value);
}

static uint32_t groups_of(const struct argp_state *state, const char *value) {
    const uint64_t groups = options_count(state, "--groups", value);
    if (groups < 1 || groups > CONTENTION_MAX_GROUPS)
        options_fail(state, "--groups %s: 1 to %d", value, CONTENTION_MAX_GROUPS);
    return (uint32_t)groups;
}

static void add_word(struct sharing_options_given *given, const struct argp_state *state,
                     const char *word) {
    if (given->word_count == SHARING_MAX_WORDS)
        options_fail(state, "more than %d programs (NAME*4 stands for four copies)",
                     SHARING_MAX_WORDS);
    given->words[given->word_count++] = word;
}

static bool parse_selection(struct selection *selection, int key, char *value,
                            const struct argp_state *state) {
    switch (key) {
    case KEY_SKIP:
        selection->skip = options_count(state, "--skip", value);
        return true;
    case KEY_LIMIT:
        selection->limit = options_limit(state, value);
        return true;
    case KEY_FROM:
        selection->from_symbol = options_from(state, value);
        return true;
    case KEY_THREAD:
        selection->thread = options_thread(state, value);
        return true;
    default:
        return false;
    }
}

static error_t parse(int key, char *value, struct argp_state *state) {
    struct sharing_options_given *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *given = (struct sharing_options_given){
            .machine = {.machine = "niagara", .chips = true},
            .contention = {.model = CONTENTION_MEASURED, .groups = CONTENTION_GROUPS}};
        return 0;
    case KEY_MACHINE:
        given->machine.machine = value;
        return 0;
    case KEY_SET:
        options_add_setting(&given->machine, state, value);
        return 0;
    case KEY_MODEL:
        given->contention.model = model_of(state, value);
        return 0;
    case KEY_GROUPS:
        given->contention.groups = groups_of(state, value);
        return 0;
    case ARGP_KEY_ARG:
        add_word(given, state, value);
        return 0;
    default:
        return parse_selection(&given->selection, key, value, state) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

const struct argp sharing_argp = {.options = OPTIONS, .parser = parse};
