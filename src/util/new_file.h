/* A file that takes the place of another: it is written without a name, or, where the file system
 * has no such files, under a temporary one beside that, and renamed when it is complete. Readers
 * see the old one or the new one, whole. A symbolic link is followed first, so that the file it
 * names is replaced and not the link. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "util/error.h"

struct new_file {
    char target[PATH_MAX];         /* links followed */
    char temporary[PATH_MAX + 32]; /* "": it has no name, or there is none */
    bool nameless;                 /* it has none yet, and is kept by: */
    int descriptor;
    bool exists;  /* the target does */
    bool special; /* and is no regular file: nothing can take its place */
    mode_t mode;  /* the target's permissions, or those that a new file gets */
};

/* Errors do not name the file: error_prefix() does. */
bool new_file_find(struct new_file *file, const char *path, struct error *error);
/* Makes the temporary file. NULL with errno: it cannot be made, and there is none. From then on
 * `file` stays where it is until it is renamed or discarded: a signal that ends culprit removes the
 * temporary file (util/at_kill.h). */
FILE *new_file_open(struct new_file *file);
bool new_file_is_made(const struct new_file *file);
/* Gives it its temporary name, for who opens it by that; nothing was written so far, or all was and
 * the stream is closed. Where the file cannot have one, a copy has it. False with errno: it has
 * none. */
bool new_file_name(struct new_file *file);
/* Closes a stream, whose data are on the disk then if it is `durable`. False with errno: not all
 * could be written. */
bool new_file_close(FILE *stream, bool durable);
/* Once it is closed. False with errno: the temporary file is still there. */
bool new_file_rename(struct new_file *file);
/* Removes the temporary file, if there is one. */
void new_file_discard(struct new_file *file);
