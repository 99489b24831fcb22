/* A file is named when it matters: where a hundredth of all values lies in functions of it that
 * have no name, and at most the first few. */
#include "report/missing_names.h"

#include <stdlib.h>

#include "program/symbol_package.h"
#include "util/order.h"
#include "util/text.h"

enum { FILES_MAX = 5 };
static const double LEAST_SHARE = 0.01;

ORDER(by_share, struct missing_names,
      descending(a->share, b->share) ?: ascending(a->image, b->image))

/* How the names are had. */
static bool note_advice(struct report *report, const char *const *paths, size_t count) {
    struct symbol_advice advice;
    const struct symbol_system system = symbol_system_here();
    bool good = symbol_advice_find(&system, paths, count, &advice);
    if (good && advice.command)
        good = report_note_command(report, "to have them:", advice.command);
    if (good && advice.present)
        good = report_note(report,
                           "%s: installed, but of another build than the code that ran (bring "
                           "both to the same version: sudo apt update && sudo apt upgrade)",
                           advice.present);
    if (good && advice.unowned)
        good = report_note(report,
                           "%s: of no package: to have names, link without -s and do not strip",
                           advice.unowned);
    if (good && !advice.command && !advice.present && !advice.unowned)
        good = report_note(report, "to have them install the debug symbols of their packages, or "
                                   "set DEBUGINFOD_URLS");
    symbol_advice_free(&advice);
    return good;
}

/* The stripped files in one line, and what follows. */
static bool note_stripped(struct report *report, const struct program *program,
                          const struct missing_names *items, size_t count, const char *what) {
    const char *paths[FILES_MAX];
    size_t path_count = 0, size;
    char *text = NULL;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return false;
    for (size_t i = 0; i < count && path_count < FILES_MAX; i++) {
        if (!program_image_is_stripped(program, items[i].image))
            continue;
        fprintf(file, "%s%s (%s %%%s%s)", path_count ? ", " : "",
                program_image_name(program, items[i].image), text_percent(items[i].share, 1).s,
                path_count ? "" : " of ", path_count ? "" : what);
        paths[path_count++] = program_image_path(program, items[i].image);
    }
    bool good = fclose(file) == 0 &&
                (!path_count ||
                 (report_note(report, "functions without names, in stripped files: %s", text) &&
                  note_advice(report, paths, path_count)));
    free(text);
    return good;
}

bool missing_names_note(struct report *report, const struct program *program,
                        struct missing_names *items, size_t count, const char *what) {
    if (count)
        qsort(items, count, sizeof *items, by_share);
    while (count && items[count - 1].share < LEAST_SHARE)
        count--;
    bool good = note_stripped(report, program, items, count, what);
    for (size_t i = 0, noted = 0; good && i < count && noted < FILES_MAX; i++) {
        const char *note = program_image_note(program, items[i].image);
        if (!note || program_image_is_stripped(program, items[i].image))
            continue;
        good =
            report_note(report, "%s (%s %% of %s)", note, text_percent(items[i].share, 1).s, what);
        noted++;
    }
    return good;
}

bool missing_names_note_code(struct report *report, const struct code *code,
                             struct program *program) {
    const struct simulation *simulation = report->simulation;
    double total = (double)simulation->cycles * CYCLE_UNITS;
    struct missing_names *items = calloc(code->image_count + 1, sizeof *items);
    if (!items)
        return false;
    for (uint32_t i = 0; i < code->image_count; i++)
        items[i].image =
            code->images[i].kind == CODE_IMAGE_FILE
                ? program_add_image(program, code->images[i].path, code->images[i].build_id,
                                    code->images[i].build_id_size)
                : UINT32_MAX;
    for (uint64_t i = 0; i < simulation->cell_count && total > 0; i++) {
        const struct static_insn *insn = &code->insns[simulation->cells[i].insn];
        struct missing_names *item = &items[insn->image];
        struct location location;
        if (item->image != UINT32_MAX &&
            (program_image_note(program, item->image) ||
             program_image_is_stripped(program, item->image)) &&
            !program_locate_function(program, item->image, insn->offset, &location))
            item->share += (double)simulation->cells[i].units / total;
    }
    bool good = missing_names_note(report, program, items, code->image_count, "cycles");
    free(items);
    return good;
}
