/* Lines that move between cores as text: each with what it holds and who touches it; then what
 * remedies save. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/sharing_report.h"
#include "report/table.h"
#include "util/text.h"

enum { PLACES_SHOWN = 8, RANGES_SHOWN = 4, NAME_BYTES = 512 };

static void print_head(const struct sharing_report *sharing, const struct page *page) {
    const struct simulation *simulation = &sharing->run->simulation;
    const struct together_result *together = &simulation->together;
    const struct machine *machine = sharing->report.machine;
    page_title(page, sharing->report.program, sharing->report.partial);
    if (!sharing->run->threads_seen) {
        page_print(page, "It has one thread: no line moves between cores.");
        return;
    }
    char end[96] = "interrupted";
    if (!simulation->interrupted)
        snprintf(end, sizeof end, "%s cycles from beginning to end",
                 text_count(together->cycles).s);
    page_print(page, "%" PRIu64 " thread%s on %u core%s of machine %s: %s instructions, %s",
               sharing->run->thread_count, text_plural(sharing->run->thread_count), together->cores,
               text_plural(together->cores), machine->name, text_count(simulation->executed).s,
               end);
    report_text_chosen(&machine->chosen, page);
    report_text_ideal(&sharing->report, page);
}

/* "0-7, 16-23" */
static void print_ranges(uint64_t parts, uint32_t part_bytes, char *text, size_t size) {
    size_t used = 0;
    unsigned ranges = 0;
    text[0] = '\0';
    for (unsigned part = 0; part < LINE_PARTS && used < size; part++) {
        if (!(parts >> part & 1))
            continue;
        unsigned end = part;
        while (end < LINE_PARTS && parts >> end & 1)
            end++;
        if (ranges++ == RANGES_SHOWN) {
            snprintf(text + used, size - used, ", …");
            return;
        }
        const uint64_t first = (uint64_t)part * part_bytes, last = (uint64_t)end * part_bytes - 1;
        const int written =
            last > first
                ? snprintf(text + used, size - used, "%s%" PRIu64 "-%" PRIu64, used ? ", " : "",
                           first, last)
                : snprintf(text + used, size - used, "%s%" PRIu64, used ? ", " : "", first);
        used += written > 0 ? (size_t)written : 0;
        part = end;
    }
}

static void name_object(const struct sharing_object *told, char *text, size_t size) {
    const struct data_object *object = &told->object;
    char name[NAME_BYTES] = "", offset[32] = "";
    if (object->name)
        text_clean(name, sizeof name, object->name);
    if (object->offset)
        snprintf(offset, sizeof offset, "+%" PRIu64, object->offset);
    switch (object->kind) {
    case DATA_SYMBOL:
        snprintf(text, size, "%s%s (%s, %s)", name, offset, text_bytes(object->size).s,
                 object->image);
        return;
    case DATA_SECTION:
        snprintf(text, size, "%s %s%s (no symbol)", object->image, name, offset);
        return;
    case DATA_STACK:
        snprintf(text, size, "stack of thread %" PRIu32 " at 0x%" PRIx64, object->thread,
                 told->address);
        return;
    case DATA_MEMORY:
        snprintf(text, size, "heap or anonymous memory at 0x%" PRIx64, told->address);
        return;
    }
}

/* "head (8 B, queue) and lock (40 B, queue)" */
static void name_line(const struct sharing_line *line, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < line->object_count && used < size; i++) {
        char name[2 * NAME_BYTES];
        name_object(&line->objects[i], name, sizeof name);
        const int written = snprintf(text + used, size - used, "%s%s",
                                     i == 0                        ? ""
                                     : i + 1 == line->object_count ? " and "
                                                                   : ", ",
                                     name);
        used += written > 0 ? (size_t)written : 0;
    }
    if (!line->object_count)
        snprintf(text, size, "memory at 0x%" PRIx64, line->line->address);
}

static void name_sharing(const struct sharing_line *line, char *text, size_t size) {
    if (line->sharing == SHARING_MIXED)
        snprintf(text, size, "%.0f %% false", 100 * line->false_share);
    else
        snprintf(text, size, "%s", sharing_name(line->sharing));
}

static void name_place(const struct sharing_place *place, char *text, size_t size) {
    char function[NAME_BYTES] = "", file[NAME_BYTES] = "";
    const char *end = place->file ? strrchr(place->file, '/') : NULL;
    if (place->file)
        text_clean(file, sizeof file, end ? end + 1 : place->file);
    if (place->function)
        text_clean(function, sizeof function, place->function);
    else
        snprintf(function, sizeof function, "%.200s+0x%" PRIx64, place->image, place->offset);
    if (place->file)
        snprintf(text, size, "%s %s:%" PRIu32, function, file, place->line);
    else
        snprintf(text, size, "%s", function);
}

static void print_place(const struct sharing_report *sharing, const struct sharing_line *line,
                        const struct sharing_place *place, struct table *table) {
    char bytes[160], read[64], written[64], name[2 * NAME_BYTES];
    print_ranges(place->read & ~place->written, sharing->part_bytes, read, sizeof read);
    print_ranges(place->written, sharing->part_bytes, written, sizeof written);
    snprintf(bytes, sizeof bytes, "%s%s%s%s%s",
             place->written && place->reads ? "read, write "
             : place->written               ? "write "
                                            : "",
             written, place->written && read[0] ? "; " : "", read[0] ? "read " : "", read);
    name_place(place, name, sizeof name);
    table_figure(table, "%s %%", text_percent((double)place->cycles, (double)line->line->cycles).s);
    table_figure(table, "%s", text_count(place->moves).s);
    if (place->threads > 1)
        table_figure(table, "%" PRIu32 " threads", place->threads);
    else
        table_figure(table, "%" PRIu32, place->thread);
    table_cell(table, bytes);
    table_cell(table, name);
}

static void print_line(const struct sharing_report *sharing, const struct sharing_line *line,
                       const struct page *page) {
    static const struct table_column COLUMNS[] = {{"  waited", TABLE_FIGURE, 0, 0, 0},
                                                  {"moves", TABLE_FIGURE, 2, 0, 0},
                                                  {"thread", TABLE_FIGURE, 2, 0, 0},
                                                  {"bytes of the line", TABLE_TEXT, 2, 16, 0},
                                                  {"place", TABLE_NAME, 2, 24, 0}};
    const struct moved_line *moved = line->line;
    char object[SHARING_OBJECTS * 2 * NAME_BYTES], sharing_text[32], rest[512];
    name_line(line, object, sizeof object);
    name_sharing(line, sharing_text, sizeof sharing_text);
    snprintf(rest, sizeof rest,
             "%s sharing, %s %% of all waiting (%s cycles): %s transfer%s, %s upgrade%s",
             sharing_text, text_percent((double)moved->cycles, (double)sharing->run->sum.cycles).s,
             text_count(moved->cycles).s, text_count(moved->transfers).s,
             text_plural(moved->transfers), text_count(moved->upgrades).s,
             text_plural(moved->upgrades));
    strncat(object, ":", sizeof object - strlen(object) - 1);
    page_heading(page, object, rest);
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    struct sharing_place places[LINE_SIDES];
    const size_t count = sharing_places(line, sharing->all ? SIZE_MAX : PLACES_SHOWN, places);
    const size_t shown = sharing->all || count <= PLACES_SHOWN ? count : PLACES_SHOWN;
    for (size_t i = 0; i < shown; i++)
        print_place(sharing, line, &places[i], table);
    table_more(table, 9, count - shown);
    table_end(table);
}

static void name_remedy(const struct sharing_report *sharing, const struct sharing_remedy *remedy,
                        char *text, size_t size) {
    const char *what = remedy->copies ? "private copies" : "padding";
    char object[SHARING_OBJECTS * 2 * NAME_BYTES];
    if (remedy->line == SIZE_MAX) {
        snprintf(text, size, "%s: %zu line%s of %s sharing", what, remedy->lines,
                 text_plural(remedy->lines), remedy->copies ? "true" : "false");
        return;
    }
    if (remedy->line < sharing->line_count)
        name_line(&sharing->lines[remedy->line], object, sizeof object);
    else
        snprintf(object, sizeof object, "the line at 0x%" PRIx64,
                 sharing->run->sum.lines[remedy->line].address);
    snprintf(text, size, "%s: %s", what, object);
}

static void print_remedies(const struct sharing_report *sharing, const struct page *page) {
    static const struct table_column COLUMNS[] = {{"  saves", TABLE_FIGURE, 0, 0, 0},
                                                  {"cycles", TABLE_FIGURE, 2, 0, 0},
                                                  {"remedy", TABLE_TEXT, 2, 24, 0}};
    const struct sharing_run *run = sharing->run;
    if (!run->remedy_count) {
        return;
    }
    page_heading(page, "what a remedy would save (each simulated)", "");
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    for (size_t i = 0; i < run->remedy_count; i++) {
        char name[(SHARING_OBJECTS * 2 + 1) * NAME_BYTES];
        name_remedy(sharing, &run->remedies[i], name, sizeof name);
        const double tenths = round(1000 * sharing_saving(sharing, &run->remedies[i]));
        table_figure(table, "%.1f %%", tenths / 10 + 0.0); /* no -0.0 */
        table_figure(table, "%s", text_count(run->remedies[i].cycles).s);
        table_cell(table, name);
    }
    table_end(table);
}

/* Those that are noticed, unless all were asked for. */
static size_t shown_lines(const struct sharing_report *sharing) {
    return sharing->all || sharing->line_count < sharing->noticed ? sharing->line_count
                                                                  : sharing->noticed;
}

static void print_rest(const struct sharing_report *sharing, size_t shown,
                       const struct page *page) {
    const size_t left = sharing->run->sum.count - shown;
    const bool noticed = shown < sharing->noticed;
    char text[160];
    if (!left)
        return;
    snprintf(text, sizeof text, "%s %sline%s%s (--top 0 shows all)", text_count(left).s,
             shown ? "more " : "", text_plural(left),
             noticed     ? ""
             : left == 1 ? ", not waited for noticeably"
                         : ", none of them waited for noticeably");
    fprintf(page->file, "\n%s", page->dim);
    page_print(page, "%s", text);
    fputs(page->plain, page->file);
}

void sharing_text(const struct sharing_report *sharing, const struct page *page) {
    const struct line_traffic_sum *sum = &sharing->run->sum;
    print_head(sharing, page);
    if (sharing->run->threads_seen && !sum->count)
        page_print(page, "No line moved between cores.");
    if (sum->count) {
        page_print(page,
                   "%s line%s moved between cores, %s time%s; accesses waited %s cycles for them",
                   text_count(sum->count + sum->dropped_lines).s,
                   text_plural(sum->count + sum->dropped_lines), text_count(sum->moves).s,
                   text_plural(sum->moves), text_count(sum->cycles).s);
        const size_t shown = shown_lines(sharing);
        for (size_t i = 0; i < shown; i++)
            print_line(sharing, &sharing->lines[i], page);
        print_rest(sharing, shown, page);
        print_remedies(sharing, page);
    }
    report_text_foot(&sharing->report, page);
}
