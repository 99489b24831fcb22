#include "cluster/jobs_folder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char PREFIX[] = "culprit-";

static void remove_files(const char *path) {
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(path);
}

/* "culprit-" and 16 hexadecimal digits. */
static bool is_ours(const char *name) {
    const size_t length = sizeof PREFIX - 1;
    return !strncmp(name, PREFIX, length) && strlen(name) == length + 16 &&
           strspn(name + length, "0123456789abcdef") == 16;
}

static void sweep(const char *parent) {
    DIR *folder = opendir(parent);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char *path;
        struct error error;
        if (!is_ours(entry->d_name) || asprintf(&path, "%s/%s", parent, entry->d_name) < 0)
            continue;
        /* While no controller answers, it is for the next one. */
        if (slurm_cancel(entry->d_name, &error) != SLURM_AWAY)
            remove_files(path);
        free(path);
    }
    if (folder)
        closedir(folder);
}

bool jobs_folder_make(struct jobs_folder *jobs, const char *folder, struct error *error) {
    char *parent;
    uint64_t number = 0;
    *jobs = (struct jobs_folder){0};
    if (strchr(folder, '\\'))
        return error_set(error,
                         "--cluster: %.300s: sbatch has no way to write a log where a path "
                         "has a backslash",
                         folder);
    if (asprintf(&parent, "%s/jobs", folder) < 0)
        return error_set(error, "out of memory for a folder");
    bool good = mkdir(parent, 0777) == 0 || errno == EEXIST ||
                error_errno(error, "--cluster: cannot make %.300s", parent);
    if (good)
        sweep(parent);
    good = good && (getrandom(&number, sizeof number, 0) == sizeof number ||
                    error_errno(error, "--cluster: no random number for the name of jobs"));
    snprintf(jobs->name, sizeof jobs->name, "%s%016" PRIx64, PREFIX, number);
    if (good && asprintf(&jobs->path, "%s/%s", parent, jobs->name) < 0) {
        jobs->path = NULL;
        good = error_set(error, "out of memory for a folder");
    }
    good = good && (mkdir(jobs->path, 0777) == 0 ||
                    error_errno(error, "--cluster: cannot make %.300s", jobs->path));
    free(parent);
    return good;
}

char *jobs_folder_file(const struct jobs_folder *jobs, uint32_t submission, const char *ending) {
    char *path;
    return asprintf(&path, "%s/%u%s", jobs->path, submission, ending) < 0 ? NULL : path;
}

void jobs_folder_remove(const struct jobs_folder *jobs) {
    remove_files(jobs->path);
    char *end = jobs->path ? strrchr(jobs->path, '/') : NULL;
    if (end) {
        *end = 0;
        rmdir(jobs->path); /* unless another one's logs are there */
        *end = '/';
    }
}

void jobs_folder_free(struct jobs_folder *jobs) {
    free(jobs->path);
    *jobs = (struct jobs_folder){0};
}
