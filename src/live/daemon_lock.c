/* To find out whether the lock is held is to take it (shared) for a moment, hence the patience of
 * who takes it for good. */
#include "live/daemon_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 50 }; /* times 10 ms */

bool daemon_run_path(const char *name, char path[PATH_MAX], struct error *error) {
    const char *folder = getenv("CULPRIT_RUN");
    if (!folder || !*folder)
        folder = "/run/culprit";
    return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX ||
           error_set(error, "CULPRIT_RUN: the path is too long");
}

static void wait_10_ms(void) {
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* 0 when there is no number of a process in it. */
static pid_t read_pid(int file) {
    char text[16];
    ssize_t size = pread(file, text, sizeof text - 1, 0);
    if (size <= 0)
        return 0;
    text[size] = 0;
    char *end;
    long pid = strtol(text, &end, 10);
    return *end == '\n' && pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

/* Its holder writes the number right after it has taken the lock. */
static pid_t wait_for_pid(int file) {
    for (int i = 0; i < PATIENCE; i++) {
        pid_t pid = read_pid(file);
        if (pid > 0 && (kill(pid, 0) == 0 || errno == EPERM))
            return pid;
        wait_10_ms();
    }
    return 0;
}

static bool lock_patiently(int file) {
    for (int i = 0; i < PATIENCE; i++) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK)
            return false;
        wait_10_ms();
    }
    return false;
}

int daemon_lock_take(struct error *error) {
    char path[PATH_MAX];
    if (!daemon_run_path("daemon.lock", path, error))
        return -1;
    char *slash = strrchr(path, '/');
    *slash = 0;
    bool made = mkdir(path, 0755) == 0 || errno == EEXIST;
    if (!made) {
        error_errno(error,
                    "%s: cannot make the folder of the daemon's lock (CULPRIT_RUN names "
                    "another)",
                    path);
        return -1;
    }
    *slash = '/';
    /* Whoever may open it may lock it, and so keep the daemon from starting. */
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) {
        error_errno(error, "%s: cannot lock (CULPRIT_RUN names another folder)", path);
        return -1;
    }
    char text[16];
    int length = snprintf(text, sizeof text, "%d\n", (int)getpid());
    if (!lock_patiently(file)) {
        if (errno == EWOULDBLOCK)
            error_set(error, "a daemon runs already, process %d (%s)", (int)read_pid(file), path);
        else
            error_errno(error, "%s: cannot lock", path);
    } else if (ftruncate(file, 0) != 0 || pwrite(file, text, (size_t)length, 0) != length) {
        error_errno(error, "%s: cannot write", path);
    } else {
        return file;
    }
    close(file);
    return -1;
}

void daemon_lock_release(int lock) {
    if (lock < 0)
        return;
    if (ftruncate(lock, 0) != 0)
        errno = 0; /* without the lock the number says nothing */
    close(lock);
}

pid_t daemon_lock_pid(struct error *error) {
    char path[PATH_MAX];
    if (!daemon_run_path("daemon.lock", path, error))
        return -1;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return 0;
        error_errno(error, "%s: cannot open (try sudo)", path);
        return -1;
    }
    pid_t pid = 0;
    if (flock(file, LOCK_SH | LOCK_NB) != 0) {
        pid = wait_for_pid(file);
        if (pid == 0) {
            error_set(error, "%s: locked, but no daemon tells its process number there", path);
            pid = -1;
        }
    }
    close(file);
    return pid;
}
