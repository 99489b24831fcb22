/* Each --category adds one; the first takes the place of the standard ones. */
#include "cmd/icost_category.h"

#include "cmd/options.h"

enum { KEY_CATEGORY = 5120 };

static const struct argp_option OPTIONS[] = {
    {"category", KEY_CATEGORY, "[NAME=]PART[,PART...][:CHANGE][@PLACE[,PLACE...]]", 0,
     "A cause of your own, in place of the standard ones: parts of the machine (dram, l2, bmisp, "
     "int_mul "
     "...), for all instructions or those of functions, lines or addresses, taken away or changed "
     "(-1: a cycle faster, 50%: half is left); may be given ten times",
     4},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state) {
    struct category_choice *choice = state->input;
    struct categories *categories = &choice->categories;
    struct error error;
    if (key != KEY_CATEGORY)
        return ARGP_ERR_UNKNOWN;
    const char *places;
    if (!categories_parse(categories, value, &places, &error))
        options_fail(state, "--category %s: %s", value, error.message);
    choice->texts[categories->count - 1] = value;
    choice->places[categories->count - 1] = places;
    choice->placed |= places != NULL;
    return 0;
}

const struct argp category_argp = {.options = OPTIONS, .parser = parse};
