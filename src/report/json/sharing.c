/* Lines that move between cores as one JSON object (docs/json.md). */
#include "report/json_values.h"
#include "report/sharing_report.h"

static json_t *count(uint64_t value) {
    return json_integer((json_int_t)value);
}

/* [[first, last], ...] */
static json_t *ranges(uint64_t parts, uint32_t part_bytes) {
    json_t *array = json_array();
    for (unsigned part = 0; part < LINE_PARTS; part++) {
        if (!(parts >> part & 1))
            continue;
        unsigned end = part;
        while (end < LINE_PARTS && parts >> end & 1)
            end++;
        json_array_append_new(array, json_pack("[I, I]", (json_int_t)part * part_bytes,
                                               (json_int_t)end * part_bytes - 1));
        part = end;
    }
    return array;
}

static json_t *place_object(const struct sharing_report *sharing,
                            const struct sharing_place *place) {
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "thread",
                     (json_int_t)place->thread, "function", json_text(place->function), "image",
                     json_text(place->image), "offset", count(place->offset), "file",
                     json_text(place->file), "line", json_known(place->line), "reads",
                     count(place->reads), "writes", count(place->writes), "read_bytes",
                     ranges(place->read, sharing->part_bytes), "written_bytes",
                     ranges(place->written, sharing->part_bytes), "moves", count(place->moves),
                     "waited_cycles", count(place->cycles));
}

static json_t *data_object(const struct sharing_object *told) {
    const struct data_object *object = &told->object;
    static const char *const KINDS[] = {[DATA_SYMBOL] = "symbol",
                                        [DATA_SECTION] = "section",
                                        [DATA_STACK] = "stack",
                                        [DATA_MEMORY] = "memory"};
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", KINDS[object->kind], "address",
                     count(told->address), "name", json_text(object->name), "image",
                     json_text(object->image), "offset", count(object->offset), "size_bytes",
                     json_known(object->size), "thread",
                     object->kind == DATA_STACK ? count(object->thread) : json_null());
}

static json_t *line_object(const struct sharing_report *sharing, const struct sharing_line *told) {
    const struct moved_line *line = told->line;
    json_t *places = json_array(), *objects = json_array();
    for (size_t i = 0; i < told->object_count; i++)
        json_array_append_new(objects, data_object(&told->objects[i]));
    for (size_t i = 0; i < told->place_count; i++)
        json_array_append_new(places, place_object(sharing, &told->places[i]));
    return json_pack("{s:o, s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "address",
                     count(line->address), "process", (json_int_t)line->process, "objects", objects,
                     "sharing", sharing_name(told->sharing), "false_share",
                     told->false_share < 0 ? json_null() : json_number(told->false_share),
                     "transfers", count(line->transfers), "upgrades", count(line->upgrades),
                     "prefetched", count(line->prefetched), "false_moves", count(line->false_moves),
                     "true_moves", count(line->true_moves), "waited_cycles", count(line->cycles),
                     "places", places);
}

static json_t *remedy_object(const struct sharing_report *sharing,
                             const struct sharing_remedy *remedy) {
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o}", "remedy", remedy->copies ? "private copies" : "padding",
        "lines", count(remedy->lines), "address",
        remedy->line == SIZE_MAX ? json_null()
                                 : count(sharing->run->sum.lines[remedy->line].address),
        "elapsed_cycles", count(remedy->cycles), "saving",
        json_number(sharing_saving(sharing, remedy)));
}

bool sharing_json(const struct sharing_report *sharing, FILE *file, struct error *error) {
    const struct sharing_run *run = sharing->run;
    const struct report *head = &sharing->report;
    const struct line_traffic_sum *sum = &run->sum;
    const struct together_result *together = &run->simulation.together;
    json_t *lines = json_array(), *remedies = json_array();
    for (size_t i = 0; i < sharing->line_count; i++)
        json_array_append_new(lines, line_object(sharing, &sharing->lines[i]));
    for (size_t i = 0; i < run->remedy_count; i++)
        json_array_append_new(remedies, remedy_object(sharing, &run->remedies[i]));
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "verb",
        head->verb, "program", json_text(head->program), "machine", json_text(head->machine->name),
        "chosen", json_chosen(head->machine), "ideal", json_ideal(head->ideal), "partial",
        (int)head->partial, "threads", run->threads_seen ? count(run->thread_count) : count(1),
        "cores", run->threads_seen ? count(together->cores) : json_null(), "instructions",
        run->threads_seen ? count(run->simulation.executed) : json_null(), "elapsed_cycles",
        run->threads_seen && !run->simulation.interrupted ? count(together->cycles) : json_null(),
        "line_bytes", count(head->machine->l1d.line), "moved_lines",
        count(sum->count + sum->dropped_lines), "moves", count(sum->moves), "waited_cycles",
        count(sum->cycles), "lines", lines, "remedies", remedies);
    return json_write_report(object, head, file, error);
}
