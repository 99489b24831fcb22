/* The program's output is an event of its own on each processor, whose records go to the ring
 * buffer of the sampling events there: so they stand in the order in which they were written. */
#include "live/python_probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "live/perf_record.h"
#include "util/array.h"

/* The compiled program as a part of culprit. */
__asm__(".pushsection .rodata\n"
        ".balign 8\n"
        "python_object_begin:\n"
        ".incbin \"src/live/bpf/python.bpf.o\"\n"
        "python_object_end:\n"
        ".popsection\n");

extern const char python_object_begin[], python_object_end[];

struct output {
    int descriptor; /* −1: none yet */
    uint64_t id;
};

struct python_probe {
    struct bpf_object *object;
    int program, processes, outputs_map; /* descriptors that the object owns */
    struct output *outputs;              /* by processor */
    size_t processors;
};

static int print_nothing(enum libbpf_print_level level, const char *format, va_list arguments) {
    (void)level, (void)format, (void)arguments;
    return 0;
}

static bool load(struct python_probe *probe, struct error *error) {
    struct bpf_object_open_opts options = {.sz = sizeof options, .object_name = "culprit"};
    libbpf_set_print(print_nothing);
    probe->object = bpf_object__open_mem(
        python_object_begin, (uintptr_t)python_object_end - (uintptr_t)python_object_begin,
        &options);
    struct bpf_map *outputs =
        probe->object ? bpf_object__find_map_by_name(probe->object, "outputs") : NULL;
    struct bpf_program *program =
        outputs ? bpf_object__find_program_by_name(probe->object, "sample_python") : NULL;
    if (!program || bpf_map__set_max_entries(outputs, (uint32_t)probe->processors) != 0)
        return error_set(error, "the BPF program inside culprit is not as expected");
    const int failed = bpf_object__load(probe->object);
    if (failed) {
        errno = -failed;
        return failed == -EPERM || failed == -EACCES
                   ? error_set(error, "that needs CAP_BPF and CAP_PERFMON, or root")
                   : error_errno(error, "the kernel refuses the BPF program (Linux 5.17 or later "
                                        "is needed)");
    }
    probe->program = bpf_program__fd(program);
    probe->outputs_map = bpf_map__fd(outputs);
    probe->processes = bpf_object__find_map_fd_by_name(probe->object, "processes");
    return true;
}

struct python_probe *python_probe_new(size_t processors, struct error *error) {
    struct python_probe *probe = calloc(1, sizeof *probe);
    if (!probe || !(probe->outputs = calloc(processors, sizeof *probe->outputs))) {
        free(probe);
        return error_null(error, "out of memory");
    }
    probe->processors = processors;
    for (size_t i = 0; i < processors; i++)
        probe->outputs[i].descriptor = -1;
    if (load(probe, error))
        return probe;
    python_probe_free(probe);
    return NULL;
}

void python_probe_free(struct python_probe *probe) {
    if (!probe)
        return;
    for (size_t i = 0; i < probe->processors; i++)
        if (probe->outputs[i].descriptor >= 0)
            close(probe->outputs[i].descriptor);
    bpf_object__close(probe->object);
    free(probe->outputs);
    free(probe);
}

/* With the clock of the events that it shares a ring with. */
static bool open_output(struct python_probe *probe, int processor, int ring) {
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

bool python_probe_attach(struct python_probe *probe, int event, int processor, int ring) {
    return open_output(probe, processor, ring) &&
           ioctl(event, PERF_EVENT_IOC_SET_BPF, probe->program) == 0;
}

bool python_probe_take(const struct python_probe *probe, const uint8_t *record, size_t size,
                       const uint8_t **written, size_t *written_size) {
    enum { ID_AT = 8, RAW_AT = 40, DATA_AT = RAW_AT + 4 };
    struct perf_event_header header;
    uint64_t id;
    uint32_t raw, mark;
    if (size < DATA_AT + sizeof mark)
        return false;
    memcpy(&header, record, sizeof header);
    memcpy(&id, record + ID_AT, sizeof id);
    memcpy(&raw, record + RAW_AT, sizeof raw);
    memcpy(&mark, record + DATA_AT, sizeof mark);
    if (header.type != PERF_RECORD_SAMPLE || raw > size - DATA_AT ||
        (mark != PYTHON_STACK_MARK && mark != PYTHON_COPY_MARK) ||
        !any_where(i, probe->processors,
                   probe->outputs[i].descriptor >= 0 && probe->outputs[i].id == id))
        return false;
    *written = record + DATA_AT;
    *written_size = raw;
    return true;
}

bool python_probe_follow(struct python_probe *probe, uint32_t pid,
                         const struct python_process *process) {
    return bpf_map_update_elem(probe->processes, &pid, process, BPF_ANY) == 0;
}

void python_probe_forget(struct python_probe *probe, uint32_t pid) {
    bpf_map_delete_elem(probe->processes, &pid);
}
