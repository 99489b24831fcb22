/* From the compiled program to maps of the right size, mapped into this process. */
#include "live/collector_parts.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <linux/capability.h>

static_assert(sizeof(struct table_bucket) == 64, "a cache line");
static_assert(sizeof(struct table_place) == 48 && sizeof(struct table_overflow) == 56,
              "arrays in the kernel have items of whole words");
static_assert(sizeof(struct table_state) == 128, "two cache lines, shared by nobody");
static_assert(PLACE_FILE == 0 && PLACE_KERNEL == 1 && PLACE_ANONYMOUS == 2 && PLACE_VDSO == 3 &&
                  PLACE_UNKNOWN == 4,
              "as in collector.bpf.c");

static const char KERNEL_TYPES[] = "/sys/kernel/btf/vmlinux";

static int print_nothing(enum libbpf_print_level level, const char *format, va_list arguments) {
    (void)level, (void)format, (void)arguments;
    return 0;
}

/* The effective capabilities of this process; all when they cannot be read. */
static uint64_t capabilities(void) {
    unsigned long long found = ~0ull;
    char line[128];
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "CapEff: %llx", &found) == 1)
            break;
    if (file)
        fclose(file);
    return found;
}

static bool have(uint64_t mask, unsigned capability) {
    return mask >> capability & 1 || mask >> CAP_SYS_ADMIN & 1;
}

static bool check_permission(struct error *error) {
    uint64_t mask = capabilities();
    bool bpf = have(mask, CAP_BPF), perf = have(mask, CAP_PERFMON);
    if (!bpf || !perf)
        return error_set(error,
                         "sampling the whole machine needs %s%s%s: run it as root, or in a unit "
                         "with AmbientCapabilities (culprit record needs none)",
                         bpf ? "" : "CAP_BPF", bpf || perf ? "" : " and ",
                         perf ? "" : "CAP_PERFMON");
    if (access(KERNEL_TYPES, R_OK) != 0)
        return error_errno(error, "%s: the kernel must be built with CONFIG_DEBUG_INFO_BTF",
                           KERNEL_TYPES);
    return true;
}

static bool load_failed(int number, struct error *error) {
    errno = number;
    if (number == EPERM)
        return error_set(error,
                         "the kernel refuses the BPF program: RLIMIT_MEMLOCK is too low "
                         "(ulimit -l unlimited), or lockdown or a seccomp filter forbids it");
    if (number == ENOMEM || number == E2BIG)
        return error_errno(error, "the tables of the samples: choose fewer entries");
    return error_errno(error, "the kernel refuses the BPF program: Linux 5.17 or later is needed");
}

static bool size_map(struct collector *collector, const char *name, uint32_t entries) {
    struct bpf_map *map = bpf_object__find_map_by_name(collector->object, name);
    return map && bpf_map__set_max_entries(map, entries) == 0;
}

static bool configure(struct collector *collector) {
    const struct table_configuration *wanted = &collector->configuration;
    uint32_t tables = TABLE_HALVES * wanted->processors;
    bool configured = false;
    for (struct bpf_map *map = NULL; (map = bpf_object__next_map(collector->object, map));) {
        size_t size;
        /* libbpf gives what the section of constants holds, to be changed before loading. */
        void *constants = (void *)bpf_map__initial_value(map, &size);
        if (strstr(bpf_map__name(map), ".rodata") && constants && size == sizeof *wanted) {
            memcpy(constants, wanted, size);
            configured = true;
        }
    }
    for (struct bpf_program *program = NULL;
         (program = bpf_object__next_program(collector->object, program));)
        bpf_program__set_autoload(program, false);
    collector->program = bpf_object__find_program_by_name(
        collector->object, collector->empty ? "count_nothing" : "count_sample");
    return configured && collector->program &&
           bpf_program__set_autoload(collector->program, true) == 0 &&
           size_map(collector, "buckets", tables * wanted->buckets) &&
           size_map(collector, "places", tables * wanted->buckets * TABLE_WAYS) &&
           size_map(collector, "overflow", tables * wanted->overflow) &&
           size_map(collector, "states", wanted->processors) &&
           size_map(collector, "announced", wanted->processors);
}

static int descriptor(struct collector *collector, const char *name) {
    return bpf_object__find_map_fd_by_name(collector->object, name);
}

static void *map_whole(struct collector *collector, const char *name, size_t item, size_t *bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *bytes = (collector->configuration.processors * item + page - 1) / page * page;
    void *mapped =
        mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor(collector, name), 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

static int discard(void *context, void *data, size_t size) {
    (void)context, (void)data, (void)size;
    return 0;
}

static bool open_tables(struct collector *collector, struct error *error) {
    collector->buckets = descriptor(collector, "buckets");
    collector->places = descriptor(collector, "places");
    collector->overflow = descriptor(collector, "overflow");
    collector->wake = descriptor(collector, "wake");
    collector->announcements = ring_buffer__new(descriptor(collector, "announcements"),
                                                collector_announced, collector, NULL);
    collector->wakes = ring_buffer__new(collector->wake, discard, NULL, NULL);
    collector->states =
        map_whole(collector, "states", sizeof *collector->states, &collector->states_bytes);
    collector->announced = map_whole(collector, "announced", sizeof *collector->announced,
                                     &collector->announced_bytes);
    struct bpf_map_create_opts inner = {.sz = sizeof inner,
                                        .inner_map_fd = (uint32_t)collector->places};
    collector->barrier = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "barrier", sizeof(uint32_t),
                                        sizeof(uint32_t), 1, &inner);
    if (!collector->announcements || !collector->wakes || !collector->states ||
        !collector->announced || collector->barrier < 0)
        return error_errno(error, "the tables of the samples");
    return true;
}

bool collector_load(struct collector *collector, struct error *error) {
    size_t size;
    const void *bytes = collector_object(&size);
    struct bpf_object_open_opts options = {.sz = sizeof options, .object_name = "culprit"};
    libbpf_set_print(print_nothing);
    if (!check_permission(error))
        return false;
    if (getrandom(&collector->configuration.seed, sizeof collector->configuration.seed, 0) < 0)
        return error_errno(error, "random numbers");
    collector->object = bpf_object__open_mem(bytes, size, &options);
    if (!collector->object)
        return error_errno(error, "the BPF program inside culprit");
    if (!configure(collector))
        return error_set(error, "the BPF program inside culprit is not as expected");
    int failed = bpf_object__load(collector->object);
    if (failed)
        return load_failed(-failed, error);
    return open_tables(collector, error);
}

void collector_unload(struct collector *collector) {
    if (collector->states)
        munmap(collector->states, collector->states_bytes);
    if (collector->announced)
        munmap(collector->announced, collector->announced_bytes);
    ring_buffer__free(collector->announcements);
    ring_buffer__free(collector->wakes);
    if (collector->barrier >= 0)
        close(collector->barrier);
    bpf_object__close(collector->object);
}
