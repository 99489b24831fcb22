/* Machines are files NAME.ini in, best first: the directories of $CULPRIT_MACHINES (separated by
 * ':'), machines/ beside the build/ directory the executable is in, share/culprit/machines of the
 * prefix whose bin/ it is in, the user's own, of which only files that are his and that not all may
 * write are read. */
#include "machine/find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/machine.h"
#include "util/array.h"
#include "util/nearest.h"

enum { MAX_LISTED = 4096 };

/* Directory of the executable; false when it cannot be told. */
static bool executable_directory(char directory[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", directory, PATH_MAX - 1);
    if (length <= 0)
        return false;
    directory[length] = 0;
    char *slash = strrchr(directory, '/');
    if (!slash)
        return false;
    *slash = 0;
    return true;
}

bool find_own_directory(char directory[PATH_MAX]) {
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length = PATH_MAX;
    if (config && *config == '/')
        length = snprintf(directory, PATH_MAX, "%s/culprit", config);
    else if (home && *home)
        length = snprintf(directory, PATH_MAX, "%s/.config/culprit", home);
    return length < PATH_MAX;
}

const char *find_distrust(int file) {
    struct stat status;
    if (fstat(file, &status) != 0)
        return strerror(errno);
    return status.st_uid != geteuid()   ? "another user's"
           : (status.st_mode & S_IWOTH) ? "writable by all"
                                        : NULL;
}

static bool find_in_installed(bool (*visit)(const char *directory, void *context), void *context) {
    char directory[PATH_MAX + 32], executable[PATH_MAX];
    if (!executable_directory(executable))
        return false;
    snprintf(directory, sizeof directory, "%s/", executable);
    char *build = NULL;
    for (char *at = directory; (at = strstr(at, "/build/")); at++)
        build = at;
    if (build) {
        strcpy(build, "/machines");
        if (visit(directory, context))
            return true;
    }
    snprintf(directory, sizeof directory, "%s/../share/culprit/machines", executable);
    return visit(directory, context);
}

bool find_directories(bool (*visit)(const char *directory, void *context), void *context) {
    char directory[PATH_MAX];
    const char *list = getenv("CULPRIT_MACHINES");
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (length && length < PATH_MAX) {
            snprintf(directory, sizeof directory, "%.*s", (int)length, list);
            if (visit(directory, context))
                return true;
        }
        list += length + (list[length] == ':');
    }
    return find_in_installed(visit, context) ||
           (find_own_directory(directory) && visit(directory, context));
}

bool machine_is_path(const char *name) {
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 4 && !strcmp(name + length - 4, ".ini"));
}

/* ---- one machine ---- */

struct search {
    const char *name;
    bool (*skip)(const struct stat *status, void *context);
    void *context;
    char *path;
    size_t path_size;
    int file;
    int refused;          /* errno of a file that exists and could not be opened */
    const char *distrust; /* why one was opened and is not read */
    bool skipped;
};

static bool is_own(const char *directory) {
    char own[PATH_MAX];
    return find_own_directory(own) && !strcmp(own, directory);
}

static bool open_in(const char *directory, void *context) {
    struct search *search = context;
    int length = snprintf(search->path, search->path_size, "%s/%s.ini", directory, search->name);
    if (length < 0 || (size_t)length >= search->path_size)
        return false;
    search->file = open(search->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (search->file < 0) {
        if (errno != ENOENT && errno != ENOTDIR && !is_own(directory))
            search->refused = errno;
        return search->refused != 0;
    }
    if (is_own(directory) && (search->distrust = find_distrust(search->file))) {
        close(search->file);
        search->file = -1;
        return true;
    }
    struct stat status;
    if (search->skip && !fstat(search->file, &status) && search->skip(&status, search->context)) {
        close(search->file);
        search->file = -1;
        search->skipped = true;
        return false;
    }
    return true;
}

static bool error_not_found(const char *name, struct error *error) {
    struct error ignored;
    char **names = machine_list(&ignored);
    size_t count = 0, length = 0;
    while (names && names[count])
        count++;
    const char *nearest = nearest_word(name, (const char *const *)names, count);
    char list[512] = "";
    for (size_t i = 0; i < count && length < sizeof list; i++)
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", names[i]);
    error_set(error,
              "no machine %.60s%s%s%s; machines: %s (a file is named by its path; directories of "
              "machines by CULPRIT_MACHINES)",
              name, nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "",
              count ? list : "none found");
    array_free_each(names, count);
    return false;
}

int find_open(const char *name, const char *beside,
              bool (*skip)(const struct stat *status, void *context), void *context, char *path,
              size_t path_size, struct error *error) {
    struct search search = {.name = name,
                            .skip = skip,
                            .context = context,
                            .path = path,
                            .path_size = path_size,
                            .file = -1};
    if (*name && name[0] != '.') {
        if (!(beside && open_in(beside, &search)))
            find_directories(open_in, &search);
    }
    if (search.refused) {
        errno = search.refused;
        error_errno(error, "%.200s", path);
    } else if (search.distrust) {
        error_set(error, "%.200s is not read: it is %s", path, search.distrust);
    } else if (search.file < 0 && search.skipped) {
        error_set(error, "machine %.60s would be its own base", name);
    } else if (search.file < 0) {
        error_not_found(name, error);
    }
    return search.file;
}

bool machine_find(const char *name, char *path, uint32_t size, struct error *error) {
    if (machine_is_path(name)) {
        if ((size_t)snprintf(path, size, "%s", name) >= size)
            return error_set(error, "%.200s...: path too long", name);
        return true;
    }
    int file = find_open(name, NULL, NULL, NULL, path, size, error);
    if (file < 0)
        return false;
    close(file);
    return true;
}

/* ---- all machines ---- */

struct listing {
    char **names;
    size_t count, capacity;
    bool failed;
};

static bool list_directory(const char *path, void *context) {
    struct listing *listing = context;
    DIR *directory = opendir(path);
    if (!directory)
        return false;
    for (struct dirent *entry; (entry = readdir(directory)) && listing->count < MAX_LISTED;) {
        size_t length = strlen(entry->d_name);
        if (length <= 4 || entry->d_name[0] == '.' || strcmp(entry->d_name + length - 4, ".ini"))
            continue;
        char *name = strndup(entry->d_name, length - 4);
        if (!name || !array_room(listing->names, listing->capacity, listing->count + 2)) {
            free(name);
            listing->failed = true;
            break;
        }
        listing->names[listing->count++] = name;
    }
    closedir(directory);
    return listing->failed;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **machine_list(struct error *error) {
    struct listing listing = {0};
    find_directories(list_directory, &listing);
    if (listing.failed || !array_room(listing.names, listing.capacity, 1)) {
        array_free_each(listing.names, listing.count);
        return error_null(error, "list of machines: out of memory");
    }
    if (listing.count)
        qsort(listing.names, listing.count, sizeof *listing.names, compare_names);
    size_t kept = 0;
    for (size_t i = 0; i < listing.count; i++)
        if (kept && !strcmp(listing.names[kept - 1], listing.names[i]))
            free(listing.names[i]);
        else
            listing.names[kept++] = listing.names[i];
    listing.names[kept] = NULL;
    return listing.names;
}
