/* What was measured of skid, kept in a file of text: "skid SAMPLES", then the shares. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "calibrate/skid.h"
#include "machine/processor.h"

static const char HEAD[] = "culprit skid 1";

static bool is_own(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           !(status.st_mode & (S_IWGRP | S_IWOTH));
}

static bool parse(FILE *file, struct skid *skid) {
    char head[sizeof HEAD];
    unsigned long long samples;
    double sum = 0;
    if (!fgets(head, sizeof head, file) || strcmp(head, HEAD) != 0 ||
        fscanf(file, "%llu", &samples) != 1 || !samples)
        return false;
    *skid = (struct skid){.samples = samples};
    for (unsigned i = 0; i <= SKID_MOST; i++) {
        if (fscanf(file, "%lf", &skid->shares[i]) != 1 ||
            !(skid->shares[i] >= 0 && skid->shares[i] <= 1))
            return false;
        sum += skid->shares[i];
    }
    return sum > 0.999 && sum < 1.001;
}

bool skid_read(const char *path, struct skid *skid) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return false;
    FILE *file = is_own(descriptor) ? fdopen(descriptor, "r") : NULL;
    if (!file) {
        close(descriptor);
        return false;
    }
    const bool good = parse(file, skid);
    fclose(file);
    return good;
}

/* As a whole or not at all. */
bool skid_write(const char *path, const struct skid *skid) {
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s.%d", path, (int)getpid()) >= (int)sizeof part)
        return false;
    const int descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!file) {
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    fprintf(file, "%s\n%llu\n", HEAD, (unsigned long long)skid->samples);
    for (unsigned i = 0; i <= SKID_MOST; i++)
        fprintf(file, "%.9f\n", skid->shares[i]);
    const bool written = !ferror(file);
    if (fclose(file) == 0 && written && rename(part, path) == 0)
        return true;
    unlink(part);
    return false;
}

static bool is_virtual(void) {
#ifdef __x86_64__
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c >> 31;
#else
    return false;
#endif
}

/* ".../culprit/skid-AuthenticAMD-19-11-virtual-cpu-clock". False: there is no place for it. */
static bool find_path(const char *event, char path[PATH_MAX]) {
    const char *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool own = caches && *caches == '/';
    struct processor processor;
    processor_read(&processor);
    if (strchr(event, '/') || (!own && (!home || *home != '/')))
        return false;
    return snprintf(path, PATH_MAX, "%s%s/culprit/skid-%s-%x-%x%s-%s", own ? caches : home,
                    own ? "" : "/.cache", processor.vendor, processor.family, processor.model,
                    is_virtual() ? "-virtual" : "", event) < PATH_MAX;
}

static void make_folders(const char *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(folder, 0700);
        *slash = '/';
    }
}

bool skid_of_host(const char *event, struct skid *skid, bool *new, struct error *error) {
    char path[PATH_MAX];
    const bool kept = find_path(event, path);
    *new = false;
    if (kept && skid_read(path, skid))
        return true;
    *new = true;
    if (!skid_measure(event, skid, error))
        return false;
    if (kept) {
        make_folders(path);
        skid_write(path, skid);
    }
    return true;
}
