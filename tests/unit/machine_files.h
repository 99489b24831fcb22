/* Machine files for tests: a directory of their own, removed with what is in it. */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[64];

static int make_directory(void **state) {
    (void)state;
    strcpy(directory, "/tmp/culprit-machines-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state) {
    (void)state;
    DIR *entries = opendir(directory);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        unlink(path);
    }
    if (entries)
        closedir(entries);
    return rmdir(directory);
}

/* Writes NAME.ini and returns its path, valid until the next call. */
static const char *write_bytes(const char *name, const char *bytes, size_t size) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s.ini", directory, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static const char *write_text(const char *name, const char *text) {
    return write_bytes(name, text, strlen(text));
}

/* The error of loading `path`, which must fail with one line of printable text. */
static inline const char *load_error(const char *path) {
    static struct machine machine;
    static struct error error;
    error.message[0] = 0;
    assert_false(machine_load(path, &machine, &error));
    assert_true(strlen(error.message) > 0);
    assert_null(strpbrk(error.message, "\n\r"));
    return error.message;
}
