/* The processed profile format of the Firefox Profiler, version 48, as the type descriptions in its
 * repository have it. A process is a thread of it; what was counted at one stack is one sample,
 * whose weight it is. A profile has no times: samples stand in order. Cycles of a simulation have
 * their component as category. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/component.h"
#include "exchange/export.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/intern.h"
#include "util/json_text.h"

enum { NAME_BYTES = 4096, VERSION = 48 };

struct function {
    uint32_t name, image, file; /* texts */
};

struct frame {
    uint32_t function, line; /* 0: not known */
};

struct node {
    uint32_t prefix, frame, category; /* prefix: node + 1; 0: none */
};

struct sample {
    uint32_t stack;
    uint64_t weight;
};

struct thread {
    int64_t process;
    char *name;
    struct intern texts, functions, images, frames, nodes; /* structs above; images: texts */
    struct sample *samples;
    size_t sample_count, sample_capacity;
};

struct profile {
    struct export *export;
    struct thread *threads;
    size_t thread_count, thread_capacity;
};

static bool no_memory(const struct profile *profile) {
    return error_set(profile->export->error, "out of memory for the profile");
}

/* ---- gathering ---- */

static struct thread *thread_of(struct profile *profile, const struct store_process *process) {
    for (size_t i = profile->thread_count; i-- > 0;)
        if (profile->threads[i].process == process->id)
            return &profile->threads[i];
    const struct thread new = {.process = process->id,
                               .name = strdup(*process->command ? process->command : "[unknown]")};
    if (!new.name ||
        !array_push(profile->threads, profile->thread_capacity, profile->thread_count, new)) {
        free(new.name);
        no_memory(profile);
        return NULL;
    }
    return &profile->threads[profile->thread_count - 1];
}

static uint32_t text_number(struct intern *texts, const char *text) {
    char clean[NAME_BYTES];
    export_clean(clean, sizeof clean, text, 0);
    return intern_add(texts, clean, strlen(clean));
}

/* The number of a frame of a thread; INTERN_NONE, with an error. */
static uint32_t frame_of(struct profile *profile, struct thread *thread,
                         const struct export_frame *at) {
    struct export *export = profile->export;
    struct location location = {0};
    struct function function;
    char procedure[NAME_BYTES];
    const char *name = procedure, *image = "";
    if (!at->image) {
        name = export_cut_name(at->offset);
    } else {
        if (!image_names_locate(export->names, at->image, at->offset, &location, export->error))
            return INTERN_NONE;
        export_procedure(at->image, &location, procedure, sizeof procedure);
        image = file_base_name(at->image->path);
    }
    const uint32_t image_text = text_number(&thread->texts, image);
    function =
        (struct function){.name = text_number(&thread->texts, name),
                          .file = text_number(&thread->texts, location.file ? location.file : ""),
                          .image = intern_add(&thread->images, &image_text, sizeof image_text)};
    const struct frame frame = {intern_add(&thread->functions, &function, sizeof function),
                                location.line};
    const uint32_t number = intern_add(&thread->frames, &frame, sizeof frame);
    if (image_text == INTERN_NONE || function.name == INTERN_NONE || function.file == INTERN_NONE ||
        function.image == INTERN_NONE || frame.function == INTERN_NONE || number == INTERN_NONE) {
        no_memory(profile);
        return INTERN_NONE;
    }
    return number;
}

static bool visit_stack(void *context, const struct export_stack *stack) {
    struct profile *profile = context;
    struct thread *thread = thread_of(profile, stack->process);
    struct node node = {0};
    for (size_t i = stack->count; thread && i-- > 0;) {
        node.frame = frame_of(profile, thread, &stack->frames[i]);
        if (node.frame == INTERN_NONE)
            return false;
        if (i == 0 && stack->event->cycles)
            node.category = 1 + component_of(stack->signature);
        const uint32_t number = intern_add(&thread->nodes, &node, sizeof node);
        if (number == INTERN_NONE)
            return no_memory(profile);
        node.prefix = number + 1;
    }
    return thread && (array_push(thread->samples, thread->sample_capacity, thread->sample_count,
                                 (struct sample){node.prefix - 1, stack->value}) ||
                      no_memory(profile));
}

/* ---- writing ---- */

/* "name":[value,value ...], from an expression about item i of `count`. */
#define COLUMN(file, name, count, format, ...)                                                     \
    do {                                                                                           \
        fprintf(file, "\"%s\":[", name);                                                           \
        for (size_t i = 0; i < (count); i++)                                                       \
            fprintf(file, "%s" format, i ? "," : "", __VA_ARGS__);                                 \
        fputs("],", file);                                                                         \
    } while (0)
#define ITEM(intern, type, i) ((const struct type *)(const void *)(intern).items[i].bytes)

/* A number, or null for one that is not there. */
static void put_known(FILE *file, bool known, uint32_t value) {
    if (known)
        fprintf(file, "%" PRIu32, value);
    else
        fputs("null", file);
}

static void put_samples(const struct thread *thread, FILE *file) {
    fputs("\"samples\":{\"weightType\":\"samples\",", file);
    COLUMN(file, "stack", thread->sample_count, "%" PRIu32, thread->samples[i].stack);
    COLUMN(file, "weight", thread->sample_count, "%" PRIu64, thread->samples[i].weight);
    COLUMN(file, "time", thread->sample_count, "%zu", i);
    fprintf(file, "\"length\":%zu},\n", thread->sample_count);
}

static void put_nodes(const struct thread *thread, FILE *file) {
    const size_t count = thread->nodes.count;
    fputs("\"stackTable\":{", file);
    COLUMN(file, "frame", count, "%" PRIu32, ITEM(thread->nodes, node, i)->frame);
    COLUMN(file, "category", count, "%" PRIu32, ITEM(thread->nodes, node, i)->category);
    COLUMN(file, "subcategory", count, "%d", 0);
    fputs("\"prefix\":[", file);
    for (size_t i = 0; i < count; i++) {
        const uint32_t prefix = ITEM(thread->nodes, node, i)->prefix;
        fputs(i ? "," : "", file);
        put_known(file, prefix, prefix - 1);
    }
    fprintf(file, "],\"length\":%zu},\n", count);
}

static void put_frames(const struct thread *thread, FILE *file) {
    const size_t count = thread->frames.count;
    fputs("\"frameTable\":{", file);
    COLUMN(file, "address", count, "%d", -1);
    COLUMN(file, "inlineDepth", count, "%d", 0);
    COLUMN(file, "category", count, "%d", 0);
    COLUMN(file, "subcategory", count, "%d", 0);
    COLUMN(file, "func", count, "%" PRIu32, ITEM(thread->frames, frame, i)->function);
    COLUMN(file, "nativeSymbol", count, "%s", "null");
    COLUMN(file, "innerWindowID", count, "%d", 0);
    COLUMN(file, "implementation", count, "%s", "null");
    COLUMN(file, "column", count, "%s", "null");
    fputs("\"line\":[", file);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "," : "", file);
        put_known(file, ITEM(thread->frames, frame, i)->line, ITEM(thread->frames, frame, i)->line);
    }
    fprintf(file, "],\"length\":%zu},\n", count);
}

/* Whether a text is empty, which stands for none. */
static bool is_none(const struct thread *thread, uint32_t text) {
    return !*intern_text(&thread->texts, text);
}

static void put_functions(const struct thread *thread, FILE *file) {
    enum { LIBRARY = 1 };
    const size_t count = thread->functions.count;
    fputs("\"funcTable\":{", file);
    COLUMN(file, "isJS", count, "%s", "false");
    COLUMN(file, "relevantForJS", count, "%s", "false");
    COLUMN(file, "name", count, "%" PRIu32, ITEM(thread->functions, function, i)->name);
    COLUMN(file, "resource", count, "%" PRIu32, ITEM(thread->functions, function, i)->image);
    COLUMN(file, "lineNumber", count, "%s", "null");
    COLUMN(file, "columnNumber", count, "%s", "null");
    fputs("\"fileName\":[", file);
    for (size_t i = 0; i < count; i++) {
        const uint32_t text = ITEM(thread->functions, function, i)->file;
        fputs(i ? "," : "", file);
        put_known(file, !is_none(thread, text), text);
    }
    fprintf(file, "],\"length\":%zu},\n\"resourceTable\":{", count);
    COLUMN(file, "lib", thread->images.count, "%s", "null");
    COLUMN(file, "name", thread->images.count, "%" PRIu32,
           *(const uint32_t *)(const void *)thread->images.items[i].bytes);
    COLUMN(file, "host", thread->images.count, "%s", "null");
    COLUMN(file, "type", thread->images.count, "%d", LIBRARY);
    fprintf(file, "\"length\":%zu},\n", thread->images.count);
}

static void put_thread(const struct thread *thread, size_t number, FILE *file) {
    fputs(number ? ",\n{" : "\n{", file);
    fputs("\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
          "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"isMainThread\":true,"
          "\"name\":",
          file);
    json_text_write(thread->name, file);
    fputs(",\"processName\":", file);
    json_text_write(thread->name, file);
    fprintf(file, ",\"pid\":\"%zu\",\"tid\":%zu,\n", number, number);
    put_samples(thread, file);
    fputs("\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
          "\"category\":[],\"length\":0},\n",
          file);
    put_nodes(thread, file);
    put_frames(thread, file);
    put_functions(thread, file);
    fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
          "\"length\":0},\n\"stringArray\":[",
          file);
    for (size_t i = 0; i < thread->texts.count; i++) {
        fputs(i ? "," : "", file);
        json_text_write(intern_text(&thread->texts, (uint32_t)i), file);
    }
    fputs("]}", file);
}

static void put_categories(FILE *file) {
    static const char *const COLOURS[COMPONENT_COUNT] = {
        [COMPONENT_LLC_MISS] = "orange",  [COMPONENT_MISPREDICT] = "red",
        [COMPONENT_FLUSH] = "magenta",    [COMPONENT_TLB_MISS] = "purple",
        [COMPONENT_FORWARDING] = "green", [COMPONENT_COHERENCE] = "lightblue",
        [COMPONENT_L1_MISS] = "yellow",   [COMPONENT_STORES] = "lightgreen",
        [COMPONENT_FRONT_END] = "brown",  [COMPONENT_EXECUTE] = "blue"};
    fputs("\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}",
          file);
    for (int i = 0; i < COMPONENT_COUNT; i++)
        fprintf(file, ",{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
                component_name(i), COLOURS[i]);
    fputs("],", file);
}

/* What the viewer shows of the profile as a whole. */
static void put_notes(const struct export *export) {
    if (!export->note_count)
        return;
    fputs("\"extra\":[{\"label\":\"culprit\",\"entries\":[", export->file);
    for (size_t i = 0; i < export->note_count; i++) {
        fputs(i ? "," : "", export->file);
        fputs("{\"label\":\"note\",\"format\":\"string\",\"value\":", export->file);
        json_text_write(export->notes[i], export->file);
        fputc('}', export->file);
    }
    fputs("]}],", export->file);
}

static void put_profile(const struct profile *profile) {
    const struct export *export = profile->export;
    FILE *file = export->file;
    fprintf(file,
            "{\"meta\":{\"interval\":1,\"startTime\":%" PRId64
            ",\"processType\":0,\"product\":\"culprit\",\"stackwalk\":1,\"version\":30,"
            "\"preprocessedProfileVersion\":%d,\"symbolicationNotSupported\":true,"
            "\"markerSchema\":[],\"extensions\":{\"baseURL\":[],\"id\":[],\"name\":[],"
            "\"length\":0},",
            export->start / 1000000, VERSION);
    put_categories(file);
    put_notes(export);
    fputs("\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}},\n"
          "\"libs\":[],\"pages\":[],\"threads\":[",
          file);
    for (size_t i = 0; i < profile->thread_count; i++)
        put_thread(&profile->threads[i], i, file);
    fputs("]}\n", file);
}

static void free_thread(struct thread *thread) {
    intern_free(&thread->texts);
    intern_free(&thread->functions);
    intern_free(&thread->images);
    intern_free(&thread->frames);
    intern_free(&thread->nodes);
    free(thread->samples);
    free(thread->name);
}

bool export_firefox(struct export *export) {
    struct profile profile = {.export = export};
    const bool good = export_one_event(export, "each sample of that format has one weight") &&
                      export_each_stack(export, visit_stack, &profile);
    if (good)
        put_profile(&profile);
    for (size_t i = 0; i < profile.thread_count; i++)
        free_thread(&profile.threads[i]);
    free(profile.threads);
    return good;
}
