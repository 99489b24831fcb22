#include "cmd/icost_path.h"

#include <inttypes.h>
#include <math.h>

#include "cmd/options.h"
#include "util/text.h"

static void take_critical(struct argp_state *state, void *request, char *value) {
    (void)state, (void)value;
    ((struct pieces_choice *)request)->parts |= INSPECT_CRITICAL;
}

static void take_slack(struct argp_state *state, void *request, char *value) {
    (void)state, (void)value;
    ((struct pieces_choice *)request)->parts |= INSPECT_SLACK;
}

static void take_loads(struct argp_state *state, void *request, char *value) {
    struct pieces_choice *choice = request;
    choice->parts |= INSPECT_LOADS;
    choice->loads = value ? (uint32_t)options_count_within(state, "--loads", value, 1, LOADS_MOST)
                          : LOADS_DEFAULT;
}

static const struct option_row OPTIONS[] = {
    HEADING(8, "Where in the program, from pieces of the graph:"),
    TAKE("critical", NULL, take_critical,
         "Show the critical path: cycles by what they waited for, and by instruction"),
    TAKE("slack", NULL, take_slack,
         "Show by how much results could be later with no loss, and of which instructions"),
    TAKE("loads", "K", take_loads,
         "Show what the misses of each of K loads cost (default 16), and how pairs of them "
         "interact",
         .optional = true),
    {0}};

const struct option_group path_group = {.options = OPTIONS};

bool icost_path_note(const struct pieces *pieces, struct report *report, uint64_t cycles,
                     const char *of) {
    const struct inspection *inspection = &pieces->inspection;
    if (!inspection->fragments || !cycles)
        return true;
    double run = (double)cycles / (double)inspection->seen;
    double of_pieces = (double)inspection->cycles / (double)inspection->kept;
    return report_note(report,
                       "pieces of the graph%s: %" PRIu32 " of at most %s µops, looked at in %s; "
                       "each begins with nothing under way, and their cycles per µop are %s %% "
                       "off those of the run",
                       of, inspection->fragments, text_grouped(FRAGMENT_LENGTH).s,
                       text_duration(pieces->seconds).s,
                       text_percent(fabs(of_pieces - run), run).s);
}
