#include "study/fdo_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/array.h"
#include "util/order.h"
#include "util/text.h"

ORDER(by_instructions, struct fdo_image,
      descending(a->instructions, b->instructions) ?: ascending(a->number, b->number))

/* The instructions of each image that has any. */
static bool sum_images(struct fdo_run *run) {
    size_t capacity = 0;
    const struct executed_list *insns = &run->insns;
    for (size_t i = 0; i < insns->count; i++) {
        const struct executed *insn = &insns->items[i];
        if (insn->at.image == MARKER_NO_IMAGE || !insn->times)
            continue;
        if (run->image_count && run->images[run->image_count - 1].number == insn->at.image)
            run->images[run->image_count - 1].instructions += insn->times;
        else if (!array_push(run->images, capacity, run->image_count,
                             (struct fdo_image){insn->at.image, insn->times}))
            return false;
    }
    if (run->image_count)
        qsort(run->images, run->image_count, sizeof *run->images, by_instructions);
    return true;
}

static bool is_program(const struct fdo_run *run, const char *path) {
    return any_where(i, run->executions.executable_count,
                     !strcmp(run->executions.executables[i], path));
}

/* Files have other paths by links, as /bin/gzip and /usr/bin/gzip. */
static bool is_called(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    struct stat image, named;
    return !strcmp(path, name) || (slash && !strcmp(slash + 1, name)) ||
           (!stat(name, &named) && !stat(path, &image) && image.st_dev == named.st_dev &&
            image.st_ino == named.st_ino);
}

/* The command was asked to end before it came to what it is for. */
static bool is_too_short(const struct fdo_run *run) {
    return run->input->seconds && run->executions.exit.stopped;
}

static bool tell_too_short(const struct fdo_run *run, struct error *error) {
    return error_set(error,
                     "--for %s: the time was over before anything of the program was executed "
                     "(give it more)",
                     text_duration(run->input->seconds).s);
}

static bool choose(struct fdo_run *run, struct error *error) {
    const size_t i =
        index_where(k, run->image_count,
                    run->image ? is_called(fdo_image_path(run, &run->images[k]), run->image)
                               : is_program(run, fdo_image_path(run, &run->images[k])));
    if (i < run->image_count) {
        run->chosen = &run->images[i];
        return true;
    }
    if (is_too_short(run) && !run->image)
        return tell_too_short(run, error);
    if (!run->image_count)
        return error_set(error, "nothing was executed of any file");
    if (run->watch->signal && !run->image) /* as in what loads it */
        return error_set(error, "interrupted before anything of the program was executed");
    if (run->image)
        return error_set(error, "--image %s: nothing of it was executed (the most was of %s)",
                         run->image, fdo_image_path(run, &run->images[0]));
    run->chosen = &run->images[0];
    return true;
}

/* False, with why. */
static bool nothing_counted(const struct fdo_run *run, struct error *error) {
    const struct input_options *input = run->input;
    const struct notes *notes = &run->executions.notes;
    if (is_too_short(run))
        return tell_too_short(run, error);
    return run->watch->signal || input->from || input->thread >= 0 || input->skip || !notes->count
               ? input_nothing(run->watch, input, NULL, "counted", error)
               : error_set(error, "no instruction was counted: %s", notes->text[0]);
}

bool fdo_run_count(struct fdo_run *run, struct error *error) {
    const struct input_options *input = run->input;
    struct capture_options capture = input_capture(run->watch, input);
    const struct executions_options options = {.capture = input->trace ? NULL : &capture,
                                               .trace = input->trace,
                                               .watcher = watcher_of(run->watch)};
    watch_begin_within(run->watch, "counting", "instructions", input->limit);
    const bool good = executions_count(&options, &run->executions, &run->failed, error);
    watch_end(run->watch);
    if (!good)
        return false;
    const struct executions *executions = &run->executions;
    if (!executions->instructions)
        return nothing_counted(run, error);
    if (!execution_list_insns(&executions->counts, &executions->code, &run->insns) ||
        !execution_list_edges(&executions->counts, &executions->code, &run->edges) ||
        !sum_images(run))
        return error_set(error, "out of memory for what was executed");
    return choose(run, error);
}

static enum program_language find_language(const struct fdo_run *run) {
    uint64_t instructions[LANGUAGES] = {0};
    enum program_language most = LANGUAGE_OTHER;
    for (size_t i = 0; i < run->insns.count; i++) {
        const struct executed *insn = &run->insns.items[i];
        if (insn->at.image == run->chosen->number)
            instructions[program_language(run->program, run->profile.image, insn->at.offset)] +=
                insn->times;
    }
    for (enum program_language k = 0; k < LANGUAGES; k++)
        most = instructions[k] > instructions[most] ? k : most;
    return most;
}

bool fdo_run_write(struct fdo_run *run, FILE *file, struct error *error) {
    const struct region_image *image = &run->executions.code.images[run->chosen->number];
    run->program = program_new();
    if (!run->program)
        return error_set(error, "out of memory for the profile");
    run->profile =
        (struct compiler_profile){.program = run->program,
                                  .image = program_add_image(run->program, image->path,
                                                             image->build_id, image->build_id_size),
                                  .number = run->chosen->number,
                                  .insns = &run->insns,
                                  .edges = &run->edges,
                                  .file = file};
    enum isa isa;
    if (!program_image_isa(run->program, run->profile.image, &isa)) /* the file cannot be used */
        return error_set(error, "%s", program_image_note(run->program, run->profile.image));
    run->profile.language = find_language(run);
    run->relocations = program_has_relocations(run->program, run->profile.image);
    return compiler_profile_write(&run->profile, run->format, error);
}

void fdo_run_free(struct fdo_run *run) {
    free(run->insns.items);
    free(run->edges.items);
    free(run->images);
    if (run->program)
        program_free(run->program);
    executions_free(&run->executions);
}
