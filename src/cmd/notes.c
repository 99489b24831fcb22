#include "cmd/notes.h"

#include <inttypes.h>
#include <string.h>

enum { NOTED_PROCESSES = 5, NOTED_IMAGES = 5 };

bool note_trace(struct report *report, const struct trace *trace) {
    for (uint32_t i = 0; i < trace_note_count(trace); i++)
        report_note(report, "%s", trace_note(trace, i));
    uint32_t untraced = 0, traced = 0;
    for (uint32_t i = 0; i < trace_process_count(trace); i++) {
        const struct trace_process *process = trace_process(trace, i);
        traced += process->traced;
        if (process->traced || ++untraced > NOTED_PROCESSES)
            continue;
        report_note(report, "process %" PRIu32 " (%s) is not included: %s", process->pid,
                    process->command,
                    process->untraced_reason ? process->untraced_reason : "not traced");
    }
    if (untraced > NOTED_PROCESSES)
        report_note(report, "%" PRIu32 " more processes are not included",
                    untraced - NOTED_PROCESSES);
    if (traced > 1)
        report_note(report, "%" PRIu32 " processes are included, summed", traced);
    return untraced > 0;
}

bool explain_nothing(const struct input_options *input, const struct trace *trace, const char *done,
                     struct error *error) {
    if (input->from)
        return error_set(error,
                         "--from %s: the function was never entered%s (see its name with nm)",
                         input->from, input->skip ? ", or the run ended within --skip" : "");
    if (input->thread >= 0)
        return error_set(error, "no instruction was %s: there was no thread %d%s", done,
                         input->thread, input->skip ? ", or it ended within --skip" : "");
    if (input->skip)
        return error_set(error, "no instruction was %s: the run ended within --skip %" PRIu64, done,
                         input->skip);
    return error_set(error, "no instruction was %s: %s", done,
                     trace_note_count(trace) ? trace_note(trace, 0)
                     : input->command        ? "the command executed none"
                                             : "the trace holds none");
}

void note_images(struct report *report, const struct code *code, struct program *program) {
    uint32_t noted = 0;
    for (uint32_t i = 0; i < code->image_count && noted < NOTED_IMAGES; i++) {
        if (code->images[i].kind != CODE_IMAGE_FILE)
            continue;
        uint32_t image = program_add_image(program, code->images[i].path, code->images[i].build_id,
                                           code->images[i].build_id_size);
        const char *note = program_image_note(program, image);
        const char *name = program_image_name(program, image);
        bool shown = false;
        for (uint32_t k = 0; note && !shown && k < report->functions.count; k++) {
            struct report_row row;
            rows_get(&report->functions, k, &row);
            shown = !row.function && !strcmp(row.image, name);
        }
        if (note && shown) {
            report_note(report, "%s: %s", name, note);
            noted++;
        }
    }
}
