/* How a long run is explained, without a verb: from a trace file by regions, interrupted in each
 * phase, and for a command that behaves differently when it is run again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "study/explain.h"
#include "temporary.h"

enum { LENGTH = 1500000 };
static char trace_path[TEMPORARY_BYTES];

/* The beginning of a run, with its addresses. */
static int make_trace(void **state) {
    (void)state;
    char *const command[] = {"gzip", "-9", "-c", "/bin/bash", NULL};
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const struct capture_options options = {.command = command,
                                            .thread = -1,
                                            .addresses = true,
                                            .limit = LENGTH,
                                            .stop_at_limit = true,
                                            .descriptors = {null, null, null}};
    struct capture_result result;
    struct error error = {0};
    int status;
    close(mkstemp(temporary_name(trace_path, "study")));
    if (!trace_record(&options, trace_path, false, &(const struct watcher){0}, &result, &status,
                      &error))
        fail_msg("%s", error.message);
    close(null);
    return 0;
}

static int remove_trace(void **state) {
    (void)state;
    return unlink(trace_path);
}

/* ---- a study and how it ends ---- */

struct run {
    struct watch watch;
    struct machine_choice machines;
    struct capture_options capture;
    struct explanation_request request;
    struct explanation *explanation;
    enum explanation_kind kind;
    struct simulation simulation;
    struct error error;
    const char *phase; /* to interrupt, at its first progress; NULL: none */
    unsigned phases;   /* begun so far */
    const char *last;  /* phase begun */
    bool asked, good;
};

static uint64_t interrupted_at;

static void note_interrupt(uint64_t instructions) {
    interrupted_at = instructions;
}

static void observe(void *context, const struct progress *progress) {
    struct run *run = context;
    run->phases += progress->label != run->last;
    run->last = progress->label;
    if (run->asked || !run->phase || strcmp(run->phase, progress->label) != 0)
        return;
    run->asked = true;
    watch_interrupt(&run->watch, SIGINT);
}

static void begin(struct run *run, const char *trace) {
    const struct machine_options options = {.machine = "zen4"};
    *run = (struct run){.watch = {.observe = observe, .context = run}};
    if (!machine_choice_load(&run->machines, &options, &run->error))
        fail_msg("%s", run->error.message);
    run->request = (struct explanation_request){.watch = &run->watch,
                                                .capture = &run->capture,
                                                .trace = trace,
                                                .machines = &run->machines,
                                                .over = 300000,
                                                .sampling = sampling_everything(),
                                                .warm_up = 100000,
                                                .regions = 4,
                                                .forecasts = true,
                                                .enough = true,
                                                .interrupted = note_interrupt};
    interrupted_at = 0;
}

static void go(struct run *run) {
    const struct code *code;
    int status = 0;
    run->explanation = explanation_start(&run->request, &status, &run->error);
    if (!run->explanation)
        fail_msg("%s", run->error.message);
    run->good = explanation_go(run->explanation, &run->kind, &run->error);
    if (run->good && run->kind == EXPLANATION_DONE) {
        explanation_result(run->explanation, &run->simulation, &code);
        assert_true(code->insn_count > 0);
    }
}

/* Nothing temporary is left, and nothing is watched any more. */
static void end(struct run *run) {
    simulation_free(&run->simulation);
    trace_close(explanation_take_trace(run->explanation));
    explanation_free(run->explanation);
    assert_null(atomic_load(&run->watch.trace));
    assert_null(atomic_load(&run->watch.regions));
    for (int i = 0; i < TEMPORARIES; i++)
        assert_null(atomic_load(&run->watch.temporaries.paths[i]));
    temporaries_free(&run->watch.temporaries);
}

/* ---- tests ---- */

static void a_trace_too_long_is_explained_by_regions(void **state) {
    (void)state;
    static struct run run;
    begin(&run, trace_path);
    go(&run);
    if (!run.good)
        fail_msg("%s", run.error.message);
    assert_int_equal(run.kind, EXPLANATION_DONE);
    assert_int_equal(explanation_signal(run.explanation), 0);
    assert_null(explanation_note(run.explanation, 0));
    assert_true(run.simulation.regions.count > 0);
    assert_true(run.simulation.regions.count <= 4);
    assert_true(run.simulation.regions.slices >= run.simulation.regions.count);
    assert_true(run.simulation.simulated < LENGTH);
    assert_int_equal(run.simulation.executed, explanation_profiled(run.explanation));
    assert_true(run.simulation.cycles > 0);
    assert_false(run.simulation.interrupted);
    assert_int_equal(run.phases, 2); /* profiling, simulating regions */
    end(&run);
}

/* All of it is in the file already. */
static void a_trace_that_is_short_is_left_to_be_simulated(void **state) {
    (void)state;
    static struct run run;
    begin(&run, trace_path);
    run.request.over = 10 * LENGTH;
    go(&run);
    assert_true(run.good);
    assert_int_equal(run.kind, EXPLANATION_SHORT);
    end(&run);
}

/* The signal ends only the first run: what was run until then is explained. */
static void an_interrupt_ends_the_profile(void **state) {
    (void)state;
    static struct run run;
    begin(&run, trace_path);
    run.phase = "profiling";
    run.request.over = 0;
    go(&run);
    if (!run.good)
        fail_msg("%s", run.error.message);
    const uint64_t profiled = explanation_profiled(run.explanation);
    assert_int_equal(run.kind, EXPLANATION_DONE);
    assert_int_equal(explanation_signal(run.explanation), SIGINT);
    assert_int_equal(run.watch.signal, 0); /* for the next */
    assert_true(profiled > 0);
    assert_true(profiled < LENGTH);
    assert_int_equal(interrupted_at, profiled);
    assert_int_equal(run.simulation.executed, profiled);
    assert_false(run.simulation.interrupted);
    end(&run);
}

static void an_interrupt_ends_the_simulation(void **state) {
    (void)state;
    static struct run run;
    begin(&run, trace_path);
    run.phase = "simulating regions";
    go(&run);
    assert_true(run.asked);
    assert_int_equal(explanation_signal(run.explanation), 0);
    assert_int_equal(run.watch.signal, SIGINT);
    assert_false(run.good); /* the first region is longer than a batch */
    assert_string_equal(run.error.message, "interrupted before any region was simulated");
    end(&run);
}

/* A second signal, before the choice, ends the run again before it begins. */
static struct watch *asked_twice;
static void ask_again(uint64_t instructions) {
    note_interrupt(instructions);
    watch_interrupt(asked_twice, SIGTERM);
}

static void a_second_interrupt_ends_the_choice(void **state) {
    (void)state;
    static struct run run;
    begin(&run, trace_path);
    run.phase = "profiling";
    run.request.over = 0;
    run.request.interrupted = ask_again;
    asked_twice = &run.watch;
    go(&run);
    assert_true(interrupted_at > 0);
    assert_int_equal(run.watch.signal, SIGTERM);
    assert_false(run.good);
    assert_string_equal(run.error.message, "interrupted before any region was captured");
    end(&run);
}

/* The first run leaves a file, from which the second knows that it is to behave differently. */
static void a_run_that_diverges_is_sampled(void **state) {
    (void)state;
    static struct run run;
    char mark[TEMPORARY_BYTES], script[512];
    int file = mkstemp(temporary_name(mark, "study-mark"));
    close(file);
    snprintf(script, sizeof script,
             "if [ -s %s ]; then exec gzip -1 -c /bin/bash > /dev/null; fi; echo x > %s; i=0; "
             "while [ $i -lt 2500 ]; do i=$((i+1)); done",
             mark, mark);
    char *const command[] = {"sh", "-c", script, NULL};
    begin(&run, NULL);
    run.capture = (struct capture_options){.command = command,
                                           .addresses = true,
                                           .thread = -1,
                                           .limit = LENGTH,
                                           .stop_at_limit = true};
    run.request.rerun = true;
    go(&run);
    unlink(mark);
    if (!run.good)
        fail_msg("%s", run.error.message);
    assert_int_equal(run.kind, EXPLANATION_DONE);
    assert_non_null(explanation_note(run.explanation, 0));
    assert_non_null(strstr(explanation_note(run.explanation, 0), "the program went another way"));
    assert_int_equal(run.simulation.regions.count, 0);
    assert_true(run.simulation.cycles > 0);
    end(&run);
}

/* The command writes to a file each time it runs. */
static void a_run_that_was_kept_is_not_repeated(void **state) {
    (void)state;
    static struct run run;
    char written[TEMPORARY_BYTES], script[TEMPORARY_BYTES + 64], content[8];
    const int file = mkstemp(temporary_name(written, "ran")),
              null = open("/dev/null", O_RDWR | O_CLOEXEC);
    snprintf(script, sizeof script, "echo x >> %s; exec gzip -9 -c /bin/bash", written);
    char *const command[] = {"sh", "-c", script, NULL};
    begin(&run, NULL);
    run.capture = (struct capture_options){.command = command,
                                           .thread = -1,
                                           .addresses = true,
                                           .follow = true,
                                           .limit = LENGTH,
                                           .stop_at_limit = true,
                                           .descriptors = {null, null, null}};
    run.request.kept = 2 * LENGTH;
    go(&run);
    if (!run.good)
        fail_msg("%s", run.error.message);
    assert_int_equal(run.kind, EXPLANATION_DONE);
    assert_true(run.simulation.regions.count > 0);
    assert_int_equal(run.simulation.executed, explanation_profiled(run.explanation));
    assert_int_equal(read(file, content, sizeof content), 2);
    end(&run);
    close(null);
    close(file);
    unlink(written);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_too_long_is_explained_by_regions),
        cmocka_unit_test(a_trace_that_is_short_is_left_to_be_simulated),
        cmocka_unit_test(an_interrupt_ends_the_profile),
        cmocka_unit_test(a_second_interrupt_ends_the_choice),
        cmocka_unit_test(an_interrupt_ends_the_simulation),
        cmocka_unit_test(a_run_that_diverges_is_sampled),
        cmocka_unit_test(a_run_that_was_kept_is_not_repeated),
    };
    return cmocka_run_group_tests(tests, make_trace, remove_trace);
}
