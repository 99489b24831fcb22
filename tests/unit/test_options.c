/* Options as tables: what a command line sets, what is said of mistakes, what a shell completes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options/completion.h"
#include "options/exit_status.h"
#include "options/option.h"

enum shape { SHAPE_ROUND, SHAPE_FLAT };
struct request {
    bool quiet;
    uint64_t rounds;
    const char *words[2];
    uint32_t word_count;
    double share;
    enum shape shape;
    const char *path, *argument;
    char **command;
};

static const char *const SHAPES[] = {"round", "flat"};

#define REQUEST struct request
static const struct option_row OPTIONS[] = {
    HEADING(1, "How:"),
    FLAG("quiet", quiet, "Say nothing; not even this", .letter = 'q'),
    COUNT("rounds", "N", rounds, "How often", .least = 1, .most = 3000),
    LIST("word", "WORD", words, word_count, "A word", .must = " words"),
    PERCENT("share", share, "A share"),
    CHOICE("shape", "KIND", shape, "Which [shape]", SHAPES),
    WRITTEN_FILE("save", "FILE", path, "Write it there", .not_again = true),
    {0}};
#undef REQUEST

static bool take(struct argp_state *state, void *request, char *value) {
    struct request *given = request;
    if (options_quoted(state))
        given->command = options_take_command(state);
    else
        options_take_one(state, &given->argument, value);
    return true;
}

static void begin(void *request) {
    ((struct request *)request)->rounds = 7;
}

static void check_all(struct argp_state *state, void *request) {
    const struct request *given = request;
    if (given->quiet && given->share != 0)
        options_fail(state, "--quiet and --share: one of them");
}

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .argument = take, .end = check_all},
    .arguments = "[--] COMMAND...",
    .help = "Tries options."};

/* argv of "culprit try" and the words of a text, which has one space between them. */
static int split(char *text, char *argv[16]) {
    static char name[] = "culprit try";
    int count = 0;
    argv[count++] = name;
    for (char *word; (word = strsep(&text, " "));)
        argv[count++] = word;
    argv[count] = NULL;
    return count;
}

static void a_command_line_sets_members(void **state) {
    (void)state;
    char text[] = "-q --rounds=2K --word a --word b --shape flat --save out -- run -q", *argv[16];
    const int argc = split(text, argv);
    struct request request = {0};
    char **words = options_parse(&LINE, argc, argv, &request);
    assert_true(request.quiet);
    assert_int_equal(request.rounds, 2000);
    assert_int_equal(request.word_count, 2);
    assert_string_equal(request.words[1], "b");
    assert_int_equal(request.shape, SHAPE_FLAT);
    assert_string_equal(request.path, "out");
    assert_string_equal(request.command[0], "run"); /* whose -q is its own */
    assert_string_equal(request.command[1], "-q");
    /* The next useful command repeats all but --save and its value. */
    assert_string_equal(words[2], "--rounds=2K");
    assert_string_equal(words[8], "flat");
    assert_null(words[9]);
    assert_null(words[10]);
    assert_string_equal(words[12], "run");
    free(words);
}

static void what_is_not_given_is_the_default(void **state) {
    (void)state;
    char text[] = "--share 12.5%", *argv[16];
    const int argc = split(text, argv);
    struct request request = {0};
    free(options_parse(&LINE, argc, argv, &request));
    assert_int_equal(request.rounds, 7);
    assert_float_equal(request.share, 0.125, 1e-12);
    assert_null(request.command);
}

/* What is said on standard error of a command line's text, at most 511 bytes; the exit status. */
static int say_of(const struct command_line *command_line, const char *line, char said[512]) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        char text[256], *argv[16];
        struct request request = {0};
        snprintf(text, sizeof text, "%s", line);
        dup2(ends[1], STDERR_FILENO);
        const int argc = split(text, argv);
        options_parse(command_line, argc, argv, &request);
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; used < 511 && (got = read(ends[0], said + used, 511 - used)) > 0;)
        used += (size_t)got;
    said[used] = 0;
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int say(const char *line, char said[512]) {
    return say_of(&LINE, line, said);
}

static void a_verb_without_arguments_says_so(void **state) {
    (void)state;
    static const struct command_line ALONE = {.own = {.options = OPTIONS}, .help = "Tries."};
    static const char *const LINES[] = {"more", "--quiet more --rounds 2", "-- more"};
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        char said[512];
        assert_int_not_equal(say_of(&ALONE, LINES[i], said), 0);
        assert_string_equal(said,
                            "culprit try: more: takes no argument (see 'culprit try --help')\n");
    }
}

static void a_mistake_is_said_in_a_line(void **state) {
    (void)state;
    static const struct {
        const char *line, *said;
        int status;
    } examples[] = {
        {"--rounds 3000", "", 0},
        {"--rounds 0", "--rounds 0: from 1 to 3000", STATUS_USAGE},
        {"--rounds 4K -- run", "--rounds 4K: from 1 to 3000", STATUS_BROKEN},
        {"--rounds 1x",
         "--rounds 1x: not a count (a whole number, with K, M, G or T for thousands)",
         STATUS_USAGE},
        {"--roudns 1",
         "--roudns: unknown option (did you mean '--rounds'? see 'culprit try "
         "--help')",
         STATUS_USAGE},
        {"--s 1", "--s: could be --share, --shape, --save (see 'culprit try --help')",
         STATUS_USAGE},
        {"--rounds", "--rounds: needs a value (see 'culprit try --help')", STATUS_USAGE},
        {"--rounds=", "--rounds: the value is empty", STATUS_USAGE},
        {"--word= -- run", "--word: the value is empty", STATUS_BROKEN},
        {"--share=", "--share: the value is empty", STATUS_USAGE},
        {"--shape=", "--shape: the value is empty", STATUS_USAGE},
        {"--save=", "--save: the name is empty", STATUS_USAGE},
        {"--quiet=1", "--quiet: takes no value (see 'culprit try --help')", STATUS_USAGE},
        {"--shape oval", "--shape oval: round or flat", STATUS_USAGE},
        {"--word a --word b --word c", "--word: more than 2 words", STATUS_USAGE},
        {"one two", "two: one argument too many", STATUS_USAGE},
        {"--quiet --share 1", "--quiet and --share: one of them", STATUS_USAGE},
        {"--save /bin/sh /bin/sh",
         "--save /bin/sh: would be written over /bin/sh, which the command line names",
         STATUS_USAGE}};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char said[512], expected[512] = "";
        if (*examples[i].said)
            snprintf(expected, sizeof expected, "culprit try: %s\n", examples[i].said);
        assert_int_equal(say(examples[i].line, said), examples[i].status);
        assert_string_equal(said, expected);
    }
}

/* ---- completion ---- */

static char *script(void (*write)(const struct completed *, FILE *)) {
    static const struct completed_verb VERBS[] = {{"try", "tries; options", &LINE}};
    static const char *const TOPICS[] = {"words"};
    const struct completed completed = {
        .verbs = VERBS, .verb_count = 1, .help_words = TOPICS, .help_word_count = 1};
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    write(&completed, file);
    fclose(file);
    return text;
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
}

static void every_shell_gets_options_and_values(void **state) {
    (void)state;
    char *text = script(completion_bash);
    assert_has(text, "    try:--shape) words='round flat' ;;\n"
                     "    try:--save) files=1 ;;\n"
                     "    help:help) words='try topics words' ;;\n");
    assert_has(text, "try) words='--help --quiet --rounds= --word= --share= --shape= --save=' ;;");
    free(text);
    text = script(completion_zsh);
    assert_has(text, "            'try:tries'\n"); /* the first clause alone */
    assert_has(text, "        '--shape=[Which \\[shape\\]]:KIND:(round flat)' \\\n"
                     "        '--save=[Write it there]:FILE:_files' \\\n");
    free(text);
    text = script(completion_fish);
    assert_has(text, "'__fish_seen_subcommand_from try' -l quiet -s q -d 'Say nothing'\n");
    assert_has(text, "-l shape -x -a 'round flat' -d 'Which [shape]'\n");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_command_line_sets_members),
                                       cmocka_unit_test(what_is_not_given_is_the_default),
                                       cmocka_unit_test(a_verb_without_arguments_says_so),
                                       cmocka_unit_test(a_mistake_is_said_in_a_line),
                                       cmocka_unit_test(every_shell_gets_options_and_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
