#include "report/fdo_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_values.h"
#include "report/page.h"
#include "util/file_name.h"
#include "util/text.h"

enum { OTHERS_TOLD = 3 };
static const double OTHERS_SHARE = 0.01; /* what is less is not told */

static double share_of(const struct fdo_run *run, const struct fdo_image *image) {
    return (double)image->instructions / (double)run->executions.instructions;
}

static void put_others(const struct fdo_run *run, FILE *file) {
    unsigned told = 0;
    for (size_t i = 0; i < run->image_count && told < OTHERS_TOLD; i++) {
        const struct fdo_image *image = &run->images[i];
        if (image == run->chosen || share_of(run, image) < OTHERS_SHARE)
            continue;
        fprintf(file, "note: %s %% of all instructions were in ",
                text_percent((double)image->instructions, (double)run->executions.instructions).s);
        text_put_word(file, fdo_image_path(run, image));
        fputs(", of which this profile says nothing (--image)\n", file);
        told++;
    }
}

/* Go's compiler takes samples and who called. */
static void put_go(const struct fdo_run *run, FILE *file) {
    const char *image = fdo_image_path(run, run->chosen);
    const char *base = file_base_name(image);
    fputs("next: culprit record --stacks --", file);
    text_put_words(file, run->input->command ? run->input->command
                                             : (char *const[]){(char *)image, NULL});
    fputs(" && culprit epochs export --format pprof ", file);
    text_put_word(file, base);
    fputs(".pgo && go build -pgo=", file);
    text_put_word(file, base);
    fputs(".pgo\n", file);
}

/* What to do with it. */
static void put_use(const struct fdo_run *run, const char *path, FILE *file) {
    const char *image = fdo_image_path(run, run->chosen);
    const bool rust = run->profile.language == LANGUAGE_RUST;
    if (run->profile.language == LANGUAGE_GO) {
        put_go(run, file);
        return;
    }
    fputs("next: ", file);
    switch (run->format) {
    case COMPILER_AUTOFDO:
        fputs(rust ? "rustc +nightly -O -C debuginfo=1 -Z debug-info-for-profiling "
                     "-Z profile-sample-use="
                   : "clang -O2 -g1 -fdebug-info-for-profiling -fprofile-sample-use=",
              file);
        text_put_word(file, path);
        break;
    case COMPILER_BOLT:
        fputs("llvm-bolt ", file);
        text_put_word(file, image);
        fputs(" -o ", file);
        text_put_word(file, file_base_name(image));
        fputs(".bolt -data=", file);
        text_put_word(file, path);
        fputs(" -reorder-blocks=ext-tsp -reorder-functions=hfsort -split-functions -split-all-cold",
              file);
        break;
    default:
        fputs(rust ? "create_llvm_prof --profiler=text --profile="
                   : "create_gcov --profiler=text --profile=",
              file);
        text_put_word(file, path);
        fputs(" --binary=", file);
        text_put_word(file, image);
        fputs(rust ? " --out=" : " --gcov_version=1 --gcov=", file);
        text_put_word(file, path);
        fputs(rust ? ".prof" : ".gcov", file);
    }
    fputc('\n', file);
}

static void put_lines(const struct fdo_run *run, const char *path, FILE *file) {
    const struct executions *executions = &run->executions;
    fprintf(file, "%s: %s instructions, ", path, text_count(run->chosen->instructions).s);
    if (run->profile.functions)
        fprintf(file, "in %" PRIu64 " function%s ", run->profile.functions,
                text_plural(run->profile.functions));
    fputs("of ", file);
    text_put_word(file, fdo_image_path(run, run->chosen));
    fprintf(file, " (%s %% of all)%s%s\n",
            text_percent((double)run->chosen->instructions, (double)executions->instructions).s,
            text_taken(executions->seconds).s, executions->complete ? "" : " (partial)");
    put_others(run, file);
    if (run->format == COMPILER_BOLT && !run->relocations && run->profile.language != LANGUAGE_GO)
        fputs(
            "note: it was linked without -Wl,-q: llvm-bolt can move blocks in it, not functions\n",
            file);
    if (run->profile.language == LANGUAGE_GO)
        fputs("note: Go's compiler reads no such profile, but samples of pprof (from Go 1.20 on)\n",
              file);
    for (uint32_t i = 0; i < executions->notes.count; i++)
        fprintf(file, "note: %s\n", executions->notes.text[i]);
}

void fdo_report_text(const struct fdo_run *run, const char *path, FILE *file) {
    const struct page page = page_of(file, false);
    char *lines = NULL, *at = NULL;
    size_t size;
    FILE *memory = open_memstream(&lines, &size);
    if (memory) {
        put_lines(run, path, memory);
        fclose(memory);
    }
    for (char *line = lines ? strtok_r(lines, "\n", &at) : NULL; line;
         line = strtok_r(NULL, "\n", &at))
        page_wrap(&page, line, NULL, "", "  ");
    free(lines);
    put_use(run, path, file);
}

bool fdo_report_json(const struct fdo_run *run, const char *path, FILE *file, struct error *error) {
    const struct executions *executions = &run->executions;
    json_t *images = json_array();
    for (size_t i = 0; i < run->image_count; i++)
        json_array_append_new(
            images, json_pack("{s:o, s:I}", "path", json_text(fdo_image_path(run, &run->images[i])),
                              "instructions", (json_int_t)run->images[i].instructions));
    json_t *object = json_pack(
        "{s:s, s:o, s:s, s:o, s:b, s:I, s:I, s:I, s:i, s:i, s:f, s:b, s:o, s:o}", "verb", "fdo",
        "profile", json_text(path), "format", compiler_format_names[run->format], "image",
        json_text(fdo_image_path(run, run->chosen)), "relocations", run->relocations,
        "instructions", (json_int_t)run->chosen->instructions, "all_instructions",
        (json_int_t)executions->instructions, "functions", (json_int_t)run->profile.functions,
        "threads", (int)executions->threads, "processes", (int)executions->processes, "seconds",
        executions->seconds, "partial", !executions->complete, "images", images, "notes",
        json_texts((const char *const *)executions->notes.text, executions->notes.count));
    return json_write(object, file, error);
}
