/* Names of files that follow from those of others. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* A path without its folder: "gzip" of "/usr/bin/gzip"; itself when it ends in '/'. A part of
 * `path`. */
const char *file_base_name(const char *path);

/* A path as /proc/PID/maps has it becomes what it was: a newline is "\012" there, and nothing else
 * is written in another way (proc_pid_maps(5)). */
void file_name_from_maps(char *path);

struct stat;
/* Whether the file, whose status this is, is also at that path. */
bool file_is_at(const struct stat *file, const char *path);

/* Removes a file that is there and is a regular one. */
void file_remove_regular(const char *path);

/* The name of what is made when no name was given: that of a file or program without its folder,
 * and without the ending `drop` (NULL: whatever it ends in), with `ending` behind it:
 * "dir/gzip.ctrace"
 * -> "gzip.bb". False when that makes no file name. */
bool file_name_from(const char *from, const char *drop, const char *ending,
                    char name[NAME_MAX + 1]);
