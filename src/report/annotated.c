/* Images, machines and schedulers are kept from one procedure to the next. */
#include <stdlib.h>
#include <string.h>

#include "report/annotated.h"

#include "report/missing_names.h"
#include "report/profile_report.h"
#include "util/quoted_command.h"

enum { LARGEST_CODE = 16 << 20 };

/* ---- schedules ---- */

/* The oldest instruction has the samples of a core in order at the head of its issue queue, and of
 * profilers that take the next instruction to commit (NCI). Cycles of a simulation, and samples of
 * TIP and TEA, are shared by what commits together. A live processor's are neither, as they come
 * late; but that some instructions have no cycle of their own is then no fact on which to build. */
static enum schedule_view view_of(const struct annotate_settings *settings) {
    const char *event = settings->event->name;
    if (settings->view != ANNOTATE_BY_EVENT)
        return settings->view == ANNOTATE_TIP ? VIEW_TIP : VIEW_HEAD;
    bool shared = !settings->set->simulated || !strcmp(event, "cycles") || !strcmp(event, "TIP") ||
                  !strcmp(event, "TEA");
    return shared ? VIEW_TIP : VIEW_HEAD;
}

/* The scheduler is kept as long as the machine and view are the same. NULL with an error. */
static struct scheduler *scheduler_of(struct annotate_settings *settings,
                                      const struct machine *machine, struct error *error) {
    enum schedule_view view = view_of(settings);
    if (settings->scheduler &&
        (settings->scheduled != machine || settings->scheduled_view != view)) {
        scheduler_free(settings->scheduler);
        settings->scheduler = NULL;
    }
    if (!settings->scheduler)
        settings->scheduler = scheduler_new(machine, view, error);
    settings->scheduled = machine;
    settings->scheduled_view = view;
    return settings->scheduler;
}

static void free_images(struct annotate_image **images) {
    while (*images) {
        struct annotate_image *image = *images;
        *images = image->next;
        image_profiles_free(&image->profiles);
        free(image);
    }
}

void annotate_settings_free(struct annotate_settings *settings) {
    if (settings->scheduler)
        scheduler_free(settings->scheduler);
    free(settings->machines.choice);
    free_images(&settings->images);
    free_images(&settings->simulation.images);
    settings->scheduler = NULL;
    settings->machines.choice = NULL;
}

/* ---- code ---- */

static bool read_image(void *context, uint64_t address, void *bytes, size_t size) {
    const struct annotated *annotated = context;
    return program_read(annotated->program, annotated->image, address, bytes, size);
}

static const char *name_at(void *context, uint64_t address) {
    const struct annotated *annotated = context;
    struct location location;
    uint64_t offset;
    if (!program_address_to_offset(annotated->program, annotated->image, address, &offset) ||
        !program_locate_function(annotated->program, annotated->image, offset, &location) ||
        location.function_offset != offset)
        return NULL;
    return location.function;
}

static bool read_code(struct annotated *annotated, const struct procedure_choice *choice,
                      struct error *error) {
    const struct procedure_extent *extent = &choice->extent;
    struct procedure_code *code = &annotated->code;
    if (extent->size > LARGEST_CODE)
        return error_set(error, "%s: %llu bytes are too many for one procedure (%d MiB at most)",
                         choice->name, (unsigned long long)extent->size, LARGEST_CODE >> 20);
    *code = (struct procedure_code){
        .size = extent->size, .read = read_image, .name = name_at, .context = annotated};
    if (!(annotated->bytes = malloc(extent->size)))
        return error_set(error, "out of memory for the code");
    code->bytes = annotated->bytes;
    return (program_image_isa(annotated->program, annotated->image, &code->isa) &&
            program_offset_to_address(annotated->program, annotated->image, extent->offset,
                                      &code->address) &&
            program_read(annotated->program, annotated->image, code->address, annotated->bytes,
                         extent->size)) ||
           error_set(error, "%s: its code cannot be read from %s", choice->name, extent->path);
}

/* ---- profiles ---- */

/* NULL with an error. */
static const struct image_profiles *profiles_of(struct annotate_image **images,
                                                const struct profile_set *set,
                                                const struct store_image *build,
                                                struct error *error) {
    struct annotate_image **link = images, *image;
    while ((image = *link) && !image_profiles_is_build(&image->profiles, build))
        link = &image->next;
    if (image) {
        *link = image->next;
    } else if (!(image = calloc(1, sizeof *image))) {
        error_set(error, "out of memory for the profile");
        return NULL;
    } else if (!image_profiles_read(&image->profiles, set, build, error)) {
        image_profiles_free(&image->profiles);
        free(image);
        return NULL;
    }
    image->next = *images;
    *images = image;
    return &image->profiles;
}

/* ---- the simulation beside it ---- */

/* Executions of all epochs: each ran the command once. */
static bool count_executions(struct annotated *annotated, size_t epochs, struct error *error) {
    const struct procedure_profile *simulated = &annotated->simulated_profile;
    if (!simulated->executions)
        return true;
    annotated->executions = malloc(simulated->size * sizeof *annotated->executions);
    if (!annotated->executions)
        return error_set(error, "out of memory for the profile");
    for (size_t i = 0; i < simulated->size; i++)
        annotated->executions[i] = simulated->executions[i] * (double)epochs;
    return true;
}

static bool tell_not_simulated(const struct procedure_profile *profile,
                               const struct profile_set *set, const struct procedure_choice *choice,
                               struct error *error) {
    enum { SHOWN = 200 };
    if (profile->other_builds > 0)
        return error_set(error,
                         "%s: what was simulated is another build of %s than what was sampled",
                         choice->name, choice->extent.path);
    if (!set->command)
        return error_set(error, "%s: not simulated: %s ran none of it", choice->name, set->label);
    return error_set(
        error,
        "%s: not simulated: %.*s ran none of it (for samples of what it runs: 'culprit "
        "record -- %.*s')",
        choice->name, SHOWN, set->command, SHOWN, set->command);
}

static bool read_simulated(struct annotated *annotated, struct annotate_settings *settings,
                           const struct procedure_choice *choice, struct error *error) {
    struct annotate_simulation *simulation = &settings->simulation;
    const struct profile_set *set = simulation->set;
    struct procedure_profile *profile = &annotated->simulated_profile;
    struct procedure_extent extent = choice->extent;
    const struct image_profiles *profiles;
    const struct profile_event *event = set ? profile_set_event(set, "cycles", error) : NULL;
    if (!set)
        return true;
    extent.process = NULL;
    if (!event ||
        !(profiles = profiles_of(&simulation->images, set, choice->extent.build, error)) ||
        !procedure_profile_read(profile, profiles, event, &extent, 1, error))
        return false;
    if (!(profile->sum > 0))
        return tell_not_simulated(profile, set, choice, error);
    const struct profile_set *live = settings->set;
    annotated->simulated = (struct annotation_simulated){
        .profile = profile,
        .command = set->command ? set->command : set->label,
        .machine = set->epochs[0].processor,
        .cycles = profile->total,
        .same_command = live->command && set->command &&
                        quoted_command_same(live->command, set->command) &&
                        !choice->extent.process && !sample_choice_any(&live->choice)};
    return !annotated->simulated.same_command ||
           count_executions(annotated, live->epoch_count, error);
}

/* ---- the whole ---- */

/* Samples of a live processor that executes out of order, or of one that is taken for such. */
static bool is_late(const struct annotate_settings *settings, const struct machine *machine) {
    return !settings->set->simulated && !machine->core.in_order;
}

static bool analyse(struct annotated *annotated, struct annotate_settings *settings,
                    const struct machine *machine, const struct procedure_choice *choice,
                    struct error *error) {
    const struct procedure_profile *profile = &annotated->profile;
    struct procedure_samples samples = {.cycles = profile->cycles, .period = profile->period};
    for (int event = 0; event < PROCEDURE_EVENTS; event++)
        samples.events[event] = profile->events[event];
    if (settings->exact && !profile->executions)
        return error_set(error,
                         "--exact: %s has no counts of how often %s was executed (simulations "
                         "save them: culprit sim --save)",
                         settings->set->label, choice->name);
    if (!(profile->sum > 0))
        return error_set(error, "%s: it has no %s in %s (see 'culprit top')", choice->name,
                         settings->event->unit, settings->set->label);
    const bool late = is_late(settings, machine);
    const struct analysis_options options = {
        .machine = machine,
        .scheduler = late ? NULL : scheduler_of(settings, machine, error),
        .executions = settings->exact ? profile->executions : annotated->executions,
        .skid = late ? &annotate_skid_of(settings)->skid : NULL};
    if (!options.scheduler && !late)
        return false;
    return analyze_procedure(&annotated->analysis, &annotated->code, &samples, &options, error) ||
           error_prefix(error, "%s", choice->name);
}

/* How a procedure without a name would have one. */
static bool note_name(struct report *report, const struct annotated *annotated,
                      const struct procedure_choice *choice, const char *unit) {
    const struct procedure_profile *profile = &annotated->profile;
    double share = profile->total > 0 ? profile->sum / profile->total : 0;
    struct missing_names item = {choice->image, share};
    struct location location;
    return program_locate_function(annotated->program, choice->image, choice->extent.offset,
                                   &location) ||
           missing_names_note(report, annotated->program, &item, 1, unit);
}

static bool note_kernel(struct report *report, const struct store_image *build) {
    return (build->kind != IMAGE_KERNEL && build->kind != IMAGE_MODULE) ||
           report_note(report, "the code is the kernel's as it is in memory now: where it patches "
                               "itself (tracing, static keys) it may have been another");
}

bool annotate(struct annotated *annotated, struct annotate_settings *settings,
              const struct procedure_choice *choice, struct error *error) {
    const struct machine *machine;
    const struct image_profiles *profiles;
    *annotated = (struct annotated){.program = settings->program, .image = choice->image};
    if (!read_code(annotated, choice, error) ||
        !(machine = annotate_machine_of(&settings->machines, settings->set, annotated->code.isa,
                                        error)) ||
        !(profiles = profiles_of(&settings->images, settings->set, choice->extent.build, error)) ||
        !procedure_profile_read(&annotated->profile, profiles, settings->event, &choice->extent,
                                machine->clock_ghz, error) ||
        !read_simulated(annotated, settings, choice, error) ||
        !analyse(annotated, settings, machine, choice, error))
        return false;
    const struct annotation_input input = {
        .set = settings->set,
        .event = settings->event,
        .name = choice->name,
        .image = choice->extent.path,
        .extent = &choice->extent,
        .profile = &annotated->profile,
        .code = &annotated->code,
        .analysis = &annotated->analysis,
        .machine = machine,
        .view = view_of(settings),
        .own_machine = settings->machines.own,
        .exact = settings->exact || annotated->executions,
        .skid = is_late(settings, machine) ? &settings->skid : NULL,
        .simulated = settings->simulation.set ? &annotated->simulated : NULL,
        .program = settings->source ? settings->program : NULL,
        .image_number = choice->image};
    return annotation_build(&annotated->annotation, &input, error) &&
           ((profile_set_note_damage(settings->set, &annotated->annotation.report) &&
             annotation_add_worth(&annotated->annotation) &&
             note_name(&annotated->annotation.report, annotated, choice, settings->event->unit) &&
             note_kernel(&annotated->annotation.report, choice->extent.build)) ||
            error_set(error, "out of memory for the report"));
}

void annotated_free(struct annotated *annotated) {
    annotation_free(&annotated->annotation);
    analysis_free(&annotated->analysis);
    procedure_profile_free(&annotated->profile);
    procedure_profile_free(&annotated->simulated_profile);
    free(annotated->executions);
    free(annotated->bytes);
    annotated->bytes = NULL;
}
