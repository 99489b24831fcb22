#include "util/nearest.h"

#include <stdint.h>
#include <string.h>

/* Edits (insert, delete, replace one character) from a to b, words of up to 31 characters. */
static size_t edit_distance(const char *a, const char *b) {
    size_t row[32], a_length = strlen(a), b_length = strlen(b);
    if (a_length > 31 || b_length > 31)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b_length];
}

/* What is as far away would be no help. */
static size_t too_far(const char *word) {
    return strlen(word) / 3 + 2;
}

bool word_is_near(const char *word, const char *candidate) {
    return edit_distance(word, candidate) < too_far(word);
}

const char *nearest_word(const char *word, const char *const *candidates, size_t count) {
    const char *nearest = NULL;
    size_t best = too_far(word);
    for (size_t i = 0; i < count; i++) {
        size_t distance = candidates[i] ? edit_distance(word, candidates[i]) : SIZE_MAX;
        if (distance < best) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}
