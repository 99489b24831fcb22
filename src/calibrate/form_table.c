#include "calibrate/form_table.h"

#include <math.h>
#include <stdlib.h>

#include "util/array.h"

void form_table_free(struct form_table *table) {
    free(table->forms);
    *table = (struct form_table){0};
}

bool form_table_says(const struct form_table *table) {
    return !all_where(i, table->count,
                      isnan(table->forms[i].latency) && isnan(table->forms[i].throughput));
}

/* Whole cycles: what a scheduler counts in. */
static long whole(double cycles) {
    return cycles > 0 ? lround(cycles) : 0;
}

static void write_latency(const struct calibrated_form *form, char text[40]) {
    int length = 0;
    text[0] = 0;
    if (!isnan(form->latency))
        length = snprintf(text, 40, "%ld", whole(form->latency));
    if (!isnan(form->address))
        length += snprintf(text + length, 40 - (size_t)length, "%sa%ld", length ? "," : "",
                           whole(form->address));
    if (!isnan(form->flags) && whole(form->flags) != whole(form->latency))
        length += snprintf(text + length, 40 - (size_t)length, "%sf%ld", length ? "," : "",
                           whole(form->flags));
    if (!length)
        snprintf(text, 40, "-");
}

static void write_comment(const struct calibrated_form *form, FILE *file) {
    fprintf(file, "; %u", form->share);
    if (!isnan(form->latency) && whole(form->least_latency) != whole(form->latency))
        fprintf(file, ", from an operand %.2f, from another %.2f", form->least_latency,
                form->latency);
    else if (!isnan(form->latency) && fabs(form->latency - (double)whole(form->latency)) > 0.15)
        fprintf(file, ", latency %.2f", form->latency);
    if (form->note[0])
        fprintf(file, ", %s", form->note);
    fputc('\n', file);
}

static void write_form(const struct calibrated_form *form, FILE *file) {
    char text[FORM_TEXT_SIZE], latency[40], throughput[16] = "-";
    form_text(form->form, text);
    write_latency(form, latency);
    if (!isnan(form->throughput) && form->throughput > 0.01)
        snprintf(throughput, sizeof throughput, "%.2f", form->throughput);
    const bool nothing = latency[0] == '-' && throughput[0] == '-';
    fprintf(file, "%s%-35s %-10s %-6s -  ", nothing ? "; " : "", text, latency, throughput);
    write_comment(form, file);
}

bool form_table_write(const struct form_table *table, const char *processor, FILE *file) {
    fprintf(
        file,
        "; Instruction forms of %s, measured by culprit calibrate.\n"
        "; Latency from data, a: from the address to the result, f: to the flags; cycles per\n"
        "; instruction of independent ones; ports are those of the class. Behind ';' the share of\n"
        "; executed instructions in Debian's programs, in millionths.\n",
        processor);
    if (table->refused[0])
        fprintf(file, "; Not measured: %s.\n", table->refused);
    for (size_t i = 0; i < table->count; i++)
        write_form(&table->forms[i], file);
    return !ferror(file);
}
