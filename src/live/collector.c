/* An event on every processor that is on line, each with the program attached. */
#include "live/collector.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/collector_parts.h"
#include "live/event.h"
#include "util/clock.h"
#include "util/power_of_two.h"

/* DCPI's 16K entries and two overflow buffers of 8K per processor (§5.3). */
enum {
    ENTRIES_DEFAULT = 1 << 14,
    ENTRIES_MIN = 1 << 8,
    ENTRIES_MAX = 1 << 20,
    PROCESSORS_MAX = 1 << 12
};

/* ---- processors ---- */

/* Reads "0-3,8"; marks[i] is set for those below `limit`. Returns the highest + 1; 0: unreadable.
 */
static uint32_t read_processors(const char *path, bool *marks, uint32_t limit) {
    char list[4096];
    uint32_t count = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    char *text = fgets(list, sizeof list, file);
    fclose(file);
    while (text && isdigit((unsigned char)*text)) {
        unsigned long first = strtoul(text, &text, 10);
        unsigned long last = *text == '-' ? strtoul(text + 1, &text, 10) : first;
        if (last >= PROCESSORS_MAX)
            break;
        if (last + 1 > count)
            count = (uint32_t)last + 1;
        for (unsigned long i = first; i <= last && i < limit; i++)
            marks[i] = true;
        text += *text == ',';
    }
    return count;
}

static void close_counter(struct collector_counter *counter) {
    if (counter->link)
        bpf_link__destroy(counter->link);
    counter->link = NULL;
}

static bool open_counter(struct collector *collector, uint32_t event, uint32_t processor,
                         struct collector_counter *counter, struct error *error) {
    struct perf_event_attr attributes;
    struct bpf_perf_event_opts options = {.sz = sizeof options, .bpf_cookie = event};
    live_event_attributes(&collector->events[event], &attributes);
    counter->descriptor = (int)syscall(SYS_perf_event_open, &attributes, -1, (int)processor, -1,
                                       PERF_FLAG_FD_CLOEXEC);
    if (counter->descriptor < 0) {
        /* It went off line since. */
        if (errno == ENODEV || errno == ENXIO)
            return true;
        return live_event_refused(&collector->events[event], errno, error);
    }
    counter->link =
        bpf_program__attach_perf_event_opts(collector->program, counter->descriptor, &options);
    if (!counter->link) {
        int number = errno;
        close(counter->descriptor);
        errno = number;
        return error_errno(error, "attaching the BPF program to %s", collector->events[event].name);
    }
    return true;
}

bool collector_follow_processors(struct collector *collector, struct error *error) {
    uint32_t count = collector->configuration.processors;
    bool *online = calloc(count, sizeof *online), good = true;
    if (!online)
        return error_set(error, "out of memory");
    if (!read_processors("/sys/devices/system/cpu/online", online, count))
        memset(online, true, count);
    pthread_mutex_lock(&collector->lock);
    for (uint32_t i = 0; good && i < collector->event_count * count; i++) {
        struct collector_counter *counter = &collector->counters[i];
        if (!online[i % count])
            close_counter(counter);
        else if (!counter->link)
            good = open_counter(collector, i / count, i % count, counter, error);
    }
    pthread_mutex_unlock(&collector->lock);
    free(online);
    return good;
}

/* ---- the whole ---- */

static uint32_t table_entries(uint32_t wanted) {
    if (wanted > ENTRIES_MAX)
        return ENTRIES_MAX;
    return wanted > ENTRIES_MIN ? power_of_two_from(wanted) : ENTRIES_MIN;
}

static bool start(struct collector *collector, const struct collector_options *options,
                  struct error *error) {
    uint32_t processors = read_processors("/sys/devices/system/cpu/present", NULL, 0);
    uint32_t entries = table_entries(options->entries ? options->entries : ENTRIES_DEFAULT);
    if (!processors)
        processors = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
    if ((uint64_t)TABLE_HALVES * processors * entries > INT32_MAX)
        return error_set(error, "%u entries on each of %u processors are too many", entries,
                         processors);
    collector->configuration =
        (struct table_configuration){.processors = processors,
                                     .buckets = entries / TABLE_WAYS,
                                     .overflow = entries,
                                     .events = (uint32_t)options->event_count};
    if (options->event_count && !(collector->counters = calloc(processors * options->event_count,
                                                               sizeof *collector->counters)))
        return error_set(error, "out of memory");
    return collector_load(collector, error) && collector_follow_processors(collector, error) &&
           collector_start_periods(collector, error);
}

struct collector *collector_new(const struct collector_options *options, struct error *error) {
    struct collector *collector = calloc(1, sizeof *collector);
    if (!collector)
        return error_null(error, "out of memory");
    pthread_mutex_init(&collector->lock, NULL);
    collector->barrier = -1;
    collector->empty = options->empty;
    collector->drained = clock_since_1970();
    collector->event_count =
        options->event_count < LIVE_EVENTS_MAX ? options->event_count : LIVE_EVENTS_MAX;
    for (size_t i = 0; i < collector->event_count; i++)
        collector->events[i] = options->events[i];
    if (!start(collector, options, error)) {
        collector_free(collector);
        return NULL;
    }
    return collector;
}

void collector_free(struct collector *collector) {
    if (!collector)
        return;
    collector_stop_periods(collector);
    if (collector->counters)
        for (size_t i = 0; i < collector->event_count * collector->configuration.processors; i++)
            close_counter(&collector->counters[i]);
    collector_unload(collector);
    pthread_mutex_destroy(&collector->lock);
    free(collector->counters);
    free(collector);
}

int collector_descriptor(const struct collector *collector) {
    return collector->wake;
}

void collector_times(struct collector *collector, struct live_event_times *times) {
    const size_t processors = collector->configuration.processors;
    memset(times, 0, collector->event_count * sizeof *times);
    pthread_mutex_lock(&collector->lock);
    for (size_t i = 0; i < collector->event_count * processors; i++)
        if (collector->counters[i].link)
            live_event_read(collector->counters[i].descriptor, &times[i / processors]);
    pthread_mutex_unlock(&collector->lock);
}

/* What the kernel has locked for a map, in bytes. */
static uint64_t map_bytes(int map) {
    char path[64], line[128];
    unsigned long long bytes = 0;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", map);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "memlock: %llu", &bytes) == 1)
            break;
    if (file)
        fclose(file);
    return bytes;
}

void collector_statistics(const struct collector *collector,
                          struct collector_statistics *statistics) {
    *statistics = (struct collector_statistics){0};
    for (uint32_t i = 0; i < collector->configuration.processors; i++) {
        const struct table_state *state = &collector->states[i];
        statistics->samples += state->samples;
        statistics->hits += state->hits;
        statistics->inserted += state->inserted;
        statistics->searched += state->searched;
        statistics->unresolved += state->unresolved;
        statistics->evicted += state->evicted;
        statistics->dropped += state->dropped;
    }
    for (uint32_t i = 0; i < collector->configuration.processors; i++)
        statistics->processors += collector->counters[i].link != NULL;
    struct bpf_prog_info info = {0};
    uint32_t size = sizeof info;
    if (bpf_obj_get_info_by_fd(bpf_program__fd(collector->program), &info, &size) == 0) {
        statistics->program_ns = info.run_time_ns;
        statistics->program_runs = info.run_cnt;
    }
    for (struct bpf_map *map = NULL; (map = bpf_object__next_map(collector->object, map));)
        statistics->bytes += map_bytes(bpf_map__fd(map));
}
