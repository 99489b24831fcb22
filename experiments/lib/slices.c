/* slices RUNS [FILE OFFSET]... -- COMMAND...: runs a command so many times, its output discarded
 * (by a pipe). Each run is a line: the clock in Hz around it, by dependent additions, as `culprit
 * validate --host` takes it; and the nanoseconds of processor time from the beginning to the first
 * execution of one of the branches that lie there, from each to the next, and to the end. 0 is in
 * place of all of them where some were lost. All have the same layout of memory, as what a program
 * executes may depend on addresses. Needs the rights that probes of the kernel need
 * (uprobes: CAP_PERFMON and CAP_SYS_ADMIN). */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/frequency.h"

enum { PROBES = 16, RING_PAGES = 256, PAGE = 4096, PIPE = 1 << 20 };

/* The times of a run. */
struct times {
    uint64_t *items; /* nanoseconds of processor time at each execution */
    size_t count, capacity;
    bool lost;
};

struct ring {
    struct perf_event_mmap_page *page;
    const char *data;
};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int open_event(struct perf_event_attr attributes, pid_t process, int leader) {
    attributes.size = sizeof attributes;
    attributes.read_format = PERF_FORMAT_GROUP;
    const int event = (int)syscall(SYS_perf_event_open, &attributes, process, -1, leader, 0);
    if (event < 0)
        fail("slices: perf_event_open");
    return event;
}

static uint32_t probe_type(void) {
    FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
    unsigned type;
    if (!file || fscanf(file, "%u", &type) != 1)
        fail("slices: no probes of user code");
    fclose(file);
    return type;
}

/* ---- what the kernel tells ---- */

static uint64_t word_at(const struct ring *ring, uint64_t place) {
    uint64_t word;
    memcpy(&word, ring->data + place % ((uint64_t)RING_PAGES * PAGE), sizeof word);
    return word;
}

static void add_time(struct times *times, uint64_t time) {
    if (times->count == times->capacity) {
        times->capacity = times->capacity ? 2 * times->capacity : 4096;
        times->items = realloc(times->items, times->capacity * sizeof *times->items);
        if (!times->items)
            fail("slices");
    }
    times->items[times->count++] = time;
}

/* A sample has the number of events and their values; the first is the clock. */
static void read_samples(struct ring *ring, struct times *times) {
    const uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->page->data_tail;
    while (tail < head) {
        const uint64_t header = word_at(ring, tail);
        const uint32_t type = (uint32_t)header;
        if (type == PERF_RECORD_SAMPLE)
            add_time(times, word_at(ring, tail + 16));
        times->lost |= type == PERF_RECORD_LOST;
        tail += header >> 48;
    }
    __atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

static struct ring map_ring(int event) {
    void *memory =
        mmap(NULL, (RING_PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (memory == MAP_FAILED)
        fail("slices: mmap");
    return (struct ring){memory, (const char *)memory + PAGE};
}

/* ---- a run ---- */

/* Waits until it may begin. */
static pid_t start(char **command, const int go[2], const int output[2]) {
    const pid_t child = fork();
    char byte;
    if (child)
        return child;
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(output[1], 1);
    dup2(output[1], 2);
    close(output[0]);
    close(output[1]);
    close(go[1]);
    if (read(go[0], &byte, 1) != 1)
        _exit(126);
    close(go[0]);
    personality(ADDR_NO_RANDOMIZE);
    execvp(command[0], command);
    _exit(127);
}

static void follow(int output, int event, struct ring *ring, struct times *times) {
    static char buffer[PIPE];
    struct pollfd ready[] = {{.fd = output, .events = POLLIN}, {.fd = event, .events = POLLIN}};
    for (;;) {
        if (poll(ready, 2, 100) < 0 && errno != EINTR)
            fail("slices: poll");
        read_samples(ring, times);
        if (ready[0].revents && read(output, buffer, sizeof buffer) <= 0)
            return;
        if (ready[1].revents & POLLHUP)
            ready[1].fd = -1;
    }
}

static void run(char **places, size_t probes, char **command, struct times *times) {
    int go[2], output[2], events[PROBES], status;
    uint64_t values[PROBES + 2];
    if (pipe(go) || pipe(output))
        fail("slices: pipe");
    fcntl(output[0], F_SETPIPE_SZ, PIPE);
    const pid_t child = start(command, go, output);
    close(output[1]);
    close(go[0]);
    const int clock = open_event((struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                                          .config = PERF_COUNT_SW_TASK_CLOCK,
                                                          .disabled = 1,
                                                          .enable_on_exec = 1},
                                 child, -1);
    for (size_t i = 0; i < probes; i++)
        events[i] = open_event(
            (struct perf_event_attr){.type = probe_type(),
                                     .uprobe_path = (uintptr_t)places[2 * i],
                                     .probe_offset = strtoull(places[2 * i + 1], NULL, 16),
                                     .sample_period = 1,
                                     .sample_type = PERF_SAMPLE_READ,
                                     .wakeup_events = 1000},
            child, clock);
    struct ring ring = map_ring(events[0]);
    for (size_t i = 1; i < probes; i++)
        if (ioctl(events[i], PERF_EVENT_IOC_SET_OUTPUT, events[0]))
            fail("slices: one ring");
    if (write(go[1], "", 1) != 1)
        fail("slices: write");
    close(go[1]);
    follow(output[0], events[0], &ring, times);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    read_samples(&ring, times);
    if (read(clock, values, sizeof values) < 0)
        fail("slices: read");
    add_time(times, values[1]);
    munmap(ring.page, (RING_PAGES + 1) * PAGE);
    for (size_t i = 0; i < probes; i++)
        close(events[i]);
    close(clock);
    close(output[0]);
    if (status) {
        fprintf(stderr, "slices: %s failed\n", command[0]);
        exit(1);
    }
}

static void write_times(const struct times *times) {
    if (times->lost)
        printf(" 0");
    for (size_t i = 0; !times->lost && i < times->count; i++)
        printf(" %ju", (uintmax_t)(times->items[i] - (i ? times->items[i - 1] : 0)));
    printf("\n");
    fflush(stdout);
}

static double frequency(void) {
    struct error error;
    double hertz;
    if (!host_frequency(&hertz, &error)) {
        fprintf(stderr, "slices: %s\n", error.message);
        exit(1);
    }
    return hertz;
}

int main(int count, char **words) {
    size_t probes = 0;
    while (2 * probes + 3 < (size_t)count && strcmp(words[2 * probes + 2], "--"))
        probes++;
    char **command = words + 2 * probes + 3;
    if (!probes || probes > PROBES || 2 * probes + 3 >= (size_t)count) {
        fprintf(stderr, "slices RUNS [FILE OFFSET]... -- COMMAND...\n");
        return 2;
    }
    double before = frequency();
    for (int i = atoi(words[1]); i > 0; i--) {
        struct times times = {0};
        run(words + 2, probes, command, &times);
        const double after = frequency();
        printf("%.0f", 0.5 * (before + after));
        write_times(&times);
        free(times.items);
        before = after;
    }
    return 0;
}
