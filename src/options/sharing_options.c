#include "options/sharing_options.h"

static const char *const MODELS[] = {[CONTENTION_MEASURED] = "measured",
                                     [CONTENTION_BINOMIAL] = "binomial",
                                     [CONTENTION_INDUCTIVE] = "inductive",
                                     [CONTENTION_PRIOR] = "prior"};

#define REQUEST struct sharing_options_given
static const struct option_row OPTIONS[] = {
    HEADING(1, "What part of each trace:"),
    SKIP_ROW(selection.skip),
    LIMIT_ROW(selection.limit, "End after N instructions"),
    FROM_ROW(selection.from_symbol),
    COUNT("thread", "N", selection.thread, "The N-th thread of the program (default 0, the first)"),
    HEADING(2, "On which machine:"),
    MACHINE_ROWS(machine, "niagara"),
    HEADING(3, "By which model of contention:"),
    CHOICE("model", "KIND", contention.model,
           "measured (default): the sets and blocks that each program was seen to touch; binomial: "
           "from its number of blocks alone; inductive: from its circular sequences; prior: the "
           "older model, which takes threads to meet in every set",
           MODELS),
    COUNT("groups", "N", contention.groups,
          "Circular sequences are told apart by their length in so many groups (default 20)",
          .least = 1, .most = CONTENTION_MAX_GROUPS),
    {0}};

static void begin(void *request) {
    *(struct sharing_options_given *)request = (struct sharing_options_given){
        .machine = {.machine = "niagara", .chips = true},
        .contention = {.model = CONTENTION_MEASURED, .groups = CONTENTION_GROUPS}};
}

static bool take_word(struct argp_state *state, void *request, char *word) {
    struct sharing_options_given *given = request;
    if (given->word_count == SHARING_MAX_WORDS)
        options_fail(state, "more than %d programs (NAME*4 stands for four copies)",
                     SHARING_MAX_WORDS);
    given->words[given->word_count++] = word;
    return true;
}

const struct option_group sharing_group = {
    .options = OPTIONS, .begin = begin, .argument = take_word};
