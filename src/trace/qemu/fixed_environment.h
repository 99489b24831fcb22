/* The environment of a command whose run is to be the same everywhere: the variables below and
 * those asked for, in an order of their own, and one more that fills up what lies at the top of its
 * stack, so that the stack begins at one address whatever the command, its path and its arguments
 * are. */
#pragma once

#include <stdint.h>

/* NULL-terminated; freed by fixed_environment_free(). `wanted`: "NAME=VALUE", or "NAME" for its
 * value here (left out if it has none). NULL: out of memory. */
char **fixed_environment(const char *program, char *const *arguments, const char *const *wanted,
                         uint32_t wanted_count);
void fixed_environment_free(char **environment);
