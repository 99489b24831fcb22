/* What runs at each sample of `record --stacks`: takes the Python functions that the thread is in
 * (python.bpf.h), and walks its stack (walk.bpf.h). Both are written to the ring buffer of the
 * sample: of each processor, that of its first event. */
#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* Sized by the number of processors when the program is loaded. */
struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(key_size, sizeof(__u32));
    __uint(value_size, sizeof(__u32));
    __uint(max_entries, 1);
} outputs SEC(".maps");

#include "python.bpf.h"
#include "walk.bpf.h"

/* 1: perf's own sample is written; 0: ours is in its place. */
SEC("perf_event")
int sample_stack(struct bpf_perf_event_data *context) {
    const struct python_process *python = find_python();
    if (python)
        follow(context, python);
    return !write_stack(context, python);
}

/* Of events to which no program can be attached that takes the kernel's part of stacks. */
SEC("perf_event")
int sample_python(struct bpf_perf_event_data *context) {
    const struct python_process *python = find_python();
    if (python)
        follow(context, python);
    return 1;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
