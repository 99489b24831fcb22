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

static bool is_measured(const struct calibrated_form *form) {
    return !isnan(form->latency) || !isnan(form->address) || !isnan(form->flags) ||
           (!isnan(form->throughput) && form->throughput > 0.01);
}

static const struct machine_ports *published_ports(const struct machine *published,
                                                   const struct machine_form *form) {
    static const struct machine_ports none;
    return form && form->ports ? &published->form_ports[form->ports - 1] : &none;
}

static void write_form(const struct calibrated_form *form, const struct machine *published,
                       FILE *file) {
    char text[FORM_TEXT_SIZE], ports[PORTS_TEXT_SIZE], latency[40], throughput[16] = "-";
    machine_ports_text(published,
                       published_ports(published, machine_form_of(published, form->form)), ports);
    form_text(form->form, text);
    write_latency(form, latency);
    if (!isnan(form->throughput) && form->throughput > 0.01)
        snprintf(throughput, sizeof throughput, "%.2f", form->throughput);
    fprintf(file, "%s%-35s %-10s %-6s %s  ", is_measured(form) ? "" : "; ", text, latency,
            throughput, ports);
    write_comment(form, file);
}

static void write_published(const struct machine *published, const struct machine_form *form,
                            FILE *file) {
    char text[FORM_TEXT_SIZE], ports[PORTS_TEXT_SIZE], latency[40], throughput[16] = "-";
    const double unknown = NAN;
    form_text(form->form, text);
    machine_ports_text(published, published_ports(published, form), ports);
    write_latency(
        &(struct calibrated_form){
            .latency = form->latency == FORM_UNKNOWN ? unknown : form->latency,
            .address = form->address_latency == FORM_UNKNOWN ? unknown : form->address_latency,
            .flags = form->flag_latency == FORM_UNKNOWN ? unknown : form->flag_latency},
        latency);
    if (form->throughput >= 0)
        snprintf(throughput, sizeof throughput, "%.2f", form->throughput);
    fprintf(file, "%-35s %-10s %-6s %s", text, latency, throughput, ports);
    if (form->uops)
        fprintf(file, " %u", form->uops);
    fprintf(file, "  ; published (%s)\n", published->name);
}

static bool has_form(const struct form_table *table, insn_form form) {
    return !all_where(i, table->count,
                      table->forms[i].form != form || !is_measured(&table->forms[i]));
}

bool form_table_write(const struct form_table *table, const struct machine *published,
                      const char *processor, FILE *file) {
    fprintf(
        file,
        "; Instruction forms of %s, measured by culprit calibrate.\n"
        "; Latency from data, a: from the address to the result, f: to the flags; cycles per\n"
        "; instruction of independent ones. Ports are not measured, but those of %s.\n"
        "; Behind ';' the share of executed instructions in Debian's programs, in millionths.\n",
        processor, published->name);
    if (table->refused[0])
        fprintf(file, "; Not measured: %s.\n", table->refused);
    for (size_t i = 0; i < table->count; i++)
        write_form(&table->forms[i], published, file);
    for (uint32_t i = 0; i < published->form_count; i++)
        if (!has_form(table, published->forms[i].form))
            write_published(published, &published->forms[i], file);
    return !ferror(file);
}
