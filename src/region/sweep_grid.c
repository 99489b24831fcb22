#include <math.h>
#include <stdlib.h>

#include "region/sweep.h"
#include "util/array.h"

static bool read_number(const char **at, double *number, struct error *error) {
    char *end;
    *number = strtod(*at, &end);
    if (end == *at || !isfinite(*number))
        return error_set(error, "numbers with commas between them, or FIRST:LAST:STEP");
    *at = end;
    return true;
}

/* ":LAST:STEP" of a range, or ":LAST" in steps of 1; of a list, nothing. */
static bool read_range(const char **at, bool *range, double *last, double *step,
                       struct error *error) {
    *step = 1;
    *range = **at == ':';
    if (!*range)
        return true;
    ++*at;
    if (!read_number(at, last, error))
        return false;
    if (**at == ':') {
        ++*at;
        if (!read_number(at, step, error))
            return false;
    }
    return *step > 0 || error_set(error, "the step is not over 0");
}

static bool add(struct sweep_grid *grid, double value, double least, double most, bool whole,
                struct error *error) {
    enum { MOST_VALUES = 10000 };
    const bool grows = grid->count == 0 || value > grid->values[grid->count - 1];
    if (!(value >= least && value <= most) || !grows || (whole && value != floor(value)))
        return error_set(error, "%snumbers from %g to %g that grow", whole ? "whole " : "", least,
                         most);
    if (grid->count == MOST_VALUES || !array_reserve((void **)&grid->values, &grid->capacity,
                                                     grid->count + 1, sizeof *grid->values))
        return error_set(error, "too many");
    grid->values[grid->count++] = value;
    return true;
}

bool sweep_grid_read(struct sweep_grid *grid, const char *text, double least, double most,
                     bool whole, struct error *error) {
    const char *at = text;
    double first, last = 0, step;
    bool range;
    grid->count = 0;
    if (!read_number(&at, &first, error) || !read_range(&at, &range, &last, &step, error))
        return false;
    for (double value = first;;) {
        value = round(value * 1e9) / 1e9; /* 3 × 0.1 is to be 0.3 */
        if (!add(grid, value, least, most, whole, error))
            return false;
        value = first + (double)grid->count * step;
        if (range && value > last + 1e-9)
            break;
        if (!range && *at != ',')
            break;
        at += !range;
        if (!range && !read_number(&at, &value, error))
            return false;
    }
    return !*at || error_set(error, "numbers with commas between them, or FIRST:LAST:STEP");
}
