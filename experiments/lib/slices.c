/* slices RUNS [FILE OFFSET]... -- COMMAND...: runs a command so many times, its output discarded
 * (by a pipe). Each run is a line: the clock in Hz around it, by dependent additions, as `culprit
 * validate --host` takes it; how many system calls and page faults there were; and for each slice,
 * from the beginning to the first execution of one of the branches that lie there, from each to the
 * next, and to the end, the nanoseconds outside the kernel. 0 is in place of all slices where some
 * were lost. All have the same layout of memory, as what a program executes may depend on
 * addresses. Needs the rights that probes of the kernel need (uprobes: CAP_PERFMON and
 * CAP_SYS_ADMIN).
 *
 * In the kernel is what passes from its event of a system call that begins to that of its end, from
 * that of a page fault to the count of it, which comes when the page is there, and from where the
 * thread is switched out to where it is switched in. Of the way there and back a part is left. */
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
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/frequency.h"

enum { PROBES = 16, RING_PAGES = 256, PAGE = 4096, PIPE = 1 << 20 };

/* Ways into the kernel, and back. */
enum edge { CALL, FAULT, SWITCH, EDGES };

/* The times of a run. */
struct times {
    uint64_t *items; /* nanoseconds outside the kernel at each execution */
    size_t count, capacity;
    size_t calls, faults;
    uint64_t begin, kernel; /* when it began; nanoseconds in the kernel since */
    enum edge in;           /* by which it is there; EDGES: it is outside */
    uint64_t since;
    uint64_t enters[EDGES], leaves[EDGES]; /* the kernel's names of these events, but for SWITCH */
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

/* Each event is told, with its time. */
static int open_event(struct perf_event_attr attributes, pid_t process) {
    attributes.size = sizeof attributes;
    attributes.disabled = 1;
    attributes.enable_on_exec = 1;
    attributes.sample_period = 1;
    attributes.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
    attributes.sample_id_all = 1;
    attributes.wakeup_events = 1000;
    const int event = (int)syscall(SYS_perf_event_open, &attributes, process, -1, -1, 0);
    if (event < 0)
        fail("slices: perf_event_open");
    return event;
}

static uint64_t name_of(int event) {
    uint64_t name;
    if (ioctl(event, PERF_EVENT_IOC_ID, &name))
        fail("slices: name of an event");
    return name;
}

static int open_tracepoint(const char *name, pid_t process) {
    char path[200];
    unsigned long id;
    snprintf(path, sizeof path, "/sys/kernel/tracing/events/%s/id", name);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%lu", &id) != 1)
        fail(path);
    fclose(file);
    return open_event((struct perf_event_attr){.type = PERF_TYPE_TRACEPOINT, .config = id},
                      process);
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

static void enter(struct times *times, enum edge edge, uint64_t time) {
    times->calls += edge == CALL;
    times->faults += edge == FAULT;
    times->in = edge;
    times->since = time;
}

/* By a way by which it did not enter, it leaves within one that is not over. */
static void leave(struct times *times, enum edge edge, uint64_t time) {
    if (!times->begin)
        times->begin = time;
    if (times->in != edge)
        return;
    times->kernel += time - times->since;
    times->in = EDGES;
}

static void take_sample(struct times *times, uint64_t event, uint64_t time) {
    for (enum edge edge = 0; edge < SWITCH; edge++) {
        if (event == times->leaves[edge]) {
            leave(times, edge, time);
            return;
        }
        if (event == times->enters[edge]) {
            enter(times, edge, time);
            return;
        }
    }
    times->in = EDGES;
    add_time(times, time - times->begin - times->kernel);
}

/* A sample has the name of its event and the time; a switch the time. */
static void read_records(struct ring *ring, struct times *times) {
    const uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->page->data_tail;
    while (tail < head) {
        const uint64_t header = word_at(ring, tail), misc = header >> 32;
        const uint32_t type = (uint32_t)header;
        if (type == PERF_RECORD_SAMPLE)
            take_sample(times, word_at(ring, tail + 8), word_at(ring, tail + 16));
        else if (type == PERF_RECORD_SWITCH && !(misc & PERF_RECORD_MISC_SWITCH_OUT))
            leave(times, SWITCH, word_at(ring, tail + 8));
        else if (type == PERF_RECORD_SWITCH && times->in == EDGES)
            enter(times, SWITCH, word_at(ring, tail + 8));
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
        read_records(ring, times);
        if (ready[0].revents && read(output, buffer, sizeof buffer) <= 0)
            return;
        if (ready[1].revents & POLLHUP)
            ready[1].fd = -1;
    }
}

/* The first has the ring. */
static size_t open_all(char **places, size_t probes, pid_t process, int *events,
                       struct times *times) {
    size_t count = 0;
    for (size_t i = 0; i < probes; i++)
        events[count++] = open_event(
            (struct perf_event_attr){.type = probe_type(),
                                     .uprobe_path = (uintptr_t)places[2 * i],
                                     .probe_offset = strtoull(places[2 * i + 1], NULL, 16),
                                     .context_switch = i == 0},
            process);
    const int edges[] = {
        open_tracepoint("raw_syscalls/sys_enter", process),
        open_tracepoint("raw_syscalls/sys_exit", process),
        open_tracepoint("exceptions/page_fault_user", process),
        open_event((struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                            .config = PERF_COUNT_SW_PAGE_FAULTS_MIN},
                   process)};
    for (enum edge edge = 0; edge < SWITCH; edge++) {
        times->enters[edge] = name_of(events[count++] = edges[2 * edge]);
        times->leaves[edge] = name_of(events[count++] = edges[2 * edge + 1]);
    }
    return count;
}

static void run(char **places, size_t probes, char **command, struct times *times) {
    int go[2], output[2], events[PROBES + 2 * EDGES], status;
    if (pipe(go) || pipe(output))
        fail("slices: pipe");
    fcntl(output[0], F_SETPIPE_SZ, PIPE);
    const pid_t child = start(command, go, output);
    close(output[1]);
    close(go[0]);
    const size_t count = open_all(places, probes, child, events, times);
    struct ring ring = map_ring(events[0]);
    for (size_t i = 1; i < count; i++)
        if (ioctl(events[i], PERF_EVENT_IOC_SET_OUTPUT, events[0]))
            fail("slices: one ring");
    if (write(go[1], "", 1) != 1)
        fail("slices: write");
    close(go[1]);
    follow(output[0], events[0], &ring, times);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    read_records(&ring, times);
    add_time(times, times->since - times->begin - times->kernel); /* the call that ends it */
    munmap(ring.page, (RING_PAGES + 1) * PAGE);
    for (size_t i = 0; i < count; i++)
        close(events[i]);
    close(output[0]);
    if (status) {
        fprintf(stderr, "slices: %s failed\n", command[0]);
        exit(1);
    }
}

/* A slice may be less than nothing, as the clocks of two processors differ a little. */
static void write_times(const struct times *times) {
    if (times->lost)
        printf(" 0");
    for (size_t i = 0; !times->lost && i < times->count; i++)
        printf(" %jd", (intmax_t)(times->items[i] - (i ? times->items[i - 1] : 0)));
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
    mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL); /* it may be there */
    double before = frequency();
    for (int i = atoi(words[1]); i > 0; i--) {
        struct times times = {.in = EDGES};
        run(words + 2, probes, command, &times);
        const double after = frequency();
        printf("%.0f %zu %zu", 0.5 * (before + after), times.calls, times.faults);
        write_times(&times);
        free(times.items);
        before = after;
    }
    return 0;
}
