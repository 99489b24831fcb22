/* The options of a verb as tables. A row states an option whole: its name, its words in --help,
 * what its value must be and which member of the verb's request gets it. Parsing, help and messages
 * follow from the row. What is wrong with a command line is said in one line on standard error; the
 * exit status is 2, or 125 when a command would have been run.
 *
 *     #define REQUEST struct request
 *     static const struct option_row OPTIONS[] = {
 *         HEADING(3, "How to predict:"),
 *         FLAG("ignore-mshrs", ignore_mshrs, "As if misses in flight were unlimited"),
 *         COUNT("rounds", "N", rounds, "How often (default 1)", .most = 1000),
 *         {0}};
 *
 * A row's member must have the row's type, which the compiler checks. */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_END,
    OPTION_HEADING,  /* of those behind it, in --help */
    OPTION_TRUE,     /* bool */
    OPTION_FALSE,    /* bool */
    OPTION_VALUE,    /* an enum: `most` */
    OPTION_BIT,      /* unsigned, of which it sets a bit: `most` */
    OPTION_TEXT,     /* const char *: as it was typed; `least` 1: it is a name */
    OPTION_FILE,     /* const char *: of a file that is written beside the report: "-" is refused */
    OPTION_COUNT,    /* uint64_t: digits and one of K M G T (thousands), from `least` to `most` */
    OPTION_COUNT32,  /* uint32_t: likewise; left out: as it is */
    OPTION_INT,      /* int: likewise */
    OPTION_LIST,     /* const char *[`most`]: the next of them; `counter`: how many there are */
    OPTION_DURATION, /* double, seconds: a time above 0 */
    OPTION_FRACTION, /* double: a number from 0 to `most` */
    OPTION_PERCENT,  /* double, a share: "1.5" or "1.5%", from `least` hundredths to 100 */
    OPTION_CHOICE,   /* an enum: the place of the word in `names`; left out: `least` */
    OPTION_TAKE      /* whatever take() makes of it */
};

struct option_row {
    const char *name;  /* without "--" */
    const char *value; /* what --help calls it; NULL: the option takes none */
    const char *help;
    enum option_kind kind;
    char letter;       /* -o; 0: none */
    const char *alias; /* another long name; NULL: none */
    int group;         /* of --help, sorted by it; 0: that of the row before */
    bool optional;     /* its value may be left out: a member then stays as it is */
    bool may_be_empty; /* its value may be "" */
    bool written;      /* a file that is written: not one that the command line names elsewhere */
    size_t beginning;  /* 1 + offset of a text that, when it is given, makes of that file what names
                          begin with; 0: none */
    bool not_again;    /* the next useful command does not repeat it */
    size_t member;     /* offset in the request */
    size_t counter;    /* offset of the uint32_t or size_t that counts a list */
    size_t given;      /* 1 + offset of a bool that becomes true; 0: none */
    uint64_t least, most; /* of a count or fraction; of names, their number; most 0: no limit */
    const char *must;     /* said of another value; NULL: "from LEAST to MOST" and the like. Of a
                             list, what follows "more than MOST" */
    const char *const *names; /* NULL: none at this place */
    void (*take)(struct argp_state *state, void *request, char *value);
};

/* ---- rows; REQUEST is the struct that holds the members ---- */

#define OPTION_MEMBER(type_, member_)                                                              \
    (offsetof(REQUEST, member_) +                                                                  \
     0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((REQUEST *)NULL)->member_), type_)   \
                         ? 1                                                                       \
                         : -1]))
#define GIVEN(member_) .given = 1 + OPTION_MEMBER(bool, member_)
#define OPTION_ROW(name_, value_, help_, kind_, member_, ...)                                      \
    {                                                                                              \
        .name = name_, .value = value_, .help = help_, .kind = kind_, .member = member_,           \
        ##__VA_ARGS__                                                                              \
    }

#define HEADING(group_, help_)                                                                     \
    { .kind = OPTION_HEADING, .group = group_, .help = help_ }
#define FLAG(name_, member_, help_, ...)                                                           \
    OPTION_ROW(name_, NULL, help_, OPTION_TRUE, OPTION_MEMBER(bool, member_), ##__VA_ARGS__)
#define NO_FLAG(name_, member_, help_, ...)                                                        \
    OPTION_ROW(name_, NULL, help_, OPTION_FALSE, OPTION_MEMBER(bool, member_), ##__VA_ARGS__)
#define VALUE(name_, member_, constant_, help_, ...)                                               \
    OPTION_ROW(name_, NULL, help_, OPTION_VALUE, offsetof(REQUEST, member_), .most = (constant_),  \
               ##__VA_ARGS__)
#define BIT(name_, member_, bit_, help_, ...)                                                      \
    OPTION_ROW(name_, NULL, help_, OPTION_BIT, OPTION_MEMBER(unsigned, member_), .most = (bit_),   \
               ##__VA_ARGS__)
#define TEXT(name_, value_, member_, help_, ...)                                                   \
    OPTION_ROW(name_, value_, help_, OPTION_TEXT, OPTION_MEMBER(const char *, member_),            \
               ##__VA_ARGS__)
#define WRITTEN_FILE(name_, value_, member_, help_, ...)                                           \
    OPTION_ROW(name_, value_, help_, OPTION_FILE, OPTION_MEMBER(const char *, member_),            \
               .written = true, ##__VA_ARGS__)
#define COUNT(name_, value_, member_, help_, ...)                                                  \
    OPTION_ROW(name_, value_, help_,                                                               \
               _Generic(((REQUEST *)NULL)->member_, uint64_t                                       \
                        : OPTION_COUNT, uint32_t                                                   \
                        : OPTION_COUNT32, int                                                      \
                        : OPTION_INT),                                                             \
               offsetof(REQUEST, member_), ##__VA_ARGS__)
#define DURATION(name_, value_, member_, help_, ...)                                               \
    OPTION_ROW(name_, value_, help_, OPTION_DURATION, OPTION_MEMBER(double, member_), ##__VA_ARGS__)
#define FRACTION(name_, value_, member_, help_, most_, ...)                                        \
    OPTION_ROW(name_, value_, help_, OPTION_FRACTION, OPTION_MEMBER(double, member_),              \
               .most = (most_), ##__VA_ARGS__)
#define PERCENT(name_, member_, help_, ...)                                                        \
    OPTION_ROW(name_, "PERCENT", help_, OPTION_PERCENT, OPTION_MEMBER(double, member_),            \
               ##__VA_ARGS__)
#define CHOICE(name_, value_, member_, help_, names_, ...)                                         \
    OPTION_ROW(name_, value_, help_, OPTION_CHOICE, offsetof(REQUEST, member_), .names = (names_), \
               .most = sizeof(names_) / sizeof *(names_), ##__VA_ARGS__)
#define LIST(name_, value_, member_, counter_, help_, ...)                                         \
    OPTION_ROW(name_, value_, help_, OPTION_LIST, OPTION_MEMBER(const char *, member_[0]),         \
               .counter = offsetof(REQUEST, counter_), .least = sizeof((REQUEST *)NULL)->counter_, \
               .most = sizeof((REQUEST *)NULL)->member_ / sizeof(const char *), ##__VA_ARGS__)
#define TAKE(name_, value_, take_, help_, ...)                                                     \
    OPTION_ROW(name_, value_, help_, OPTION_TAKE, 0, .take = take_, ##__VA_ARGS__)

/* ---- groups ---- */

/* Rows, and what they are about together: `request` is the struct that their members are of. */
struct option_group {
    const struct option_row *options; /* to a row of OPTION_END; NULL: none */
    /* Each may be NULL. Sets what is not 0 by default. */
    void (*begin)(void *request);
    /* Takes an argument that is no option; false: it is not this group's. */
    bool (*argument)(struct argp_state *state, void *request, char *value);
    /* Checks what was typed, as a whole. */
    void (*end)(struct argp_state *state, void *request);
};

/* A group that verbs share, and where its struct lies in the verb's request. */
struct option_part {
    const struct option_group *group; /* NULL: no more */
    size_t member;
};

/* A command line. */
struct command_line {
    struct option_group own;
    const struct option_part *parts;
    const char *arguments; /* a line each: "[--] COMMAND..." */
    const char *help;      /* what the verb is for, "\v", an example that can be pasted, the rest */
    char *(*filter)(int key, const char *text, void *input); /* argp's help_filter; NULL: none */
};

enum { OPTIONS_MOST = 128 }; /* rows of all groups */

/* Parses into `request`. On a mistake prints the line and exits. Returns what was typed, for the
 * next useful command: `argc` words, NULL in place of those that it does not repeat; to be freed.
 */
char **options_parse(const struct command_line *line, int argc, char **argv, void *request);

/* For callbacks: prints "culprit VERB: ..." and exits. */
void options_fail(const struct argp_state *state, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* Takes the only argument of a verb; exits when there is one already. */
void options_take_one(const struct argp_state *state, const char **argument, char *value);

/* The value of an option as a count: digits and one of K M G T (thousands). Exits on a mistake. */
uint64_t options_count(const struct argp_state *state, const char *option, const char *text);
/* Likewise from `least` to `most`. */
uint64_t options_count_within(const struct argp_state *state, const char *option, const char *text,
                              uint64_t least, uint64_t most);

/* A path that is not "-": standard output has the report, or what a command writes. */
const char *options_file(const struct argp_state *state, const char *option, const char *path);

/* For an `argument` callback: this argument and all that follow are a command's. */
char **options_take_command(struct argp_state *state);
/* Whether "--" came before this argument. */
bool options_quoted(const struct argp_state *state);
