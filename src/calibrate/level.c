#include "calibrate/level.h"
#include "util/order.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 256, FEWEST = 4 };

ORDER(compare, double, ascending(*a, *b))

static struct level level_of(const struct step_point *points, size_t count) {
    double sorted[MOST];
    for (size_t i = 0; i < count; i++)
        sorted[i] = points[i].y;
    qsort(sorted, count, sizeof *sorted, compare);
    return (struct level){.height = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2,
                          .spread = (sorted[count - 1 - count / 4] - sorted[count / 4]) / 2};
}

/* Points that go on as flat as a level, from the first one on. */
static size_t flat(const struct step_point *points, size_t count) {
    size_t length = 1;
    while (length < count && points[length].y < points[length - 1].y * LEVEL_SLOPE &&
           points[length].y > points[length - 1].y / LEVEL_SLOPE)
        length++;
    return length;
}

/* The first point that is above a border, and the next one too. */
static size_t first_above(const struct step_point *points, size_t count, double border) {
    size_t i = 1;
    while (i + 1 < count && (points[i].y <= border || points[i + 1].y <= border))
        i++;
    return i;
}

/* How the points, from the beginning of the lower level on, come to the next one. */
static void find_border(const struct step_point *points, size_t count, double next,
                        struct level *level) {
    const size_t at = first_above(points, count, sqrt(level->height * next));
    level->below = points[at - 1].n;
    level->above = points[at].n;
    level->last_low = points[first_above(points, count, level->height * LEVEL_NEAR) - 1].n;
    level->first_high = points[first_above(points, count, next / LEVEL_NEAR)].n;
}

size_t levels_find(const struct step_point *points, size_t count, struct level *levels,
                   size_t most) {
    struct step_point kept[MOST];
    size_t good = 0, found = 0, began = 0;
    for (size_t i = 0; i < count && good < MOST; i++)
        if (isfinite(points[i].y))
            kept[good++] = points[i];
    for (size_t i = 0, length; i < good && found < most; i += length) {
        length = flat(kept + i, good - i);
        const struct level level = level_of(kept + i, length);
        if (length < FEWEST || (found && level.height < levels[found - 1].height * LEVEL_APART))
            continue;
        if (found)
            find_border(kept + began, good - began, level.height, &levels[found - 1]);
        levels[found++] = level;
        began = i;
    }
    return found;
}
