/* The program's output is an event of its own on each processor, whose records go to the ring
 * buffer of the sampling events there: so they stand in the order in which they were written. */
#include "live/sample_probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "live/perf_record.h"
#include "util/array.h"

/* The compiled program as a part of culprit. */
__asm__(".pushsection .rodata\n"
        ".balign 8\n"
        "sample_object_begin:\n"
        ".incbin \"src/live/bpf/sample.bpf.o\"\n"
        "sample_object_end:\n"
        ".popsection\n");

extern const char sample_object_begin[], sample_object_end[];

struct output {
    int descriptor; /* −1: none yet */
    uint64_t id;
};

struct sample_probe {
    struct bpf_object *object;
    /* Descriptors that the object owns; `walker` < 0: not on this kernel. */
    int walker, follower, processes, outputs_map, files;
    struct output *outputs; /* by processor */
    size_t processors;
    struct unwind_row *rows; /* of the kernel's map; NULL: none */
    size_t row_count;
};

static int print_nothing(enum libbpf_print_level level, const char *format, va_list arguments) {
    (void)level, (void)format, (void)arguments;
    return 0;
}

static bool size_map(struct bpf_object *object, const char *name, size_t entries) {
    struct bpf_map *map = bpf_object__find_map_by_name(object, name);
    return map && bpf_map__set_max_entries(map, (uint32_t)entries) == 0;
}

/* 0, or an error number, negative. */
static int load_object(struct sample_probe *probe, bool walks) {
    struct bpf_object_open_opts options = {.sz = sizeof options, .object_name = "culprit"};
    probe->object = bpf_object__open_mem(
        sample_object_begin, (uintptr_t)sample_object_end - (uintptr_t)sample_object_begin,
        &options);
    struct bpf_program *walker =
        probe->object ? bpf_object__find_program_by_name(probe->object, "sample_stack") : NULL;
    if (!walker || !size_map(probe->object, "outputs", probe->processors) ||
        !size_map(probe->object, "known_places", walks ? probe->processors * WALK_PLACES : 1) ||
        !size_map(probe->object, "rows", walks ? WALK_ROWS_MAX : 1) ||
        bpf_program__set_autoload(walker, walks) != 0)
        return -ENOEXEC; /* it is not as expected */
    return bpf_object__load(probe->object);
}

static int find_program(const struct sample_probe *probe, const char *name) {
    struct bpf_program *program = bpf_object__find_program_by_name(probe->object, name);
    return program ? bpf_program__fd(program) : -1;
}

static int find_map(const struct sample_probe *probe, const char *name) {
    return bpf_object__find_map_fd_by_name(probe->object, name);
}

static void map_rows(struct sample_probe *probe) {
    void *mapped = mmap(NULL, WALK_ROWS_MAX * sizeof *probe->rows, PROT_READ | PROT_WRITE,
                        MAP_SHARED, find_map(probe, "rows"), 0);
    probe->rows = mapped == MAP_FAILED ? NULL : mapped;
}

static bool load(struct sample_probe *probe, struct error *error) {
    libbpf_set_print(print_nothing);
    int failed = load_object(probe, true);
    const bool walks = !failed;
    if (failed && failed != -EPERM) {
        bpf_object__close(probe->object);
        failed = load_object(probe, false);
    }
    if (failed) {
        errno = -failed;
        return failed == -EPERM || failed == -EACCES
                   ? error_set(error, "that needs CAP_BPF and CAP_PERFMON, or root")
                   : error_errno(error, "the kernel refuses the BPF program (Linux 5.17 or later "
                                        "is needed)");
    }
    probe->walker = walks ? find_program(probe, "sample_stack") : -1;
    probe->follower = find_program(probe, "sample_python");
    probe->outputs_map = find_map(probe, "outputs");
    probe->processes = find_map(probe, "processes");
    probe->files = find_map(probe, "files");
    if (walks)
        map_rows(probe);
    return true;
}

struct sample_probe *sample_probe_new(size_t processors, struct error *error) {
    struct sample_probe *probe = calloc(1, sizeof *probe);
    if (!probe || !(probe->outputs = calloc(processors, sizeof *probe->outputs))) {
        free(probe);
        return error_null(error, "out of memory");
    }
    probe->processors = processors;
    for (size_t i = 0; i < processors; i++)
        probe->outputs[i].descriptor = -1;
    if (load(probe, error))
        return probe;
    sample_probe_free(probe);
    return NULL;
}

void sample_probe_free(struct sample_probe *probe) {
    if (!probe)
        return;
    for (size_t i = 0; i < probe->processors; i++)
        if (probe->outputs[i].descriptor >= 0)
            close(probe->outputs[i].descriptor);
    if (probe->rows)
        munmap(probe->rows, WALK_ROWS_MAX * sizeof *probe->rows);
    bpf_object__close(probe->object);
    free(probe->outputs);
    free(probe);
}

/* With the clock of the events that it shares a ring with. */
static bool open_output(struct sample_probe *probe, int processor, int ring) {
    struct output *output = &probe->outputs[processor];
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_SW_BPF_OUTPUT,
                                         .sample_type = PERF_RECORD_SAMPLE_TYPE | PERF_SAMPLE_RAW,
                                         .sample_period = 1,
                                         .sample_id_all = 1,
                                         .use_clockid = 1,
                                         .clockid = CLOCK_MONOTONIC};
    if (output->descriptor >= 0)
        return true;
    const int event =
        (int)syscall(SYS_perf_event_open, &attributes, -1, processor, -1, PERF_FLAG_FD_CLOEXEC);
    if (event < 0)
        return false;
    if (ioctl(event, PERF_EVENT_IOC_ID, &output->id) != 0 ||
        ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, ring) != 0 ||
        bpf_map_update_elem(probe->outputs_map, &processor, &event, BPF_ANY) != 0) {
        close(event);
        return false;
    }
    output->descriptor = event;
    return true;
}

static bool attach(int event, int program) {
    return program >= 0 && ioctl(event, PERF_EVENT_IOC_SET_BPF, program) == 0;
}

/* No program may take the kernel's part of stacks of an event that is more precise than its
 * interrupt. */
bool sample_probe_attach(struct sample_probe *probe, int event, int processor, int ring) {
    return open_output(probe, processor, ring) &&
           (attach(event, probe->walker) || attach(event, probe->follower));
}

bool sample_probe_take(const struct sample_probe *probe, const uint8_t *record, size_t size,
                       const uint8_t **written, size_t *written_size) {
    enum { ID_AT = 8, RAW_AT = 40, DATA_AT = RAW_AT + 4 };
    struct perf_event_header header;
    uint64_t id;
    uint32_t raw;
    if (size < DATA_AT)
        return false;
    memcpy(&header, record, sizeof header);
    memcpy(&id, record + ID_AT, sizeof id);
    memcpy(&raw, record + RAW_AT, sizeof raw);
    if (header.type != PERF_RECORD_SAMPLE || raw > size - DATA_AT ||
        !any_where(i, probe->processors,
                   probe->outputs[i].descriptor >= 0 && probe->outputs[i].id == id))
        return false;
    *written = record + DATA_AT;
    *written_size = raw;
    return true;
}

bool sample_probe_follow(struct sample_probe *probe, uint32_t pid,
                         const struct python_process *process) {
    return bpf_map_update_elem(probe->processes, &pid, process, BPF_ANY) == 0;
}

void sample_probe_forget(struct sample_probe *probe, uint32_t pid) {
    bpf_map_delete_elem(probe->processes, &pid);
}

struct unwind_row *sample_probe_rows(struct sample_probe *probe, size_t count, uint32_t *first) {
    if (!probe->rows || count > WALK_ROWS_MAX - probe->row_count)
        return NULL;
    *first = (uint32_t)probe->row_count;
    probe->row_count += count;
    return probe->rows + *first;
}

bool sample_probe_tell(struct sample_probe *probe, const struct walk_file *file,
                       const struct walk_rows *rows) {
    return bpf_map_update_elem(probe->files, file, rows, BPF_ANY) == 0;
}
