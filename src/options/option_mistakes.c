/* What is said of an option that argp does not take. */
#include <stdio.h>
#include <string.h>

#include "options/option_parsing.h"
#include "util/array.h"
#include "util/nearest.h"

/* The long options of a verb. */
struct names {
    const char *names[OPTIONS_MOST];
    size_t count;
};

static void list_names(const struct parsing *parsing, struct names *names) {
    for (int i = 0; i < parsing->count; i++)
        if (parsing->table[i].name)
            names->names[names->count++] = parsing->table[i].name;
}

/* "--regions, --repeat", of those that begin with `beginning`; how many there are. */
static size_t list_beginning(const struct names *names, const char *beginning, char *list,
                             size_t size) {
    size_t count = 0, used = 0;
    list[0] = 0;
    for (size_t i = 0; i < names->count; i++)
        if (!strncmp(names->names[i], beginning, strlen(beginning))) {
            if (used < size)
                used += (size_t)snprintf(list + used, size - used, "%s--%s", count ? ", " : "",
                                         names->names[i]);
            count++;
        }
    return count;
}

static bool is_name(const struct names *names, const char *name) {
    return any_where(i, names->count, !strcmp(names->names[i], name));
}

/* Options of other verbs, where a run is not captured by time or signal and where nothing is told
 * by place: what there is instead; NULL: another option. */
static const char *instead(const char *verb, const char *option) {
    static const struct {
        const char *verb, *text;
        bool by; /* --by; else --for and --on-signal */
    } ROWS[] = {
        {"bbv", "slices are counted from the beginning of the run (--skip leaves some out)", false},
        {"contend", "capture with it by 'culprit trace', and give the trace", false},
        {"icost", "capture with it by 'culprit trace', and give the trace", false},
        {"predict", "capture with it by 'culprit trace', and give the trace", false},
        {"record", "not here (--time T ends the recording)", false},
        {"regions", "not here: 'culprit bbv' runs the command", false},
        {"validate", "not here: the whole run is needed, and a second one", false},
        {"icost",
         "a cause's cost is told of static instructions, whoever called them: --category "
         "PARTS@FUNCTION tells it of a function, line or address; --tree shows who called, "
         "'culprit "
         "explain --by path' and '--by loop' the cycles of chains and loops",
         true},
        {"profilers",
         "profilers are compared by function and instruction, with --tree and --callers by chain "
         "of "
         "callers; 'culprit explain --by path' and '--by loop' show the cycles of chains and loops",
         true}};
    const bool by = !strcmp(option, "by");
    const bool timed = !strcmp(option, "for") || !strcmp(option, "on-signal");
    for (size_t i = 0; (timed || by) && i < sizeof ROWS / sizeof *ROWS; i++)
        if (ROWS[i].by == by && !strncmp(verb, "culprit ", 8) && !strcmp(verb + 8, ROWS[i].verb))
            return ROWS[i].text;
    return NULL;
}

void option_explain_mistake(const struct argp_state *state, const struct parsing *parsing) {
    const char *argument = state->next > 1 ? state->argv[state->next - 1] : "",
               *verb = state->argv[0];
    if (strncmp(argument, "--", 2) || !argument[2])
        options_fail(state, "%s: unknown option (see '%s --help')", argument, verb);
    char name[64], list[512];
    struct names names = {0};
    const size_t length = strcspn(argument + 2, "=");
    snprintf(name, sizeof name, "%.*s", (int)length, argument + 2);
    list_names(parsing, &names);
    const size_t beginning = list_beginning(&names, name, list, sizeof list);
    const char *nearest = nearest_word(name, names.names, names.count);
    const char *other = instead(verb, name);
    if (beginning == 0 && other)
        options_fail(state, "--%s: %s", name, other);
    if (beginning == 0 && nearest)
        options_fail(state, "--%s: unknown option (did you mean '--%s'? see '%s --help')", name,
                     nearest, verb);
    if (beginning == 0)
        options_fail(state, "--%s: unknown option (see '%s --help')", name, verb);
    if (beginning > 1 && !is_name(&names, name))
        options_fail(state, "--%s: could be %s (see '%s --help')", name, list, verb);
    options_fail(state, "--%s: %s (see '%s --help')", name,
                 argument[2 + length] ? "takes no value" : "needs a value", verb);
}
