/* Samples are looked up and printed one at a time: there may be any number. */
#include "report/samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/program.h"
#include "report/json_values.h"
#include "samples/format.h"
#include "util/text.h"

/* ---- names ---- */

struct dump {
    FILE *out;
    struct sample_reader *reader;
    const struct sample_header *header;
    struct program *program;
    uint32_t *images; /* by number in the file: number in `program`, + 1 */
    uint32_t image_count;
    uint64_t samples;
    char path[4096], function[4096]; /* of the address last looked up; empty: not known */
    uint64_t function_offset;        /* bytes from the function's beginning */
};

static bool make_room(struct dump *dump, uint32_t image) {
    if (image < dump->image_count)
        return true;
    uint32_t count = image * 2 + 16;
    uint32_t *images = realloc(dump->images, count * sizeof *images);
    if (!images)
        return false;
    memset(images + dump->image_count, 0, (count - dump->image_count) * sizeof *images);
    dump->images = images;
    dump->image_count = count;
    return true;
}

static void look_up(struct dump *dump, uint32_t process, uint64_t address) {
    struct sample_place place;
    struct location location;
    dump->path[0] = dump->function[0] = 0;
    if (!sample_reader_place(dump->reader, process, address, &place) ||
        !make_room(dump, place.image))
        return;
    text_clean(dump->path, sizeof dump->path, place.path);
    uint32_t *image = &dump->images[place.image];
    if (!*image)
        *image =
            1 + program_add_image(dump->program, place.path, place.build_id, place.build_id_size);
    if (!program_locate(dump->program, *image - 1, place.offset, &location) || !location.function)
        return;
    text_clean(dump->function, sizeof dump->function, location.function);
    dump->function_offset = place.offset - location.function_offset;
}

static const char *state_of(const struct sample *sample) {
    switch (sample->flags) {
    case 0:
        return "computing";
    case TIP_STALLED:
        return "stalled";
    case TIP_FRONT_END:
        return "drained";
    case TIP_EXCEPTION:
        return "flushed, exception";
    case TIP_FLUSH:
        return "flushed";
    default:
        return "flushed, mispredicted";
    }
}

static double frequency(const struct sample_header *header) {
    return (double)header->clock_hz / (double)header->sampling.period;
}

static double rate_of(const struct sample_header *header) {
    return sample_rate(sample_bytes(header), header->sampling.period, header->clock_hz);
}

/* ---- text ---- */

/* A prefix stands with its unit. */
static void print_quantity(FILE *out, double quantity, const char *unit) {
    struct text text = text_quantity(quantity);
    bool prefixed = text.s[strlen(text.s) - 1] > '9';
    fprintf(out, "%s%s%s", text.s, prefixed ? "" : " ", unit);
}

static void text_begin(const struct dump *dump) {
    const struct sample_header *header = dump->header;
    char machine[512], command[4096];
    fprintf(dump->out, "# command: %s\n", text_clean(command, sizeof command, header->command));
    fprintf(dump->out, "# %s on %s at %s GHz, %" PRIu32 " bytes a sample\n",
            header->events ? "TEA" : "TIP", text_clean(machine, sizeof machine, header->machine),
            text_quantity((double)header->clock_hz / 1e9).s, sample_bytes(header));
    fprintf(dump->out, "# one of every %s cycles%s: ", text_grouped(header->sampling.period).s,
            header->sampling.mode == SAMPLER_RANDOM ? ", at random" : "");
    print_quantity(dump->out, frequency(header), "Hz, ");
    print_quantity(dump->out, rate_of(header), "B/s\n");
}

static void text_sample(struct dump *dump, const struct sample *sample) {
    uint8_t banks[SAMPLE_MAX_BANKS];
    unsigned count = sample_sharers(sample, dump->header->commit_width, banks);
    fprintf(dump->out,
            "%" PRIu32 "/%" PRIu32 " [%03" PRIu32 "] %" PRIu64 ": %" PRIu64 " cycle%s: %s\n",
            sample->process, sample->thread, sample->core, sample->time, sample->cycles,
            sample->cycles == 1 ? "" : "s", state_of(sample));
    for (unsigned i = 0; i < count; i++) {
        char events[128];
        uint64_t address = sample->address[banks[i]];
        look_up(dump, sample->process, address);
        psv_format(sample->events[banks[i]], events, sizeof events);
        fprintf(dump->out, "\t%16" PRIx64 " ", address);
        if (dump->function[0])
            fprintf(dump->out, "%s+0x%" PRIx64, dump->function, dump->function_offset);
        else
            fputs("[unknown]", dump->out);
        fprintf(dump->out, " (%s)%s%s\n", dump->path[0] ? dump->path : "[unknown]",
                dump->header->events ? " " : "", dump->header->events ? events : "");
    }
}

static void text_end(const struct dump *dump) {
    fprintf(dump->out, "# %s sample%s%s\n", text_grouped(dump->samples).s,
            text_plural(dump->samples),
            sample_reader_is_cut(dump->reader) ? "; the file is cut short" : "");
}

/* ---- JSON: one sample at a time, as there may be any number ---- */

static void json_begin(const struct dump *dump) {
    const struct sample_header *header = dump->header;
    char machine[512], command[4096];
    text_clean(machine, sizeof machine, header->machine);
    text_clean(command, sizeof command, header->command);
    json_t *head = json_pack(
        "{s:s, s:s, s:s, s:f, s:I, s:s, s:I, s:I, s:I, s:f}", "profiler",
        header->events ? "TEA" : "TIP", "command", command, "machine", machine, "clock_ghz",
        (double)header->clock_hz / 1e9, "period", (json_int_t)header->sampling.period, "mode",
        header->sampling.mode == SAMPLER_RANDOM ? "random" : "periodic", "seed",
        (json_int_t)header->sampling.seed, "commit_width", (json_int_t)header->commit_width,
        "sample_bytes", (json_int_t)sample_bytes(header), "bytes_per_second", rate_of(header));
    char *text = head ? json_dumps(head, JSON_REAL_PRECISION(15)) : NULL;
    if (text) { /* without its closing brace */
        fwrite(text, 1, strlen(text) - 1, dump->out);
        fputs(",\n\"samples\": [", dump->out);
    }
    free(text);
    json_decref(head);
}

static void json_sample(struct dump *dump, const struct sample *sample) {
    uint8_t banks[SAMPLE_MAX_BANKS];
    unsigned count = sample_sharers(sample, dump->header->commit_width, banks);
    json_t *instructions = json_array();
    for (unsigned i = 0; i < count; i++) {
        char events[128], address[32];
        look_up(dump, sample->process, sample->address[banks[i]]);
        psv_format(sample->events[banks[i]], events, sizeof events);
        snprintf(address, sizeof address, "0x%" PRIx64, sample->address[banks[i]]);
        json_t *instruction = json_pack("{s:s}", "address", address);
        if (dump->path[0])
            json_object_set_new(instruction, "image", json_text(dump->path));
        if (dump->function[0]) {
            json_object_set_new(instruction, "function", json_text(dump->function));
            json_object_set_new(instruction, "function_offset", json_count(dump->function_offset));
        }
        if (dump->header->events)
            json_object_set_new(instruction, "events", json_string(events));
        json_array_append_new(instructions, instruction);
    }
    json_t *object =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:o}", "process", (json_int_t)sample->process,
                  "thread", (json_int_t)sample->thread, "core", (json_int_t)sample->core, "time",
                  (json_int_t)sample->time, "cycles", (json_int_t)sample->cycles, "state",
                  state_of(sample), "instructions", instructions);
    fputs(dump->samples > 1 ? ",\n" : "\n", dump->out);
    json_dumpf(object, dump->out, JSON_COMPACT);
    json_decref(object);
}

static void json_end(const struct dump *dump) {
    fprintf(dump->out, "\n],\n\"count\": %" PRIu64 ", \"cut\": %s}\n", dump->samples,
            sample_reader_is_cut(dump->reader) ? "true" : "false");
}

/* ---- both ---- */

static bool print_samples(struct dump *dump, bool json, struct error *error) {
    struct sample sample;
    int status;
    (json ? json_begin : text_begin)(dump);
    while ((status = sample_reader_next(dump->reader, &sample, error)) > 0) {
        dump->samples++;
        (json ? json_sample : text_sample)(dump, &sample);
        if (ferror(dump->out)) /* told when the output is closed */
            break;
    }
    (json ? json_end : text_end)(dump);
    return status >= 0;
}

bool samples_print(const char *path, bool json, FILE *out, struct error *error) {
    struct dump dump = {.out = out};
    if (!(dump.reader = sample_reader_open(path, error)))
        return false;
    dump.header = sample_reader_header(dump.reader);
    bool good = (dump.program = program_new()) || error_set(error, "out of memory for symbols");
    good = good && print_samples(&dump, json, error);
    program_free(dump.program);
    free(dump.images);
    sample_reader_close(dump.reader);
    return good;
}
