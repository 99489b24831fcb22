#include "report/sharing_report.h"

#include <stdlib.h>
#include <string.h>

#include "query/function_walk.h"
#include "util/array.h"
#include "util/text.h"

const char *sharing_name(enum line_sharing sharing) {
    static const char *const NAMES[] = {[SHARING_UNKNOWN] = "unknown",
                                        [SHARING_FALSE] = "false",
                                        [SHARING_TRUE] = "true",
                                        [SHARING_MIXED] = "mixed"};
    return NAMES[sharing];
}

double sharing_saving(const struct sharing_report *sharing, const struct sharing_remedy *remedy) {
    const double before = (double)sharing->run->simulation.together.cycles;
    return before > 0 ? 1 - (double)remedy->cycles / before : 0;
}

/* ---- places ---- */

struct names {
    const struct code *code;
    struct program *program;
    const uint32_t *images;
    const struct data_map *data;
};

static struct sharing_place place_of_side(const struct names *names, const struct line_side *side) {
    const struct static_insn *insn = &names->code->insns[side->insn];
    struct location location = {.function = NULL};
    struct sharing_place place = {.thread = side->thread,
                                  .image = code_image_name(names->code, insn->image),
                                  .offset = insn->offset,
                                  .read = side->read,
                                  .written = side->written,
                                  .reads = side->reads,
                                  .writes = side->writes,
                                  .moves = side->moves,
                                  .cycles = side->cycles,
                                  .threads = 1};
    program_locate(names->program, names->images[insn->image], insn->offset, &location);
    place.function = location.inline_count ? location.inlined[0].function : location.function;
    place.file = location.file;
    place.line = location.line;
    if (!place.function && names->code->images[insn->image].symbol)
        place.function = names->code->images[insn->image].symbol;
    return place;
}

static bool same_text(const char *one, const char *other) {
    return one == other || (one && other && !strcmp(one, other));
}

/* But for the thread. */
static bool is_same_place(const struct sharing_place *one, const struct sharing_place *other) {
    if (!same_text(one->function, other->function) || !same_text(one->file, other->file) ||
        one->line != other->line)
        return false;
    return one->file || one->function || one->offset == other->offset;
}

static int costliest_first(const void *left, const void *right) {
    const struct sharing_place *a = left, *b = right;
    if (a->cycles != b->cycles)
        return a->cycles > b->cycles ? -1 : 1;
    if (a->moves != b->moves)
        return a->moves > b->moves ? -1 : 1;
    const uint64_t of_a = a->reads + a->writes, of_b = b->reads + b->writes;
    if (of_a != of_b)
        return of_a > of_b ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static void add_place(struct sharing_place *sum, const struct sharing_place *place) {
    sum->read |= place->read;
    sum->written |= place->written;
    sum->reads += place->reads;
    sum->writes += place->writes;
    sum->moves += place->moves;
    sum->cycles += place->cycles;
    sum->offset = place->offset < sum->offset ? place->offset : sum->offset;
}

static bool find_places(const struct names *names, struct sharing_line *told) {
    const struct moved_line *line = told->line;
    told->places = malloc((line->side_count + 1) * sizeof *told->places);
    for (size_t i = 0; told->places && i < line->side_count; i++) {
        const struct sharing_place place = place_of_side(names, &line->sides[i]);
        const size_t at = index_where(k, told->place_count,
                                      told->places[k].thread == place.thread &&
                                          is_same_place(&told->places[k], &place));
        if (at == told->place_count)
            told->places[told->place_count++] = place;
        else
            add_place(&told->places[at], &place);
    }
    if (told->place_count)
        qsort(told->places, told->place_count, sizeof *told->places, costliest_first);
    return told->places;
}

size_t sharing_places(const struct sharing_line *line, size_t most, struct sharing_place *places) {
    const bool merge = line->line->thread_count > most;
    size_t count = 0;
    for (size_t i = 0; i < line->place_count; i++) {
        const struct sharing_place *place = &line->places[i];
        const size_t at = merge ? index_where(k, count, is_same_place(&places[k], place)) : count;
        if (at == count) {
            places[count++] = *place;
        } else { /* each thread has a place once */
            add_place(&places[at], place);
            places[at].threads++;
        }
    }
    if (merge && count)
        qsort(places, count, sizeof *places, costliest_first);
    return count;
}

/* ---- lines ---- */

static bool is_same_object(const struct data_object *one, const struct data_object *other) {
    return one->kind == other->kind && one->thread == other->thread &&
           same_text(one->name, other->name) && same_text(one->image, other->image);
}

/* Those of places that have less of a line's waiting than this are not told. */
static const double TOLD_SHARE = 0.05;

/* The places are there, costliest first. */
static void find_objects(const struct sharing_report *sharing, const struct names *names,
                         struct sharing_line *told) {
    for (size_t i = 0; i < told->place_count; i++) {
        const struct sharing_place *place = &told->places[i];
        const unsigned part = (unsigned)__builtin_ctzll(place->read | place->written);
        const uint64_t address = told->line->address + (uint64_t)part * sharing->part_bytes;
        if (i && (double)place->cycles < TOLD_SHARE * (double)told->line->cycles)
            return;
        const struct sharing_object found = {
            .object = data_object_at(names->data, told->line->process, address),
            .address = address};
        const size_t at = index_where(k, told->object_count,
                                      is_same_object(&told->objects[k].object, &found.object));
        if (at < told->object_count)
            told->objects[at] = address < told->objects[at].address ? found : told->objects[at];
        else if (at < SHARING_OBJECTS)
            told->objects[told->object_count++] = found;
    }
}

static bool tell_line(const struct sharing_report *sharing, const struct names *names,
                      struct sharing_line *told) {
    told->sharing = sharing_of(told->line);
    told->false_share = sharing_false_share(told->line);
    if (!find_places(names, told))
        return false;
    find_objects(sharing, names, told);
    return true;
}

static bool tell_lines(struct sharing_report *sharing, struct program *program, uint32_t top) {
    const struct sharing_run *run = sharing->run;
    const struct code *code = trace_code(run->trace);
    const size_t count = top && top < run->sum.count ? top : run->sum.count;
    uint32_t *images = code_images_add(code, program);
    struct data_map data = {.code = NULL};
    sharing->lines = calloc(count + 1, sizeof *sharing->lines);
    bool good =
        images && sharing->lines &&
        data_map_build(&data, code, program, images, &run->sum, trace_process_count(run->trace));
    const struct names names = {.code = code, .program = program, .images = images, .data = &data};
    for (size_t i = 0; good && i < count; i++) {
        sharing->lines[i].line = &run->sum.lines[i];
        sharing->line_count++;
        good = tell_line(sharing, &names, &sharing->lines[i]);
    }
    data_map_free(&data);
    free(images);
    return good;
}

static void note_what_was_dropped(struct sharing_report *sharing) {
    const struct line_traffic_sum *sum = &sharing->run->sum;
    struct report *report = &sharing->report;
    const uint64_t dropped = sum_over(uint64_t, i, sharing->noticed, sum->lines[i].dropped);
    if (dropped)
        report_note(report,
                    "%s accesses were by more instructions than are kept of a line (%d): they are "
                    "in no place",
                    text_count(dropped).s, LINE_SIDES);

    if (sum->dropped_lines)
        report_note(report, "%s lines that were waited for least were not kept: %s of %s moves",
                    text_count(sum->dropped_lines).s, text_count(sum->dropped_moves).s,
                    text_count(sum->moves).s);
}

static void note(struct sharing_report *sharing) {
    const struct sharing_run *run = sharing->run;
    struct report *report = &sharing->report;
    const struct together_result *together = &run->simulation.together;
    note_what_was_dropped(sharing);
    if (run->interrupted)
        report_note(report, "interrupted before %s remed%s had been simulated",
                    run->simulation.interrupted ? "any" : "all",
                    run->simulation.interrupted ? "y" : "ies");
    if (together->diverged)
        report_note(report,
                    "%s wait%s could not be followed: what was waited for did not come in "
                    "simulated time",
                    text_count(together->diverged).s, text_plural(together->diverged));
    if (run->remedy_count)
        report_note(report,
                    "padding: the bytes of each thread on lines of their own; copies: each thread "
                    "has its own of all bytes, at no cost and without reading the others': the "
                    "most that any remedy saves");
    report_note(report, "not modelled: the kernel; waits are of accesses, of which a core has "
                        "several under way at once");
}

bool sharing_report_build(struct sharing_report *sharing, const struct sharing_run *run,
                          struct program *program, uint32_t top, struct error *error) {
    const uint32_t line_bytes = run->options.machine->l1d.line;
    sharing->run = run;
    sharing->part_bytes = line_bytes > LINE_PARTS ? line_bytes / LINE_PARTS : 1;
    if (!run->threads_seen)
        return true;
    sharing->all = !top;
    while (sharing->noticed < run->sum.count &&
           sharing_noticed(run, run->sum.lines[sharing->noticed].cycles))
        sharing->noticed++;
    if (!tell_lines(sharing, program, top))
        return error_set(error, "out of memory for the report");
    note(sharing);
    return true;
}

void sharing_report_free(struct sharing_report *sharing) {
    for (size_t i = 0; i < sharing->line_count; i++)
        free(sharing->lines[i].places);
    free(sharing->lines);
    report_free(&sharing->report);
}
