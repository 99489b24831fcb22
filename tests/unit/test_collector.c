/* Samples of the whole machine, taken while processes with a known behaviour run. Needs the right
 * to load BPF programs; skipped elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "live/collector.h"
#include "util/array.h"
#include "util/clock.h"

static const double RATE = 5200; /* samples per second and processor */

struct gathered {
    struct live_sample *samples;
    size_t sample_count, sample_capacity;
    struct live_process *processes;
    size_t process_count, process_capacity;
    struct {
        struct live_file_key key;
        char path[256];
    } * files;
    size_t file_count, file_capacity;
    uint64_t total, unknown;
    uint64_t refuse_after; /* deliveries; 0: none is refused */
    uint64_t delivered;
};

struct fixture {
    struct live_event event;
    struct collector *collector;
    struct gathered gathered;
    struct live_sink sink;
};

static bool gather_process(void *context, const struct live_process *process, struct error *error) {
    struct gathered *gathered = context;
    (void)error;
    assert_true(array_reserve((void **)&gathered->processes, &gathered->process_capacity,
                              gathered->process_count + 1, sizeof *process));
    gathered->processes[gathered->process_count++] = *process;
    return true;
}

static bool gather_file(void *context, const struct live_file *file, struct error *error) {
    struct gathered *gathered = context;
    (void)error;
    assert_true(array_reserve((void **)&gathered->files, &gathered->file_capacity,
                              gathered->file_count + 1, sizeof *gathered->files));
    gathered->files[gathered->file_count].key = file->key;
    snprintf(gathered->files[gathered->file_count++].path, 256, "%s", file->path);
    return true;
}

static bool gather_sample(void *context, const struct live_sample *sample, struct error *error) {
    struct gathered *gathered = context;
    assert_true(sample->count >= 1);
    if (gathered->refuse_after && gathered->delivered++ == gathered->refuse_after)
        return error_set(error, "refused");
    assert_true(array_reserve((void **)&gathered->samples, &gathered->sample_capacity,
                              gathered->sample_count + 1, sizeof *sample));
    gathered->samples[gathered->sample_count++] = *sample;
    gathered->total += sample->count;
    if (sample->at.place == PLACE_UNKNOWN)
        gathered->unknown += sample->count;
    return true;
}

static struct fixture *start(uint32_t entries) {
    struct error error = {0};
    size_t count;
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct live_event events[LIVE_EVENTS_MAX];
    assert_non_null(fixture);
    if (!live_events_choose(NULL, RATE, true, events, &count, &error)) {
        print_message("%s\n", error.message);
        free(fixture);
        return NULL;
    }
    fixture->event = events[0];
    struct collector_options options = {.events = events, .event_count = count, .entries = entries};
    fixture->collector = collector_new(&options, &error);
    if (!fixture->collector) {
        print_message("%s\n", error.message);
        free(fixture);
        return NULL;
    }
    fixture->sink = (struct live_sink){.context = &fixture->gathered,
                                       .process = gather_process,
                                       .file = gather_file,
                                       .sample = gather_sample};
    return fixture;
}

#define START(name, entries)                                                                       \
    struct fixture *name = start(entries);                                                         \
    if (!name)                                                                                     \
    skip()

static void drain(struct fixture *fixture) {
    struct error error = {0};
    if (!collector_drain(fixture->collector, &fixture->sink, &error))
        fail_msg("%s", error.message);
}

static void finish(struct fixture *fixture) {
    collector_free(fixture->collector);
    free(fixture->gathered.samples);
    free(fixture->gathered.processes);
    free(fixture->gathered.files);
    free(fixture);
}

static uint64_t samples_of(const struct gathered *gathered, pid_t pid) {
    uint64_t count = 0;
    for (size_t i = 0; i < gathered->sample_count; i++)
        if (gathered->samples[i].process.pid == (uint32_t)pid)
            count += gathered->samples[i].count;
    return count;
}

static const char *path_of(const struct gathered *gathered, const struct live_file_key *key) {
    for (size_t i = 0; i < gathered->file_count; i++) {
        const struct live_file_key *known = &gathered->files[i].key;
        if (known->device == key->device && known->inode == key->inode &&
            known->generation == key->generation)
            return gathered->files[i].path;
    }
    return "";
}

/* ---- processes ---- */

static void spin(double seconds) {
    for (double end = clock_processor() + seconds; clock_processor() < end;)
        for (volatile int i = 0; i < 10000; i++)
            continue;
}

/* CPU seconds that the child took. */
static double reap(pid_t child) {
    struct rusage usage;
    int status;
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void run_true(unsigned times) {
    char *command[] = {"true", NULL};
    for (unsigned i = 0; i < times; i++) {
        pid_t child;
        int status;
        assert_int_equal(posix_spawn(&child, "/bin/true", NULL, NULL, command, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
    }
}

static bool linux_at_least(unsigned major, unsigned minor) {
    struct utsname name;
    unsigned has_major = 0, has_minor = 0;
    uname(&name);
    sscanf(name.release, "%u.%u", &has_major, &has_minor);
    return has_major > major || (has_major == major && has_minor >= minor);
}

static void assert_near(double found, double expected, double tolerance) {
    if (found < expected * (1 - tolerance) || found > expected * (1 + tolerance))
        fail_msg("%g is not within %g %% of %g", found, tolerance * 100, expected);
}

/* ---- tests ---- */

/* Samples of a process that spins, drained all the while, for each that its CPU time holds periods.
 */
static double taken_of_expected(struct fixture *fixture) {
    pid_t child = fork();
    if (child == 0) {
        spin(1);
        _exit(0);
    }
    siginfo_t info = {0};
    while (info.si_pid != child) {
        drain(fixture);
        poll(NULL, 0, 50);
        assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    }
    double seconds = reap(child);
    drain(fixture);
    uint64_t samples = samples_of(&fixture->gathered, child);
    assert_true(samples > 0);
    return (double)samples * (double)fixture->event.period / (seconds * 1e9);
}

/* As many samples as its CPU time holds periods. Time that the host takes from this machine is CPU
 * time without samples: one try in five is free of it, or the rate is wrong. */
static void test_rate(void **state) {
    (void)state;
    START(fixture, 0);
    double taken;
    int tries = 0;
    do
        taken = taken_of_expected(fixture);
    while (fixture->event.kind == LIVE_CPU_CLOCK && fabs(taken - 1) > 0.04 && ++tries < 5);
    if (fixture->event.kind == LIVE_CPU_CLOCK)
        assert_near(taken, 1, 0.04);
    finish(fixture);
}

/* Every sample taken is delivered, while drains go on during a storm and the table is so small that
 * it overflows. */
static void test_exactly_once(void **state) {
    (void)state;
    START(fixture, 256);
    struct collector_statistics before, after;
    for (int i = 0; i < 40; i++) {
        run_true(10);
        drain(fixture);
    }
    collector_statistics(fixture->collector, &before);
    drain(fixture);
    collector_statistics(fixture->collector, &after);
    uint64_t found = fixture->gathered.total + after.dropped;
    assert_true(after.samples > 50);
    assert_true(found >= before.samples);
    assert_true(found <= after.samples);
    assert_int_equal(after.samples, after.hits + after.inserted + after.dropped);
    finish(fixture);
}

/* Evicted entries are delivered too, and samples that found no room are counted. Each processor has
 * tables of its own: the children run on one of them, and fill its tables. */
static void test_evictions(void **state) {
    (void)state;
    START(fixture, 256);
    struct collector_statistics before, after;
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    before.evicted = 0;
    for (int i = 0; i < 40 && !before.evicted; i++) {
        run_true(50);
        collector_statistics(fixture->collector, &before);
    }
    drain(fixture);
    collector_statistics(fixture->collector, &after);
    assert_true(after.evicted > 0);
    assert_true(fixture->gathered.total + after.dropped >= before.samples);
    assert_true(fixture->gathered.total + after.dropped <= after.samples);
    /* The overflow buffer passed half. */
    struct pollfd wake = {.fd = collector_descriptor(fixture->collector), .events = POLLIN};
    for (int i = 0; i < 40 && poll(&wake, 1, 0) == 0; i++)
        run_true(50);
    assert_int_equal(poll(&wake, 1, 0), 1);
    drain(fixture);
    assert_int_equal(poll(&wake, 1, 0), 0);
    sched_setaffinity(0, sizeof all, &all);
    finish(fixture);
}

/* A receiver that fails in the middle gets the rest later, nothing twice. */
static void test_refusal(void **state) {
    (void)state;
    START(fixture, 0);
    struct error error = {0};
    struct collector_statistics statistics;
    run_true(100);
    fixture->gathered.refuse_after = 50;
    assert_false(collector_drain(fixture->collector, &fixture->sink, &error));
    assert_string_equal(error.message, "refused");
    assert_int_equal(fixture->gathered.sample_count, 50);
    fixture->gathered.refuse_after = 0;
    collector_statistics(fixture->collector, &statistics);
    drain(fixture);
    drain(fixture);
    assert_true(fixture->gathered.total >= statistics.samples);
    collector_statistics(fixture->collector, &statistics);
    assert_true(fixture->gathered.total <= statistics.samples);
    finish(fixture);
}

/* Processes that are gone before the drain: each in its file, none unknown. Drained when asked for,
 * as the daemon does, nothing is lost on however busy a machine. */
static void test_storm(void **state) {
    (void)state;
    START(fixture, 0);
    struct pollfd wake = {.fd = collector_descriptor(fixture->collector), .events = POLLIN};
    for (int i = 0; i < 15; i++) {
        run_true(50);
        if (poll(&wake, 1, 0) == 1)
            drain(fixture);
    }
    drain(fixture);
    struct gathered *gathered = &fixture->gathered;
    struct collector_statistics statistics;
    collector_statistics(fixture->collector, &statistics);
    assert_int_equal(statistics.dropped, 0);
    if (linux_at_least(6, 4))
        assert_true(statistics.searched * 100 <= statistics.inserted);
    assert_true(gathered->total > 200);
    assert_true(gathered->unknown * 1000 <= gathered->total);
    uint64_t files = 0, named = 0;
    for (size_t i = 0; i < gathered->sample_count; i++)
        if (gathered->samples[i].at.place == PLACE_FILE) {
            files++;
            named += path_of(gathered, &gathered->samples[i].at.file)[0] == '/';
        }
    assert_true(files > 0);
    assert_int_equal(named, files);
    bool known = false;
    for (size_t i = 0; i < gathered->process_count; i++)
        known |= !strcmp(gathered->processes[i].command, "true") &&
                 gathered->processes[i].parent == (uint32_t)getpid();
    assert_true(known);
    finish(fixture);
}

/* One number of a process, two programs. */
static void test_exec(void **state) {
    (void)state;
    START(fixture, 0);
    pid_t child = fork();
    if (child == 0) {
        spin(0.2);
        execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", NULL);
        _exit(1);
    }
    reap(child);
    drain(fixture);
    struct gathered *gathered = &fixture->gathered;
    uint64_t own = 0, shell = 0;
    uint32_t exec = 0;
    char self[256] = "", its[256] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    assert_non_null(realpath("/bin/sh", its));
    for (size_t i = 0; i < gathered->process_count; i++)
        if (gathered->processes[i].key.pid == (uint32_t)child &&
            !strcmp(gathered->processes[i].command, "sh"))
            exec = gathered->processes[i].key.exec;
    for (size_t i = 0; i < gathered->sample_count; i++) {
        const struct live_sample *sample = &gathered->samples[i];
        if (sample->process.pid != (uint32_t)child || sample->at.place != PLACE_FILE)
            continue;
        const char *path = path_of(gathered, &sample->at.file);
        own += sample->process.exec != exec && !strcmp(path, self);
        shell += sample->process.exec == exec && !strcmp(path, its);
        /* Neither program's code under the other's name. */
        assert_false(sample->process.exec == exec && !strcmp(path, self));
        assert_false(sample->process.exec != exec && !strcmp(path, its));
    }
    assert_true(own > 0);
    assert_true(shell > 0);
    finish(fixture);
}

#ifdef __x86_64__
/* dec rdi; jne −5; ret */
static const uint8_t COUNT_DOWN[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};

static int code_file(const char *folder, const char *name, char path[256]) {
    uint8_t page[8192] = {0};
    memcpy(page + 4096, COUNT_DOWN, sizeof COUNT_DOWN);
    snprintf(path, 256, "%s/%s", folder, name);
    int file = open(path, O_RDWR | O_CREAT, 0755);
    assert_true(file >= 0);
    assert_int_equal(write(file, page, sizeof page), sizeof page);
    return file;
}

/* Maps the code (file −1: anonymous) where it was before and runs it: CPU seconds. */
static double run_mapped(void *address, int file) {
    int flags = MAP_FIXED | MAP_PRIVATE | (file < 0 ? MAP_ANONYMOUS : 0);
    void (*volatile count_down)(uint64_t) = NULL;
    void *mapped = mmap(address, 4096, PROT_READ | PROT_EXEC | (file < 0 ? PROT_WRITE : 0), flags,
                        file, file < 0 ? 0 : 4096);
    if (mapped != address)
        _exit(1);
    if (file < 0)
        memcpy(mapped, COUNT_DOWN, sizeof COUNT_DOWN);
    memcpy((void *)&count_down, &mapped, sizeof mapped);
    double begin = clock_processor();
    count_down(3000000);
    double end = clock_processor();
    munmap(mapped, 4096);
    return end - begin;
}

/* Two files and anonymous memory in turn at one address, mapped and unmapped all the time. */
static void test_remapping(void **state) {
    (void)state;
    START(fixture, 0);
    char folder[] = "/tmp/culprit-collector-XXXXXX", first_path[256], second_path[256];
    assert_non_null(mkdtemp(folder));
    int first = code_file(folder, "first", first_path);
    int second = code_file(folder, "second", second_path);
    double *seconds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    void *address = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 200; i++) {
            seconds[0] += run_mapped(address, first);
            seconds[1] += run_mapped(address, second);
            seconds[0] += run_mapped(address, first);
            seconds[2] += run_mapped(address, -1);
        }
        _exit(0);
    }
    reap(child);
    drain(fixture);
    double counts[3] = {0};
    const struct gathered *gathered = &fixture->gathered;
    for (size_t i = 0; i < gathered->sample_count; i++) {
        const struct live_sample *sample = &gathered->samples[i];
        if (sample->process.pid != (uint32_t)child)
            continue;
        const char *path = path_of(gathered, &sample->at.file);
        if (sample->at.place == PLACE_ANONYMOUS)
            counts[2] += (double)sample->count;
        else if (sample->at.place == PLACE_FILE && !strcmp(path, first_path)) {
            counts[0] += (double)sample->count;
            assert_in_range(sample->at.offset, 4096, 4096 + sizeof COUNT_DOWN - 1);
        } else if (sample->at.place == PLACE_FILE && !strcmp(path, second_path))
            counts[1] += (double)sample->count;
    }
    double all = counts[0] + counts[1] + counts[2];
    assert_true(all > 300);
    for (int i = 0; i < 3; i++)
        assert_near(counts[i] / all, seconds[i] / (seconds[0] + seconds[1] + seconds[2]), 0.15);
    unlink(first_path);
    unlink(second_path);
    rmdir(folder);
    close(first);
    close(second);
    finish(fixture);
}
#endif

/* The kernel's own code in a process, and the code it lends to every process. */
static void test_kernel_and_vdso(void **state) {
    (void)state;
    START(fixture, 0);
    pid_t child = fork();
    if (child == 0) {
        for (double end = clock_processor() + 0.3; clock_processor() < end;)
            for (int i = 0; i < 1000; i++) {
                struct timespec now;
                clock_gettime(CLOCK_MONOTONIC, &now);
            }
        int null = open("/dev/zero", O_RDONLY);
        static char bytes[1 << 20];
        for (double end = clock_processor() + 0.3; clock_processor() < end;)
            if (read(null, bytes, sizeof bytes) < 0)
                _exit(1);
        _exit(0);
    }
    reap(child);
    drain(fixture);
    uint64_t kernel = 0, vdso = 0;
    for (size_t i = 0; i < fixture->gathered.sample_count; i++) {
        const struct live_sample *sample = &fixture->gathered.samples[i];
        if (sample->process.pid != (uint32_t)child)
            continue;
        kernel += sample->at.place == PLACE_KERNEL ? sample->count : 0;
        if (sample->at.place == PLACE_VDSO) {
            vdso += sample->count;
            assert_true(sample->at.offset < 65536);
        }
    }
    assert_true(kernel > 300);
    assert_true(vdso > 0);
    finish(fixture);
}

static void copy_self(const char *path) {
    char bytes[65536];
    int from = open("/proc/self/exe", O_RDONLY), to = open(path, O_WRONLY | O_CREAT, 0755);
    for (ssize_t size; (size = read(from, bytes, sizeof bytes)) > 0;)
        if (write(to, bytes, (size_t)size) != size)
            _exit(1);
    close(from);
    close(to);
}

enum { NO_OVERLAY = 77 };

/* In a mount namespace of its own: a program in an overlay, as in a container. */
static void run_in_overlay(char *folder, struct stat *status) {
    char program[64];
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("none", folder, "tmpfs", 0, NULL) || chdir(folder) || mkdir("lower", 0755) ||
        mkdir("upper", 0755) || mkdir("work", 0755) || mkdir("merged", 0755))
        _exit(NO_OVERLAY);
    copy_self("lower/program");
    if (mount("none", "merged", "overlay", 0, "lowerdir=lower,upperdir=upper,workdir=work") ||
        stat("merged/program", status))
        _exit(NO_OVERLAY);
    snprintf(program, sizeof program, "%s/merged/program", folder);
    execl(program, program, "spin", NULL);
    _exit(1);
}

/* A file of an overlay is what its process sees, not what lies behind. */
static void test_overlay(void **state) {
    (void)state;
    START(fixture, 0);
    char folder[] = "/tmp/culprit-collector-XXXXXX", expected[64];
    struct stat *status =
        mmap(NULL, sizeof *status, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int ended;
    assert_non_null(mkdtemp(folder));
    pid_t child = fork();
    if (child == 0)
        run_in_overlay(folder, status);
    assert_int_equal(waitpid(child, &ended, 0), child);
    rmdir(folder);
    if (WEXITSTATUS(ended) == NO_OVERLAY || !linux_at_least(6, 8)) {
        print_message("no overlay file system can be mounted here, or none as since Linux 6.8\n");
        finish(fixture);
        skip();
    }
    assert_int_equal(ended, 0);
    drain(fixture);
    snprintf(expected, sizeof expected, "%s/merged/program", folder);
    uint64_t found = 0;
    for (size_t i = 0; i < fixture->gathered.sample_count; i++) {
        const struct live_sample *sample = &fixture->gathered.samples[i];
        if (sample->process.pid != (uint32_t)child || sample->at.file.inode != status->st_ino ||
            sample->at.file.device !=
                ((uint64_t)major(status->st_dev) << 32 | minor(status->st_dev)))
            continue;
        assert_string_equal(path_of(&fixture->gathered, &sample->at.file), expected);
        found += sample->count;
    }
    assert_true(found > 100);
    finish(fixture);
}

/* The program that measures the bare interrupt counts nothing. */
static void test_empty_program(void **state) {
    (void)state;
    struct error error = {0};
    struct live_event events[LIVE_EVENTS_MAX];
    size_t count;
    START(fixture, 0);
    finish(fixture);
    assert_true(live_events_choose(NULL, RATE, true, events, &count, &error));
    struct collector_options options = {.events = events, .event_count = count, .empty = true};
    struct collector *collector = collector_new(&options, &error);
    assert_non_null(collector);
    struct collector_statistics statistics;
    spin(0.1);
    collector_statistics(collector, &statistics);
    assert_int_equal(statistics.samples, 0);
    assert_true(statistics.processors > 0);
    assert_true(statistics.bytes > 0);
    collector_free(collector);
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "spin")) {
        spin(0.3);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rate),
                                       cmocka_unit_test(test_exactly_once),
                                       cmocka_unit_test(test_evictions),
                                       cmocka_unit_test(test_refusal),
                                       cmocka_unit_test(test_storm),
                                       cmocka_unit_test(test_exec),
#ifdef __x86_64__
                                       cmocka_unit_test(test_remapping),
#endif
                                       cmocka_unit_test(test_kernel_and_vdso),
                                       cmocka_unit_test(test_overlay),
                                       cmocka_unit_test(test_empty_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
