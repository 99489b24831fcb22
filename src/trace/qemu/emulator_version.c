/* QEMU has the first line of what it says to --version as one string: to look it up in the file
 * takes a small part of a start of the emulator. */
#include "trace/qemu/emulator_version.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The number behind the words "qemu-x86_64 version " among so many bytes, as "qemu 7.2.22". */
static bool find_version(const char *bytes, size_t size, const char *name,
                         char version[EMULATOR_VERSION_BYTES]) {
    char words[64];
    const size_t length = (size_t)snprintf(words, sizeof words, "%s version ", name);
    const char *number = memmem(bytes, size, words, length);
    if (!number)
        return false;
    number += length;
    const size_t left = size - (size_t)(number - bytes);
    size_t digits = 0;
    while (digits < left && digits < 100 && number[digits] && !strchr(" (\n", number[digits]))
        digits++;
    snprintf(version, EMULATOR_VERSION_BYTES, "qemu %.*s", (int)digits, number);
    return digits > 0;
}

/* NULL: it cannot be read. */
static void *map_file(const char *emulator, size_t *size) {
    struct stat status;
    int file = open(emulator, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    void *bytes = MAP_FAILED;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        *size = (size_t)status.st_size;
        bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    close(file);
    return bytes == MAP_FAILED ? NULL : bytes;
}

static bool version_in_file(const char *emulator, const char *name,
                            char version[EMULATOR_VERSION_BYTES]) {
    size_t size;
    void *bytes = map_file(emulator, &size);
    if (!bytes)
        return false;
    bool found = find_version(bytes, size, name, version);
    munmap(bytes, size);
    return found;
}

bool emulator_lacks_plugins(const char *path, const char *name) {
    static const char entry[] = "qemu_plugin_install"; /* what it would look up in a plugin */
    char version[EMULATOR_VERSION_BYTES];
    size_t size;
    void *bytes = map_file(path, &size);
    if (!bytes)
        return false;
    const bool lacks =
        !memmem(bytes, size, entry, sizeof entry - 1) && find_version(bytes, size, name, version);
    munmap(bytes, size);
    return lacks;
}

/* Asks `emulator --version`: a script, say, that starts the emulator. */
static bool version_told(const char *emulator, const char *name,
                         char version[EMULATOR_VERSION_BYTES]) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    char *const arguments[] = {(char *)emulator, "--version", NULL};
    pid_t pid;
    bool started = posix_spawn(&pid, emulator, &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char line[256];
    size_t used = 0;
    ssize_t got;
    while (
        started && used < sizeof line &&
        ((got = read(ends[0], line + used, sizeof line - used)) > 0 || (got < 0 && errno == EINTR)))
        used += got > 0 ? (size_t)got : 0;
    close(ends[0]);
    while (started && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return find_version(line, used, name, version);
}

void emulator_version(const char *path, const char *name, char version[EMULATOR_VERSION_BYTES]) {
    if (!version_in_file(path, name, version) && !version_told(path, name, version))
        snprintf(version, EMULATOR_VERSION_BYTES, "qemu");
}
