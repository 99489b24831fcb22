/* Live capture: starts the command under the emulator and turns what the plugin writes to shared
 * memory (ring.h) into items.
 *
 * One loop, capture_next(): hand out what is queued; else take the oldest full chunk, after the
 * records that precede it; else read records; else see which processes have died; else sleep on the
 * doorbell, a little at a time, since a death does not ring it. A process that died, or called
 * exec, leaves half-full chunks behind, which are harvested. */
#include "trace/qemu/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/qemu/futex.h"
#include "trace/qemu/layout.h"
#include "util/at_kill.h"
#include "util/clock.h"
#include "util/quoted_command.h"
#include "util/text.h"

enum { NAP_NANOSECONDS = 2000000 };

/* ---- sleeping ---- */

void capture_detach(struct capture *capture) {
    struct ring_control *control = capture->control;
    capture->detached = true;
    atomic_store(&control->detached, 1);
    atomic_fetch_add(&control->released, 1);
    futex_wake(&control->released);
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        atomic_fetch_add(&control->processes[i].replies, 1);
        futex_wake(&control->processes[i].replies);
    }
}

/* Nothing came for a while: then no chunk is full, whatever a guest wrote to the count of them, and
 * no process has to wait for one that has died. */
static void sleep_on_doorbell(struct capture *capture, uint32_t seen) {
    struct ring_control *control = capture->control;
    atomic_store(&control->sleeping, 1);
    bool rung = futex_wait(&control->doorbell, seen, NAP_NANOSECONDS);
    atomic_store(&control->sleeping, 0);
    if (rung || atomic_load(&control->doorbell) != seen)
        return;
    watchdog_look(capture);
    if (capture->detached && !atomic_load(&control->detached))
        capture_detach(capture);
    if (!atomic_load(&control->queued))
        return;
    atomic_store(&control->queued, 0);
    atomic_fetch_add(&control->released, 1);
    futex_wake(&control->released);
}

/* ---- the source ---- */

static void give_header(struct capture *capture, struct item *item) {
    item->kind = ITEM_HEADER;
    item->header = (struct item_header){.isa = capture->launch.isa,
                                        .command = capture->command,
                                        .host = capture->host,
                                        .addresses = capture->addresses};
    capture->header_given = true;
}

/* What the emulator maps of a file that is cut off ends in SIGBUS; of one with a damaged header, in
 * SIGSEGV. Only where it exits has it said why. */
static int say_not_started(const struct capture *capture, struct error *error) {
    const char *program = capture->launch.program;
    const int status = capture->exit.status;
    if (!capture->exit.signaled)
        error_set(error, "the emulator could not start %s (status %d); its message is above",
                  program, status);
    else if (status == SIGBUS || status == SIGSEGV)
        error_set(error,
                  "the emulator died of %s before the first instruction of %s: the file is cut off "
                  "or damaged",
                  status == SIGBUS ? "SIGBUS" : "SIGSEGV", program);
    else
        error_set(error, "the emulator was killed by signal %d before the first instruction of %s",
                  status, program);
    return -1;
}

static int give_end(struct capture *capture, struct item *item, struct error *error) {
    if (!capture->ran && capture->exit.known && capture->interrupted) {
        error_set(error, "interrupted before the command was started");
        return -1;
    }
    if (!capture->ran && capture->exit.known &&
        atomic_load(&capture->control->phase) == RING_CAPTURE)
        return say_not_started(capture, error);
    item->kind = ITEM_END;
    item->end = capture->exit;
    capture->end_given = true;
    return 1;
}

static void note_illegal_instruction(struct capture *capture) {
    if (capture->evex && capture->exit.signaled && capture->exit.status == SIGILL) {
        capture->evex = false;
        capture_note(capture, "the program used AVX-512, which QEMU lacks, and died of SIGILL: "
                              "build or run it without AVX-512");
    }
}

/* What this emulator does not let the plugin move. */
static void note_layout(struct capture *capture) {
    const uint32_t moved = atomic_load(&capture->control->moved);
    if (!capture->layout || !capture->ran || moved == RING_MOVED_ALL)
        return;
    capture_note(capture,
                 "layout %" PRIu32 " moves its stack, and not its %s%s%s, with this emulator",
                 capture->layout, moved & RING_MOVED_MAPPINGS ? "" : "code and libraries",
                 moved ? "" : " and ", moved & RING_MOVED_HEAP ? "" : "heap");
    capture->layout = 0;
}

/* Time passes at the emulator's speed. */
static void note_timer(struct capture *capture) {
    if (atomic_exchange(&capture->control->timer_set, 0))
        capture_note(capture,
                     "the command set a timer: what it does until that expires depends on how fast "
                     "the emulator is, so that runs differ%s",
                     capture->control->fixed ? ", also with --repeatable" : "");
}

/* False: the program ended before the start that was asked for. */
static bool check_begun(const struct capture *capture, struct error *error) {
    const struct ring_control *control = capture->control;
    const uint32_t phase = atomic_load(&control->phase);
    const uint32_t threads = atomic_load(&control->most_threads);
    if (atomic_load(&control->refused))
        return error_set(error,
                         "the capture plugin %s is of another version than culprit: build both "
                         "again (make), or see CULPRIT_PLUGIN",
                         capture->launch.plugin);
    if (capture->begin && !capture->told_to_begin)
        return error_set(error,
                         "no instruction was captured: the run ended before the signal to begin");
    if (capture->marked || capture->interrupted)
        return true;
    if (phase == RING_WAIT)
        return error_set(error,
                         "no instruction was captured: the function %s was never entered, or no "
                         "symbol table of the program and its libraries has it",
                         capture->from_symbol);
    if (phase == RING_SKIP)
        return error_set(error,
                         "no instruction was captured: the run ended after %s "
                         "instructions, within --skip %" PRIu64,
                         text_grouped(capture->skip - (uint64_t)atomic_load(&control->skip)).s,
                         capture->skip);
    if (capture->thread < 0 || atomic_load(&control->threads) > 0)
        return true;
    if ((uint32_t)capture->thread < threads)
        return error_set(error,
                         "no instruction was captured: thread %d executed none once capture had "
                         "begun",
                         capture->thread);
    return error_set(error, "no instruction was captured: there was no thread %d, the last was %u",
                     capture->thread, threads ? threads - 1 : 0);
}

static int capture_next(void *context, struct item *item, struct error *error) {
    struct capture *capture = context;
    queue_forget_texts(capture);
    if (!capture->header_given) {
        give_header(capture, item);
        return 1;
    }
    if (capture->end_given)
        return 0;
    for (;;) {
        if (capture->out_of_memory) {
            error_set(error, "out of memory while capturing %s", capture->command);
            return -1;
        }
        if (capture->queue_first < capture->queue_count) {
            queue_give(capture, item);
            return 1;
        }
        queue_rewind(capture);
        if (capture->chunk_taken && !capture->chunk_given) {
            capture->chunk_given = true;
            item->kind = ITEM_DATA;
            item->data = capture->data;
            return 1;
        }
        if (capture->chunk_taken)
            chunks_release(capture);
        uint32_t seen = atomic_load(&capture->control->doorbell);
        lives_begin_when_told(capture);
        lives_end_in_time(capture);
        lives_press_for_end(capture);
        if (chunks_take(capture) || records_read(capture) || lives_end_dead(capture))
            continue;
        if (!lives_any(capture)) {
            note_illegal_instruction(capture);
            records_name_left_out(capture);
            note_layout(capture);
            note_timer(capture);
            if (capture->queue_count)
                continue;
            return check_begun(capture, error) ? give_end(capture, item, error) : -1;
        }
        if (capture->waiting && !capture->interrupted &&
            atomic_load(&capture->control->phase) == RING_DONE)
            capture->waiting(capture->waiting_context);
        else if (capture->outlived && !capture->interrupted && capture->child_reaped)
            capture->outlived(capture->waiting_context);
        sleep_on_doorbell(capture, seen);
    }
}

static void capture_interrupt(void *context) {
    struct capture *capture = context;
    capture->interrupted = 1;
}

static void capture_enough(void *context) {
    struct capture *capture = context;
    atomic_store(&capture->control->phase, RING_DONE);
}

static void capture_pause(void *context, uint32_t thread, uint64_t until) {
    struct capture *capture = context;
    struct ring_control *control = capture->control;
    uint32_t phase = atomic_load(&control->phase);
    if (ring_activity(phase) != RING_CAPTURE)
        return;
    atomic_store(&control->paused_thread, thread);
    atomic_store(&control->paused_until, until);
    atomic_compare_exchange_strong(&control->phase, &phase, phase + 1);
}

/* The child runs on to its end. It is told again that nothing is read any more, in case it
 * overwrites that. */
static void await_child(struct capture *capture) {
    struct ring_control *control = capture->control;
    uint32_t seen = atomic_load(&control->doorbell);
    pid_t reaped = waitpid(capture->child, NULL, WNOHANG);
    capture->child_reaped = reaped > 0 || (reaped < 0 && errno != EINTR);
    if (!capture->child_reaped)
        sleep_on_doorbell(capture, seen);
}

static void capture_close(void *context) {
    struct capture *capture = context;
    struct ring_control *control = capture->control;
    if (control) {
        capture_detach(capture);
        while (capture->child > 0 && !capture->child_reaped)
            await_child(capture);
    }
    at_kill_remove(capture);
    for (; capture->queue_first < capture->queue_count; capture->queue_first++) {
        struct queued *queued = &capture->queue[capture->queue_first];
        free((char *)queued->described.command);
        free((char *)queued->described.executable);
        free(queued->text);
    }
    queue_rewind(capture);
    queue_forget_texts(capture);
    for (uint32_t i = 0; control && i < RING_PROCESSES; i++)
        if (capture->slots[i].live)
            records_leave(capture, i);
    if (control)
        munmap(control, RING_BYTES);
    if (capture->memory >= 0)
        close(capture->memory);
    queue_rewind(capture);
    images_free(&capture->images);
    records_free(capture);
    if (capture->program)
        program_free(capture->program);
    free(capture->from_symbol);
    markers_free(&capture->markers);
    reached_free(capture);
    launch_free(&capture->launch);
    free(capture->command);
    free(capture->host);
    free(capture->threads);
    free(capture->queue);
    free(capture->texts);
    free(capture);
}

/* ---- start ---- */

static bool create_memory(struct capture *capture, struct error *error) {
    capture->memory = memfd_create("culprit-capture", MFD_CLOEXEC);
    if (capture->memory < 0 || ftruncate(capture->memory, (off_t)RING_BYTES) < 0)
        return error_errno(error, "cannot create the capture's shared memory, a file of %s",
                           text_bytes(RING_BYTES).s);
    void *memory = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                        capture->memory, 0);
    if (memory == MAP_FAILED)
        return error_errno(error, "cannot map the capture's shared memory");
    capture->control = memory;
    return true;
}

/* In an option of the emulator a comma is written twice. */
static bool quote_commas(const char *path, char *out, size_t size) {
    size_t used = strlen(out);
    for (; *path; path++) {
        if (used + 3 > size)
            return false;
        out[used++] = *path;
        if (*path == ',')
            out[used++] = ',';
    }
    out[used] = 0;
    return true;
}

static bool fill_control(struct capture *capture, const struct capture_options *options,
                         struct error *error) {
    struct ring_control *control = capture->control;
    control->layout = RING_LAYOUT;
    control->consumer = getpid();
    control->isa = capture->launch.isa;
    control->addresses = options->addresses;
    control->counted = options->counted;
    control->follow = options->follow;
    atomic_store(&control->stop, options->stop_at_limit);
    control->repeatable = options->repeatable || options->fixed;
    control->fixed = options->fixed;
    control->memory = memory_layout(options->layout);
    if (options->fixed && !strpbrk(capture->launch.plugin, ",: "))
        snprintf(control->preload, sizeof control->preload, "%s", capture->launch.plugin);
    control->objects = options->objects;
    if (!strchr(capture->launch.allocations, ',')) /* the emulator splits variables there */
        snprintf(control->allocations, sizeof control->allocations, "%s",
                 capture->launch.allocations);
    control->watch_effects = options->watch_effects;
    control->harmless = options->harmless;
    control->cut_threads = options->markers && options->markers->all_threads;
    control->thread = options->thread;
    control->limited = options->limit > 0;
    control->seed = options->seed;
    atomic_store(&control->skip, (int64_t)(options->skip & INT64_MAX));
    atomic_store(&control->left, (int64_t)(options->limit & INT64_MAX));
    atomic_store(&control->unfinished, (int64_t)(options->limit & INT64_MAX));
    control->slice_size = options->slice_size;
    control->awaited = options->begin != NULL;
    bool skipping = control->awaited || (options->skip && !options->slice_size);
    atomic_store(&control->phase, options->from_symbol ? RING_WAIT
                                  : skipping           ? RING_SKIP
                                                       : RING_CAPTURE);
    snprintf(control->emulator, sizeof control->emulator, "%s", capture->launch.emulator);
    snprintf(control->shared, sizeof control->shared, "/proc/%d/fd/%d", (int)getpid(),
             capture->memory);
    if (!quote_commas(capture->launch.plugin, control->plugin, RING_PATH_BYTES))
        return error_set(error, "the plugin's path %s is too long", capture->launch.plugin);
    size_t used = strlen(control->plugin);
    snprintf(control->plugin + used, sizeof control->plugin - used, ",shared=%s", control->shared);
    return true;
}

static char *describe_host(const struct launch *launch) {
    struct utsname name;
    char *host = NULL;
    if (uname(&name) < 0 || asprintf(&host, "%s %s %s, %s", name.sysname, name.release,
                                     name.machine, launch->version) < 0)
        return NULL;
    return host;
}

bool capture_start(const struct capture_options *options, struct item_source *source,
                   int *exec_status, struct error *error) {
    struct capture *capture = calloc(1, sizeof *capture);
    *exec_status = 125;
    if (!capture)
        return error_set(error, "out of memory");
    capture->memory = -1;
    for (uint32_t i = 0; i < RING_PROCESSES; i++)
        capture->slots[i].pidfd = -1;
    capture->addresses = options->addresses;
    capture->stop_at_limit = options->stop_at_limit;
    capture->stop = options->stop;
    capture->kill = options->kill;
    capture->layout = options->fixed ? options->layout : 0;
    capture->begin = options->begin;
    capture->started_at = clock_monotonic();
    capture->seconds = options->seconds;
    capture->waiting = options->limit ? options->waiting : NULL;
    capture->outlived = options->outlived;
    capture->stuck = options->stuck;
    capture->waiting_context = options->waiting_context;
    capture->skip = options->skip;
    capture->thread = options->thread;
    capture->marked = options->markers;
    capture->images.kept = options->kept;
    if (!launch_prepare(options, &capture->launch, exec_status, error))
        goto failed;
    capture->command = quoted_command(options->command);
    capture->host = describe_host(&capture->launch);
    if (!capture->command || !capture->host) {
        error_set(error, "out of memory");
        goto failed;
    }
    if (options->from_symbol) {
        capture->from_symbol = strdup(options->from_symbol);
        capture->program = program_new();
    }
    if (options->from_symbol && (!capture->from_symbol || !capture->program)) {
        error_set(error, "out of memory");
        goto failed;
    }
    if (!create_memory(capture, error) || !fill_control(capture, options, error) ||
        (options->markers &&
         !markers_start(&capture->markers, options->markers, capture->control, error)) ||
        !launch_start(options, &capture->launch, capture->control, &capture->child, error))
        goto failed;
    if (capture->launch.set_user_id && geteuid() != 0)
        capture_note(capture,
                     "%s is a set-user-id program: captured, it runs without the rights of "
                     "its owner",
                     capture->launch.program);
    at_kill_add(lives_kill, capture);
    *source = (struct item_source){.next = capture_next,
                                   .interrupt = capture_interrupt,
                                   .enough = capture_enough,
                                   .pause = capture_pause,
                                   .close = capture_close,
                                   .context = capture};
    *exec_status = 0;
    return true;

failed:
    capture_close(capture);
    return false;
}
