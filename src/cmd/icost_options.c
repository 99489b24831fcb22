/* The options of `culprit icost` that say how samples are taken, what is shown of the program, and
 * what is a category. */
#include "cmd/icost.h"

/* ---- shotgun profiling ---- */

enum { MAX_FRAGMENTS = 1 << 20 };

static void begin_shotgun(void *choice) {
    *(struct shotgun_choice *)choice = (struct shotgun_choice){
        .options = {.period = SHOTGUN_PERIOD, .length = SHOTGUN_LENGTH, .seed = 1, .truth = true},
        .fragments = SHOTGUN_FRAGMENTS,
        .design = SHOTGUN_LONG_AND_SHORT};
}

static void take_design(struct argp_state *state, void *request, char *value) {
    struct shotgun_choice *choice = request;
    choice->design = (enum shotgun_design)options_count_within(
        state, "--shotgun-design", value, SHOTGUN_PERFECT, SHOTGUN_LONG_AND_SHORT);
    choice->options.perfect = choice->design == SHOTGUN_PERFECT;
}

static void take_pc_bit(struct argp_state *state, void *request, char *value) {
    ((struct shotgun_choice *)request)->options.pc_bit =
        1 +
        (uint32_t)options_count_within(state, "--shotgun-pc-bit", value, 0, SHOTGUN_PC_BITS - 1);
}

/* Each of them asks for it. */
#define REQUEST struct shotgun_choice
static const struct option_row SHOTGUN_OPTIONS[] = {
    HEADING(7, "Shotgun profiling:"),
    COUNT("shotgun", "N", fragments,
          "Also from N fragments of the graph, constructed from sparse samples as hardware could "
          "take them (default 1024)",
          .least = 1, .most = MAX_FRAGMENTS, .optional = true, GIVEN(wanted)),
    TAKE("shotgun-design", "1-4", take_design,
         "1 every instruction measured, 2 one sample for each static instruction, 3 short "
         "signatures, 4 long and short ones (default)",
         GIVEN(wanted)),
    TEXT("shotgun-file", "FILE", path,
         "From the samples that a shotgun tap of 'culprit sim' wrote to FILE; no command, no "
         "trace",
         GIVEN(wanted)),
    COUNT("shotgun-length", "N", options.length, "Instructions of a fragment (default 2000)",
          .least = 1, .most = SHOTGUN_LENGTH_MAX, GIVEN(wanted)),
    TAKE("shotgun-pc-bit", "N", take_pc_bit,
         "Signatures have a third bit, that bit of the program counter, 0 to 11 (default: they "
         "have two)",
         GIVEN(wanted)),
    COUNT("shotgun-period", "N", options.period,
          "A detailed sample every N instructions, on the average (default 50; twice as many each "
          "time that 262,144 have been taken)",
          .least = SHOTGUN_PERIOD_MIN, .most = UINT32_MAX, GIVEN(wanted)),
    {0}};

const struct option_group icost_shotgun_group = {.options = SHOTGUN_OPTIONS,
                                                 .begin = begin_shotgun};

/* ---- critical path, slack, loads ---- */

static void take_loads(struct argp_state *state, void *request, char *value) {
    struct pieces_choice *choice = request;
    choice->parts |= INSPECT_LOADS;
    choice->loads = value ? (uint32_t)options_count_within(state, "--loads", value, 1, LOADS_MOST)
                          : LOADS_DEFAULT;
}

#undef REQUEST
#define REQUEST struct pieces_choice
static const struct option_row PATH_OPTIONS[] = {
    HEADING(8, "Where in the program, from pieces of the graph:"),
    BIT("critical", parts, INSPECT_CRITICAL,
        "Show the critical path: cycles by what they waited for, and by instruction"),
    BIT("slack", parts, INSPECT_SLACK,
        "Show by how much results could be later with no loss, and of which instructions"),
    TAKE("loads", "K", take_loads,
         "Show what the misses of each of K loads cost (default 16), and how pairs of them "
         "interact",
         .optional = true),
    {0}};

const struct option_group icost_path_group = {.options = PATH_OPTIONS};

/* ---- categories ---- */

/* Each --category adds one; the first takes the place of the standard ones. */
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

static const struct option_row CATEGORY_OPTIONS[] = {
    TAKE("category", "[NAME=]PART[,PART...][:CHANGE][@PLACE[,PLACE...]]", take_category,
         "A cause of your own, in place of the standard ones: parts of the machine (dram, l2, "
         "bmisp, int_mul ...), for all instructions or those of functions, lines or addresses, "
         "taken away or changed (-1: a cycle faster, 50%: half is left); may be given ten times",
         .group = 4),
    {0}};

const struct option_group icost_category_group = {.options = CATEGORY_OPTIONS};
