/* Each --category adds one; the first takes the place of the standard ones. */
#include "cmd/icost_category.h"

#include "cmd/options.h"

static void take_category(struct argp_state *state, void *request, char *value) {
    struct category_choice *choice = request;
    struct categories *categories = &choice->categories;
    struct error error;
    const char *places;
    if (!categories_parse(categories, value, &places, &error))
        options_fail(state, "--category %s: %s", value, error.message);
    choice->texts[categories->count - 1] = value;
    choice->places[categories->count - 1] = places;
    choice->placed |= places != NULL;
}

static const struct option_row OPTIONS[] = {
    TAKE("category", "[NAME=]PART[,PART...][:CHANGE][@PLACE[,PLACE...]]", take_category,
         "A cause of your own, in place of the standard ones: parts of the machine (dram, l2, "
         "bmisp, int_mul ...), for all instructions or those of functions, lines or addresses, "
         "taken away or changed (-1: a cycle faster, 50%: half is left); may be given ten times",
         .group = 4),
    {0}};

const struct option_group category_group = {.options = OPTIONS};
