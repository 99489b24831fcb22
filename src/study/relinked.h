/* A program that is linked anew for each layout, its object files in another order, so that its
 * code and data lie elsewhere in it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "study/study.h"

/* `command` links, and is split at spaces. In it "{}" is the file to write and "{n}" the number of
 * the layout, as a seed for a linker that reorders by itself; its words that end in ".o" are given
 * in an order that follows from that number, for layout 0 as they stand.
 *
 * The words for a layout, NULL-terminated, to be freed by relinking_free_words(). NULL: out of
 * memory. */
char **relinking_words(const char *command, const char *file, uint32_t layout);
void relinking_free_words(char **words);

/* Runs it, until the watch is interrupted; its standard output goes nowhere. */
bool relinked(const char *command, const char *file, uint32_t layout, const struct watch *watch,
              struct error *error);
