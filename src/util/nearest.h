/* What was meant by a word that is not known. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The candidate with the fewest edits (insert, delete, replace a character) from `word`, NULL when
 * none is near: a third of its characters and one more. Words of up to 31 characters; NULL
 * candidates are skipped. */
const char *nearest_word(const char *word, const char *const *candidates, size_t count);

/* Whether `candidate` is so near to `word`. */
bool word_is_near(const char *word, const char *candidate);
