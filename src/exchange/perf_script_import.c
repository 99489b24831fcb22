/* A head opens a sample; its first frame closes it, and those behind that are its callers.
 * Functions that were inlined in that of a frame are none of their own. Lines of mappings lead the
 * way for the samples that follow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/import.h"
#include "exchange/perf_line.h"
#include "exchange/perf_places.h"
#include "machine/processor.h"
#include "util/array.h"

enum { DECLARED_MAX = 16, EVENT_BYTES = 64, FRAMES_MAX = 1024 };

/* An event of which a record holds many samples, as culprit's own export has it. */
struct declared {
    char event[EVENT_BYTES];
    uint64_t period; /* of one */
};

struct reading {
    struct input *input;
    struct import *import;
    struct perf_places *places;
    struct error *error;
    bool open;               /* a head was read, its frame was not */
    struct gathered_key key; /* of the sample that has its frame */
    uint64_t count;
    struct gathered_frame *frames; /* of its stack, so far */
    size_t frame_count, frame_capacity;
    bool in_stack; /* lines that begin with a tab belong to a sample */
    uint64_t head_line;
    struct perf_head head; /* of the open sample; strings as below */
    /* The outermost of the inlined functions that were told last, whose own function should follow,
     * of the same address. */
    struct perf_frame inlined;
    bool has_inlined;
    char *command, *event, *inlined_symbol;
    size_t command_capacity, event_capacity, inlined_capacity;
    struct declared declared[DECLARED_MAX];
    size_t declared_count;
    bool timed;
    uint64_t first_ns, last_ns;
    struct processor cpuid; /* vendor, family and model; else empty */
};

static bool out_of_memory(const struct reading *reading) {
    return input_fail_line(reading->input, reading->error, "out of memory");
}

/* ---- samples ---- */

static const char *period_unit(const char *event) {
    if (strstr(event, "-clock"))
        return "ns";
    return strstr(event, "cycles") ? "cycles" : "events";
}

/* Waits that culprit wrote are time, not samples (`record --off-cpu`). */
static bool is_wait(const struct reading *reading, const char *event) {
    return (!strcmp(event, "off-cpu") || !strcmp(event, "run-queue")) &&
           any_where(k, reading->declared_count, !strcmp(reading->declared[k].event, event));
}

/* How many samples a record holds. */
static uint64_t count_of(const struct reading *reading, const char *event, uint64_t period) {
    const size_t i = index_where(k, reading->declared_count,
                                 !strcmp(reading->declared[k].event, event) &&
                                     period >= reading->declared[k].period);
    return i < reading->declared_count ? period / reading->declared[i].period : 1;
}

/* The place of a procedure's name without a distance: what lies before is another's. */
static bool is_name_alone(uint64_t offset) {
    return offset >> 63 && offset % GATHERED_NAMED_BYTES == 0;
}

/* A caller is told by its return address, which may be another function's first: `before` it. */
static bool add_to_stack(struct reading *reading, const struct perf_place *place, unsigned before) {
    const bool first = !place->offset || is_name_alone(place->offset);
    const struct gathered_frame frame = {place->image, place->offset - (first ? 0 : before)};
    return reading->frame_count >= FRAMES_MAX ||
           array_push(reading->frames, reading->frame_capacity, reading->frame_count, frame);
}

static bool add_sample(struct reading *reading, const struct perf_place *place) {
    struct gathered *gathered = &reading->import->gathered;
    const struct perf_head *head = &reading->head;
    const char *name = head->event && *head->event ? head->event : "samples";
    const bool waits = is_wait(reading, name);
    struct gathered_key key = {
        .offset = place->offset,
        .image = place->image,
        .process = gathered_process(gathered, head->command, ""),
        .event = gathered_event(gathered, name, waits ? "ns" : "samples",
                                waits ? "ns" : period_unit(name), head->precise),
    };
    uint64_t count = count_of(reading, name, head->period);
    if (key.process == GATHERED_NONE || key.event == GATHERED_NONE ||
        !gathered_add(gathered, &key, count))
        return out_of_memory(reading);
    if (head->period && !waits)
        gathered_period(gathered, key.event, head->period, count);
    reading->import->session.unknown += place->unknown ? count : 0;
    reading->import->unplaced += place->unplaced ? count : 0;
    reading->import->records++;
    if (head->timed) {
        if (!reading->timed || head->time_ns < reading->first_ns)
            reading->first_ns = head->time_ns;
        if (!reading->timed || head->time_ns > reading->last_ns)
            reading->last_ns = head->time_ns;
        reading->timed = true;
    }
    reading->open = false;
    reading->key = key;
    reading->count = count;
    reading->frame_count = 0;
    return add_to_stack(reading, place, 0) || out_of_memory(reading);
}

static bool add_caller(struct reading *reading, const struct perf_frame *frame) {
    struct perf_place place;
    return (perf_places_find(reading->places, &reading->head, frame, true, &place) &&
            add_to_stack(reading, &place, 1)) ||
           out_of_memory(reading);
}

/* What is known of the stack of the sample that was closed. */
static bool end_stack(struct reading *reading) {
    const size_t count = reading->frame_count;
    reading->frame_count = 0;
    return !count ||
           gathered_add_stack(&reading->import->gathered, &reading->key, reading->frames, count,
                              reading->count) ||
           out_of_memory(reading);
}

static bool add_frame(struct reading *reading, const struct perf_frame *frame, bool stacked) {
    struct perf_place place;
    if (!perf_places_find(reading->places, &reading->head, frame, stacked, &place))
        return out_of_memory(reading);
    return add_sample(reading, &place);
}

static bool add_stacked(struct reading *reading, const struct perf_frame *frame) {
    return reading->open ? add_frame(reading, frame, true) : add_caller(reading, frame);
}

/* An inlined function of an address stands for that where no other frame of it follows. */
static bool end_inlined(struct reading *reading) {
    if (!reading->has_inlined)
        return true;
    reading->has_inlined = false;
    return add_stacked(reading, &reading->inlined);
}

/* A sample without any frame: perf recorded no address, or was not asked to print it. A line that
 * looked like the head of one may be no such thing at all. */
static bool end_sample(struct reading *reading) {
    if (!end_inlined(reading))
        return false;
    reading->in_stack = false;
    if (!reading->open)
        return end_stack(reading);
    if (!reading->head.anchored) {
        reading->input->line = reading->head_line;
        return input_fail_line(reading->input, reading->error,
                               "not a line of perf script: give it the output of 'perf script'");
    }
    struct perf_frame nowhere = {0};
    return add_frame(reading, &nowhere, false) && end_stack(reading);
}

/* ---- lines ---- */

static bool keep(char **kept, size_t *capacity, const char *text) {
    size_t size = strlen(text) + 1;
    void *room = *kept;
    if (size > *capacity) {
        room = realloc(*kept, size);
        if (!room)
            return false;
        *kept = room;
        *capacity = size;
    }
    memcpy(room, text, size);
    return true;
}

/* A line below the head of a sample. */
static bool take_stacked(struct reading *reading, const struct perf_frame *frame) {
    if (reading->has_inlined && reading->inlined.address != frame->address && !end_inlined(reading))
        return false;
    reading->has_inlined = frame->inlined;
    if (!frame->inlined)
        return add_stacked(reading, frame);
    if (!keep(&reading->inlined_symbol, &reading->inlined_capacity,
              frame->symbol ? frame->symbol : ""))
        return out_of_memory(reading);
    reading->inlined = (struct perf_frame){
        .address = frame->address, .symbol = frame->symbol ? reading->inlined_symbol : NULL};
    return true;
}

static bool take_record(struct reading *reading, char *rest) {
    struct perf_mapping mapping;
    const char *lost = strstr(rest, "PERF_RECORD_LOST") ? strstr(rest, "lost") : NULL;
    if (lost)
        reading->import->session.dropped +=
            strtoull(lost + strcspn(lost, "0123456789"), NULL, 10) & INT64_MAX >> 16;
    int64_t pid, tid, parent;
    bool good = true;
    if (perf_fork_parse(rest, &pid, &tid, &parent))
        good = perf_places_fork(reading->places, pid == parent ? tid : pid, parent);
    else if (perf_mapping_parse(rest, &mapping))
        good = perf_places_map(reading->places, &mapping);
    return good || out_of_memory(reading);
}

static bool take_head(struct reading *reading, struct perf_head *head) {
    struct perf_frame frame;
    if (!keep(&reading->command, &reading->command_capacity, head->command) ||
        (head->event && !keep(&reading->event, &reading->event_capacity, head->event)))
        return out_of_memory(reading);
    reading->head = *head;
    reading->head.command = reading->command;
    reading->head.event = head->event ? reading->event : NULL;
    reading->head_line = reading->input->line;
    reading->open = true;
    if (perf_frame_parse(head->rest, &frame) && (head->anchored || frame.image))
        return add_frame(reading, &frame, false);
    reading->in_stack = true;
    return true;
}

/* Lines without time and event: "ADDRESS SYMBOL (IMAGE)", behind a command or not; else a command
 * with its stack below. */
static bool take_bare(struct reading *reading, char *line) {
    struct perf_frame frame;
    struct perf_head head;
    for (char *at = line + strspn(line, " \t"); *at;) {
        size_t length = strcspn(at, " \t");
        char *next = at + length + strspn(at + length, " \t");
        bool address = length >= 4 && length <= 16 && strspn(at, "0123456789abcdef") == length;
        if (address && *next && line[strlen(line) - 1] == ')') {
            char first = *at;
            *at = 0;
            perf_head_parse(line, &head);
            if (!keep(&reading->command, &reading->command_capacity, head.command))
                return out_of_memory(reading);
            reading->head = head;
            reading->head.command = reading->command;
            *at = first;
            reading->open = true;
            return perf_frame_parse(at, &frame) && add_frame(reading, &frame, false);
        }
        at = next;
    }
    perf_head_parse(line, &head);
    return take_head(reading, &head);
}

/* "# one sample of cpu-clock: 192000", which culprit writes. */
static void take_declaration(struct reading *reading, const char *text) {
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : EVENT_BYTES;
    if (length >= EVENT_BYTES || reading->declared_count == DECLARED_MAX)
        return;
    struct declared *declared = &reading->declared[reading->declared_count];
    memcpy(declared->event, text, length);
    declared->event[length] = 0;
    declared->period = strtoull(colon + 1, NULL, 10);
    reading->declared_count += declared->period > 0;
}

/* "AuthenticAMD,25,17,1": vendor, family, model, stepping. */
static void take_cpuid(struct reading *reading, const char *text) {
    struct processor processor = {0};
    char comma;
    if (sscanf(text, "%12[A-Za-z],%u,%u%c", processor.vendor, &processor.family, &processor.model,
               &comma) >= 3 &&
        processor.family <= 0xfff && processor.model <= 0xff)
        reading->cpuid = processor;
}

/* The name and the kind as culprit's own profiles have them. */
static void name_processor(struct reading *reading) {
    char *text = reading->import->processor, kind[PROCESSOR_KIND];
    struct processor known;
    processor_kind(&reading->cpuid, kind);
    const size_t length = strlen(text);
    if (*kind && !processor_parse(text, &known))
        snprintf(text + length, IMPORT_TEXT_BYTES - length, "%s%s%s", length ? " (" : "", kind,
                 length ? ")" : "");
}

/* "# hostname : name" of perf script --header. */
static void take_comment(struct reading *reading, const char *line) {
    static const char declaration[] = "# one sample of ", cpuid[] = "# cpuid : ";
    struct import *import = reading->import;
    const struct {
        const char *key;
        char *value;
    } known[] = {{"# hostname : ", import->host},
                 {"# os release : ", import->kernel},
                 {"# cpudesc : ", import->processor}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(line, known[i].key, strlen(known[i].key)))
            snprintf(known[i].value, IMPORT_TEXT_BYTES, "%s", line + strlen(known[i].key));
    if (!strncmp(line, cpuid, sizeof cpuid - 1))
        take_cpuid(reading, line + sizeof cpuid - 1);
    if (!strncmp(line, declaration, sizeof declaration - 1))
        take_declaration(reading, line + sizeof declaration - 1);
}

static bool is_anchored(const char *line) {
    /* Cheap: a head with an anchor has a colon before a space or the end. */
    for (const char *at = strchr(line, ':'); at; at = strchr(at + 1, ':'))
        if (at != line && (at[1] == ' ' || !at[1]))
            return true;
    return false;
}

static bool take_line(struct reading *reading, char *line) {
    struct perf_frame frame;
    struct perf_head head;
    size_t length = strlen(line);
    while (length && (line[length - 1] == '\r' || line[length - 1] == ' '))
        line[--length] = 0;
    if (!length)
        return end_sample(reading);
    if (reading->in_stack && line[0] == '\t') {
        return !perf_frame_parse(line, &frame) || take_stacked(reading, &frame);
    }
    if (line[0] == '#' && (line[1] == ' ' || !line[1]))
        return take_comment(reading, line), true;
    bool anchored = is_anchored(line);
    if (reading->in_stack && !anchored && (line[0] == ' ' || !reading->open))
        return true; /* source lines below frames */
    if (!end_sample(reading))
        return false;
    if (strstr(line, "PERF_RECORD_"))
        return take_record(reading, strstr(line, "PERF_RECORD_"));
    if (!anchored)
        return take_bare(reading, line);
    perf_head_parse(line, &head);
    return take_head(reading, &head);
}

bool import_perf_script(struct input *input, struct import *import, struct error *error) {
    struct reading reading = {.input = input, .import = import, .error = error};
    reading.places = perf_places_new(&import->gathered, error);
    bool good = reading.places != NULL;
    char *line;
    size_t length;
    int got = 0;
    while (good && (got = input_line(input, &line, &length, error)) > 0)
        good = take_line(&reading, line);
    good = good && got == 0 && end_sample(&reading);
    if (good && !import->records)
        good = error_set(error, "%s: no samples in it: is it the output of 'perf script'?",
                         input->path);
    if (good && reading.timed)
        import->session.start =
            import->session.end - (int64_t)((reading.last_ns - reading.first_ns) & INT64_MAX);
    import->session.host = import->host;
    import->session.kernel = import->kernel;
    name_processor(&reading);
    import->session.processor = import->processor;
    perf_places_free(reading.places);
    free(reading.frames);
    free(reading.command);
    free(reading.event);
    free(reading.inlined_symbol);
    return good;
}
