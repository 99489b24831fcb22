/* There may be a million rows: they are written as text, member by member, without objects. What is
 * not plain (a quoted character, an exponent) is left to jansson. */
#include "report/json/row.h"

#include <inttypes.h>
#include <string.h>

#include "report/json_values.h"

/* The members of an object, one to a line. */
struct members {
    FILE *file;
    const char *indent;
    bool begun, failed;
};

static void put_key(struct members *members, const char *key) {
    fprintf(members->file, "%s\n%s\"%s\": ", members->begun ? "," : "", members->indent, key);
    members->begun = true;
}

/* Takes the value over. */
static void put_any(struct members *members, json_t *value) {
    members->failed |=
        !value || json_dumpf(value, members->file, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) != 0;
    json_decref(value);
}

/* Short, and the same in quotes. */
static bool is_plain(const char *text) {
    enum { SHORT = 1024 };
    size_t length = 0;
    for (; text[length] && length < SHORT; length++)
        if (text[length] < ' ' || text[length] > '~' || strchr("\"\\", text[length]))
            return false;
    return length < SHORT;
}

static void put_string(struct members *members, const char *key, const char *text) {
    put_key(members, key);
    if (text && is_plain(text))
        fprintf(members->file, "\"%s\"", text);
    else
        put_any(members, json_text(text));
}

static void put_count(struct members *members, const char *key, uint64_t count) {
    put_key(members, key);
    fprintf(members->file, "%" PRId64, (int64_t)count);
}

/* 0 is not known. */
static void put_known(struct members *members, const char *key, uint64_t count) {
    if (count)
        put_count(members, key, count);
    else
        put_string(members, key, NULL);
}

static void put_real(struct members *members, const char *key, double value) {
    char text[40];
    put_key(members, key);
    if (value == 0) {
        fputs("0.0", members->file);
        return;
    }
    snprintf(text, sizeof text, "%.15g", value);
    if (text[strspn(text, "0123456789.-")])
        put_any(members, json_real(value));
    else
        fprintf(members->file, strchr(text, '.') ? "%s" : "%s.0", text);
}

static double cycles_of(uint64_t units) {
    return (double)units / CYCLE_UNITS;
}

static double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

static struct members begin_object(struct members *members, const char *key, const char *indent) {
    put_key(members, key);
    fputc('{', members->file);
    return (struct members){.file = members->file, .indent = indent};
}

/* `indent`: that of the line on which the object began. */
static void end_object(struct members *members, const struct members *object, const char *indent) {
    if (object->begun)
        fprintf(members->file, "\n%s", indent);
    fputc('}', members->file);
    members->failed |= object->failed;
}

bool json_put_row(FILE *file, const struct report_row *row, double total_units) {
    static const char ROW[] = "    ", MEMBER[] = "      ", PART[] = "        ";
    struct members members = {.file = file, .indent = MEMBER};
    uint64_t units[COMPONENT_COUNT];
    fputc('{', file);
    put_string(&members, "image", row->image);
    put_count(&members, "offset", row->offset);
    put_count(&members, "address", row->address);
    put_string(&members, "function", row->function);
    put_known(&members, "function_size", row->function_size);
    put_string(&members, "file", row->file);
    put_known(&members, "line", row->line);
    put_string(&members, "text", row->text);
    put_real(&members, "cycles", cycles_of(row->units));
    put_count(&members, "units", row->units);
    put_real(&members, "share", ratio((double)row->units, total_units));
    put_count(&members, "instructions", row->executions);
    put_real(&members, "cpi", ratio(cycles_of(row->units), (double)row->executions));
    stack_components(&row->stack, units);
    struct members object = begin_object(&members, "components", PART);
    for (int i = COMPONENT_COUNT - 1; i >= 0; i--)
        put_real(&object, component_key(i), cycles_of(units[i]));
    end_object(&members, &object, MEMBER);
    object = begin_object(&members, "stack", PART);
    for (uint32_t i = 0; i < row->stack.count; i++) {
        char name[128];
        psv_format(row->stack.parts[i].psv, name, sizeof name);
        put_real(&object, name, cycles_of(row->stack.parts[i].units));
    }
    end_object(&members, &object, MEMBER);
    fprintf(file, "\n%s}", ROW);
    return !members.failed;
}
