/* Detects whether the guest changes the world. A program that only reads, and writes to its
 * standard output, can be run again without harm; one that deletes, renames or writes files, talks
 * to others or starts other processes cannot. The first system call that would is reported to
 * culprit's process before it is made or, in a run that must do no harm, is never made. A program
 * that exec puts in the place of this one is watched in turn; plugin_exec.c reports those that it
 * cannot follow.
 *
 * It errs on the side of caution: a call counts whether or not it would succeed. Files that a
 * program makes for itself, with O_EXCL in a folder for temporary files, are its own to write and
 * delete. A timer changes nothing, but what a program does when it expires depends on how far the
 * program has come, which differs in every run: that cannot be repeated either. What is done to a
 * file that was opened before (ftruncate, mmap) was counted when it was opened. */
#include "trace/qemu/plugin.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "isa/insn.h"
#include "util/array.h"

enum { GUEST_CLONE_THREAD = 0x10000, OWN_FILES = 1024 };

enum judge {
    ALWAYS,   /* it changes something */
    NAMES,    /* it changes the file that argument `path` names */
    REMOVES,  /* likewise; a temporary file of its own it may */
    OPENS,    /* depends on the flags in the argument behind `path` */
    CONNECTS, /* depends on the address */
    SENDS,    /* likewise, the fifth argument */
    SIGNALS,  /* depends on who gets it */
    STARTS,   /* clone: depends on the flags */
    SHARES,   /* System V: depends on the key */
    ALARMS,   /* alarm(): unless it only stops one */
    TIMES,    /* likewise; depends on the time that argument `path` points to */
};

static const struct rule {
    int16_t number[ISA_COUNT]; /* −1: this instruction set has no such call */
    uint8_t judge;
    uint8_t path; /* index of an argument */
    const char *what;
} RULES[] = {
    {{87, -1}, REMOVES, 0, "deleting"},
    {{263, 35}, REMOVES, 1, "deleting"},
    {{84, -1}, NAMES, 0, "deleting"},
    {{82, -1}, NAMES, 0, "renaming"},
    {{264, 38}, NAMES, 1, "renaming"},
    {{316, 276}, NAMES, 1, "renaming"},
    {{86, -1}, NAMES, 1, "linking"},
    {{265, 37}, NAMES, 3, "linking"},
    {{88, -1}, NAMES, 1, "linking"},
    {{266, 36}, NAMES, 2, "linking"},
    {{83, -1}, NAMES, 0, "making"},
    {{258, 34}, NAMES, 1, "making"},
    {{133, -1}, NAMES, 0, "making"},
    {{259, 33}, NAMES, 1, "making"},
    {{76, 45}, NAMES, 0, "truncating"},
    {{90, -1}, NAMES, 0, "changing the mode of"},
    {{268, 53}, NAMES, 1, "changing the mode of"},
    {{91, 52}, ALWAYS, 0, "changing the mode of a file"},
    {{92, -1}, NAMES, 0, "changing the owner of"},
    {{94, -1}, NAMES, 0, "changing the owner of"},
    {{260, 54}, NAMES, 1, "changing the owner of"},
    {{93, 55}, ALWAYS, 0, "changing the owner of a file"},
    {{132, -1}, NAMES, 0, "changing the times of"},
    {{235, -1}, NAMES, 0, "changing the times of"},
    {{261, -1}, NAMES, 1, "changing the times of"},
    {{280, 88}, NAMES, 1, "changing the times of"},
    {{188, 5}, NAMES, 0, "changing an attribute of"},
    {{189, 6}, NAMES, 0, "changing an attribute of"},
    {{190, 7}, ALWAYS, 0, "changing an attribute of a file"},
    {{197, 14}, NAMES, 0, "changing an attribute of"},
    {{198, 15}, NAMES, 0, "changing an attribute of"},
    {{199, 16}, ALWAYS, 0, "changing an attribute of a file"},
    {{85, -1}, NAMES, 0, "writing"},
    {{2, -1}, OPENS, 0, "writing"},
    {{257, 56}, OPENS, 1, "writing"},
    {{437, 437}, NAMES, 1, "opening"},
    {{42, 203}, CONNECTS, 0, "connecting to another program"},
    {{49, 200}, CONNECTS, 0, "offering a connection"},
    {{44, 206}, SENDS, 0, "sending to another program"},
    {{62, 129}, SIGNALS, 0, "sending a signal"},
    {{200, 130}, SIGNALS, 0, "sending a signal"},
    {{234, 131}, SIGNALS, 0, "sending a signal"},
    {{424, 424}, ALWAYS, 0, "sending a signal"},
    {{56, 220}, STARTS, 0, "starting another process"},
    {{57, -1}, ALWAYS, 0, "starting another process"},
    {{58, -1}, ALWAYS, 0, "starting another process"},
    {{29, 194}, SHARES, 0, "sharing memory"},
    {{64, 190}, SHARES, 0, "sharing a semaphore"},
    {{68, 186}, SHARES, 0, "sharing a queue"},
    {{240, 180}, ALWAYS, 0, "sharing a queue"},
    {{101, 117}, ALWAYS, 0, "tracing another process"},
    {{311, 271}, ALWAYS, 0, "writing into another process"},
    {{425, 425}, ALWAYS, 0, "using io_uring"},
    {{164, 170}, ALWAYS, 0, "setting the clock"},
    {{227, 112}, ALWAYS, 0, "setting the clock"},
    {{165, 40}, ALWAYS, 0, "mounting"},
    {{166, 39}, ALWAYS, 0, "unmounting"},
    {{169, 142}, ALWAYS, 0, "rebooting"},
    {{37, -1}, ALARMS, 0, "setting a timer"},
    {{38, 103}, TIMES, 1, "setting a timer"},
    {{223, 110}, TIMES, 2, "setting a timer"},
    {{286, 86}, TIMES, 2, "setting a timer"},
};

static uint64_t own_files[OWN_FILES]; /* hashes of their paths */
static uint32_t own_file_count;
static bool told;

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_temporary(const char *path) {
    const char *folder = getenv("TMPDIR");
    if (strstr(path, "/.."))
        return false;
    return begins(path, "/tmp/") || begins(path, "/var/tmp/") ||
           (folder && *folder == '/' && folder[1] && begins(path, folder));
}

static bool is_own(const char *path) {
    uint64_t hash = XXH3_64bits(path, strlen(path));
    return any_where(i, own_file_count, own_files[i] == hash);
}

/* A write there changes nothing. */
static bool is_sink(const char *path) {
    static const char *const SINKS[] = {"/dev/null",   "/dev/zero",   "/dev/full", "/dev/tty",
                                        "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2"};
    return any_where(i, sizeof SINKS / sizeof *SINKS, !strcmp(path, SINKS[i]));
}

static bool open_changes(const char *path, uint64_t flags) {
    if ((flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC)))
        return false;
    if ((flags & O_TMPFILE) == O_TMPFILE || is_sink(path) || is_own(path))
        return false;
    bool anew = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
    if (!anew || !is_temporary(path) || own_file_count == OWN_FILES)
        return true;
    own_files[own_file_count++] = XXH3_64bits(path, strlen(path));
    return false;
}

/* Only requests to the name service's cache, or to the kernel, change nothing. */
static bool address_changes(uint64_t address, uint64_t size) {
    struct sockaddr_un to = {.sun_family = AF_UNSPEC};
    if (!address)
        return false;
    if (size < sizeof to.sun_family ||
        !guest_read(address, &to, size < sizeof to ? size : sizeof to))
        return true;
    to.sun_path[sizeof to.sun_path - 1] = 0;
    if (to.sun_family == AF_NETLINK || to.sun_family == AF_UNSPEC)
        return false;
    return to.sun_family != AF_UNIX || strcmp(to.sun_path, "/var/run/nscd/socket") != 0;
}

/* struct itimerval and itimerspec alike: interval, then the time to the first expiry; 0: none. */
static bool timer_starts(uint64_t address) {
    uint64_t times[4];
    return guest_read(address, times, sizeof times) && (times[2] || times[3]);
}

static bool changes(const struct rule *rule, const char *path, const uint64_t arguments[6]) {
    switch (rule->judge) {
    case REMOVES:
        return !is_own(path);
    case OPENS:
        return open_changes(path, arguments[rule->path + 1]);
    case CONNECTS:
        return address_changes(arguments[1], arguments[2]);
    case SENDS:
        return address_changes(arguments[4], arguments[5]);
    case SIGNALS:
        return arguments[0] != (uint64_t)getpid() && arguments[0] != (uint64_t)gettid();
    case STARTS:
        return !(arguments[0] & GUEST_CLONE_THREAD);
    case SHARES:
        return arguments[0] != 0; /* IPC_PRIVATE */
    case ALARMS:
        return (uint32_t)arguments[0] != 0;
    case TIMES:
        return timer_starts(arguments[rule->path]);
    default:
        return true;
    }
}

static bool is_watched(void) {
    const struct ring_control *control = plugin.control;
    return control->watch_effects && (!told || control->harmless);
}

/* Reports the effect; `path` is what it changes, or NULL. A run that must do no harm ends here. */
static void tell(unsigned vcpu, const char *what, const char *path) {
    struct ring_effect effect = {.record.kind = RING_EFFECT};
    char text[RING_EFFECT_BYTES];
    int size = snprintf(text, sizeof text, "%s%s%s", what, path ? " " : "", path ? path : "");
    size_t bytes = size < 0 ? 0 : (size_t)size < sizeof text ? (size_t)size : sizeof text - 1;
    text[bytes] = 0;
    effect.position = thread_position();
    thread_number(vcpu, &effect.thread);
    /* The record precedes the chunk that ends there, so the reader goes no further. */
    process_put(&effect.record, sizeof effect, text, bytes + 1);
    thread_publish();
    process_ring_doorbell();
    addresses_needed();
    told = true;
    if (plugin.control->harmless)
        kill(getpid(), SIGKILL);
}

void effect_of_exec(unsigned vcpu, const char *path) {
    if (is_watched())
        tell(vcpu, "starting", path);
}

void effect_forked(void) {
    own_file_count = 0; /* the parent's */
}

static const struct rule *rule_of(int64_t number) {
    const size_t count = sizeof RULES / sizeof *RULES,
                 i = index_where(k, count, RULES[k].number[plugin.control->isa] == number);
    return i < count ? &RULES[i] : NULL;
}

void effect_watch(unsigned vcpu, int64_t number, const uint64_t arguments[6]) {
    const struct rule *rule = rule_of(number);
    const bool timer = rule && (rule->judge == ALARMS || rule->judge == TIMES);
    if (!rule || (!timer && !is_watched()))
        return;
    const bool named = rule->judge == NAMES || rule->judge == REMOVES || rule->judge == OPENS;
    char *path = named ? guest_read_string(arguments[rule->path]) : NULL;
    if ((path || !named) && changes(rule, path, arguments)) {
        if (timer)
            atomic_store(&plugin.control->timer_set, 1);
        if (is_watched())
            tell(vcpu, rule->what, path);
    }
    free(path);
}
