/* scores[i][j]: of the best matching of the lines from i and from j on, in their order. A matching
 * of longer functions than there is room for goes by distance alone. Two lines that lie as far from
 * the first as two others did weigh less than one of the same instructions: behind a line that was
 * put in, all do. */
#include "query/compared_lines.h"

#include <stdlib.h>

enum { CELLS_MOST = 4 << 20, SAME_SHAPE = 3, SAME_DISTANCE = 1 };

static unsigned likeness(const struct compared_line *one, const struct compared_line *other) {
    return (one->shape == other->shape ? SAME_SHAPE : 0) +
           (one->distance == other->distance ? SAME_DISTANCE : 0);
}

static void match_by_distance(const struct compared_function *before,
                              const struct compared_function *after, uint32_t *matches) {
    size_t j = 0;
    for (size_t i = 0; i < before->line_count; i++) {
        while (j < after->line_count && after->lines[j].distance < before->lines[i].distance)
            j++;
        const bool found =
            j < after->line_count && after->lines[j].distance == before->lines[i].distance;
        matches[i] = found ? (uint32_t)j++ : NO_LINE;
    }
}

/* Lines that were edited and moved are like none, but stand between lines that are matched: as many
 * on both sides are each other's, in their order. */
static void match_between(size_t rows, size_t columns, uint32_t *matches) {
    for (size_t i = 0, after = 0; i < rows;) {
        if (matches[i] != NO_LINE) {
            after = (size_t)matches[i++] + 1;
            continue;
        }
        size_t end = i;
        while (end < rows && matches[end] == NO_LINE)
            end++;
        const size_t next = end < rows ? matches[end] : columns;
        for (; next - after == end - i && i < end; i++)
            matches[i] = (uint32_t)after++;
        i = end;
    }
}

bool compared_lines_match(const struct compared_function *before,
                          const struct compared_function *after, uint32_t *matches) {
    const size_t rows = before->line_count, columns = after->line_count;
    if (rows + 1 > CELLS_MOST / (columns + 1)) {
        match_by_distance(before, after, matches);
        return true;
    }
    uint32_t *scores = calloc((rows + 1) * (columns + 1), sizeof *scores);
    if (!scores)
        return false;
#define SCORE(i, j) scores[(i) * (columns + 1) + (j)]
    for (size_t i = rows; i-- > 0;)
        for (size_t j = columns; j-- > 0;) {
            const unsigned like = likeness(&before->lines[i], &after->lines[j]);
            uint32_t best = SCORE(i + 1, j) > SCORE(i, j + 1) ? SCORE(i + 1, j) : SCORE(i, j + 1);
            if (like && SCORE(i + 1, j + 1) + like > best)
                best = SCORE(i + 1, j + 1) + like;
            SCORE(i, j) = best;
        }
    for (size_t i = 0, j = 0; i < rows;) {
        const unsigned like = j < columns ? likeness(&before->lines[i], &after->lines[j]) : 0;
        if (like && SCORE(i, j) == SCORE(i + 1, j + 1) + like)
            matches[i++] = (uint32_t)j++;
        else if (j < columns && SCORE(i, j) == SCORE(i, j + 1))
            j++;
        else
            matches[i++] = NO_LINE;
    }
#undef SCORE
    match_between(rows, columns, matches);
    free(scores);
    return true;
}
