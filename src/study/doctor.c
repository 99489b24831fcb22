#include "study/doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "live/collector.h"
#include "live/counters.h"
#include "machine/choice.h"
#include "machine/default.h"
#include "program/program.h"
#include "store/store.h"
#include "trace/trace.h"
#include "util/command_path.h"
#include "util/text.h"

static struct finding *add(struct doctor *doctor, const char *what, enum finding_state state) {
    struct finding *finding = &doctor->findings[doctor->count++];
    *finding = (struct finding){.what = what, .state = state};
    return finding;
}

__attribute__((format(printf, 2, 3))) static void found(struct finding *finding, const char *format,
                                                        ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->found, sizeof finding->found, format, arguments);
    va_end(arguments);
}

static void mend(struct finding *finding, const char *command) {
    snprintf(finding->mend, sizeof finding->mend, "%s", command);
}

/* ---- simulated ---- */

/* The shortest program there is, captured to its end. */
static void look_at_capture(struct doctor *doctor) {
    char *command[] = {"true", NULL};
    struct capture_options options = {.command = command};
    struct trace_batch batch;
    struct error error = {0};
    uint64_t instructions = 0;
    int status = 1, exec_status;
    struct trace *trace = trace_capture(&options, &exec_status, &error);
    while (trace && (status = trace_next(trace, &batch, &error)) > 0)
        instructions += batch.insn_count;
    const bool good = trace && status == 0 && instructions;
    struct finding *finding =
        add(doctor, "programs of this machine, simulated", good ? FINDING_WORKS : FINDING_MISSING);
    if (good)
        found(finding, "'true' was captured: %s instructions", text_grouped(instructions).s);
    else
        found(finding, "%s", error.message[0] ? error.message : "nothing was captured");
    char path[512];
    if (!good && command_find("qemu-x86_64", path, sizeof path))
        mend(finding, "sudo apt install qemu-user");
    trace_close(trace);
}

static void look_at_emulator(struct doctor *doctor) {
    char path[PATH_MAX];
    struct error error = {0};
    const bool good = trace_emulator(ISA_RISCV64, path, &error);
    struct finding *finding =
        add(doctor, "programs for riscv64, simulated", good ? FINDING_WORKS : FINDING_MISSING);
    found(finding, "%s", good ? path : error.message);
    if (!good && command_find("qemu-riscv64", path, sizeof path))
        mend(finding, "sudo apt install qemu-user");
}

/* A description of this host is written where it is looked for. What CULPRIT_MACHINE names comes
 * before it. */
static void mend_machine(struct finding *finding, const struct machine *machine) {
    char path[PATH_MAX], *command = NULL;
    size_t size;
    const char *named = getenv("CULPRIT_MACHINE");
    if (!machine && named && *named) {
        mend(finding, "unset CULPRIT_MACHINE");
        return;
    }
    FILE *file = machine_host_file(path) ? open_memstream(&command, &size) : NULL;
    if (!file)
        return;
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    fprintf(file, "mkdir -p ");
    text_put_word(file, folder);
    fprintf(file, " && culprit calibrate -o ");
    text_put_word(file, path);
    if (fclose(file) == 0 && size < sizeof finding->mend)
        mend(finding, command);
    free(command);
}

static void look_at_machine(struct doctor *doctor) {
    struct machine_choice *choice = calloc(1, sizeof *choice);
    const struct machine_options options = {.chips = true};
    struct error error = {0};
    const struct machine *machine = NULL;
    if (choice && machine_choice_load(choice, &options, &error))
        machine = machine_choice_of(choice, ISA_X86_64, &error);
    const bool own = machine && machine->chosen.by != MACHINE_BY_NEAREST &&
                     machine->chosen.by != MACHINE_BY_ARCHITECTURE;
    struct finding *finding = add(doctor, "a description of this processor",
                                  own       ? FINDING_WORKS
                                  : machine ? FINDING_LIMITED
                                            : FINDING_MISSING);
    if (machine)
        found(finding, "%s: %s", machine->name, machine->chosen.why);
    else
        found(finding, "%s", error.message);
    if (!own)
        mend_machine(finding, machine);
    free(choice);
}

/* ---- sampled ---- */

static void look_at_sampling(struct doctor *doctor) {
    const bool events = counters_have(COUNTED_FAULTS), cycles = counters_have(COUNTED_CYCLES);
    struct finding *finding =
        add(doctor, "record, a command sampled", events ? FINDING_WORKS : FINDING_MISSING);
    found(finding, "%s",
          events ? "the kernel counts events of one's own programs"
                 : "perf_event_open() is refused");
    if (!events)
        mend(finding, "sudo sysctl kernel.perf_event_paranoid=2");
    finding = add(doctor, "hardware counters", cycles ? FINDING_WORKS : FINDING_LIMITED);
    found(finding, "%s",
          cycles ? "cycles are counted"
                 : "none, as in most virtual machines: samples are taken by the clock, and events "
                   "come from simulation");
}

static void look_at_daemon(struct doctor *doctor) {
    const struct collector_options options = {.empty = true};
    struct error error = {0};
    struct collector *collector = collector_new(&options, &error);
    struct finding *finding = add(doctor, "daemon, the whole machine sampled",
                                  collector   ? FINDING_WORKS
                                  : geteuid() ? FINDING_LIMITED
                                              : FINDING_MISSING);
    found(finding, "%s", collector ? "the kernel takes the BPF program" : error.message);
    if (!collector && geteuid())
        mend(finding, "sudo culprit daemon");
    collector_free(collector);
}

/* ---- names ---- */

/* Of the C library that this program uses. */
static void look_at_symbols(struct doctor *doctor) {
    Dl_info library;
    struct program *program = program_new_local();
    const bool named =
        program && dladdr((const void *)(uintptr_t)&printf, &library) && library.dli_fname;
    const uint32_t image =
        named ? program_add_image(program, library.dli_fname, NULL, 0) : UINT32_MAX;
    const bool stripped = image == UINT32_MAX || program_image_is_stripped(program, image);
    const char *servers = getenv("DEBUGINFOD_URLS");
    const bool asked = servers && *servers;
    struct finding *finding = add(doctor, "names of functions in libraries",
                                  stripped && !asked ? FINDING_LIMITED : FINDING_WORKS);
    found(finding, "%s%s",
          stripped ? "the C library has no debug symbols here" : "the C library has debug symbols",
          asked ? "; debuginfod servers are asked" : "");
    if (stripped && !asked)
        mend(finding, "sudo apt install libc6-dbg");
    program_free(program);
}

/* ---- room ---- */

/* Whether a file of that path can be made, with folders that are missing. */
static bool can_be_made(const char *path, struct error *error) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *end; (end = strrchr(folder, '/'));) {
        *end = 0;
        const char *name = *folder ? folder : "/";
        struct stat status;
        if (stat(name, &status) != 0 && errno == ENOENT)
            continue;
        if (access(name, W_OK) != 0)
            return error_errno(error, "%s cannot be made: %s", path, name);
        return S_ISDIR(status.st_mode) ||
               error_set(error, "%s cannot be made: %s is no folder", path, name);
    }
    return access(".", W_OK) == 0 || error_errno(error, "%s cannot be made", path);
}

static void look_at_store(struct doctor *doctor) {
    char path[PATH_MAX];
    struct error error = {0};
    struct store *store = NULL;
    bool good = store_default_path(path, STORE_WRITE, &error);
    const bool there = good && access(path, F_OK) == 0;
    if (there)
        good = (store = store_open(path, STORE_WRITE, &error)) != NULL;
    else
        good = good && can_be_made(path, &error);
    struct finding *finding =
        add(doctor, "the store of profiles", good ? FINDING_WORKS : FINDING_MISSING);
    if (good)
        found(finding, "%s%s", path, there ? "" : ", which is made when it is first needed");
    else
        found(finding, "%s", error.message);
    if (!good)
        mend(finding, "export CULPRIT_STORE=$HOME/profiles.db");
    store_close(store);
}

/* A run that is kept takes some 300 MB. */
static void look_at_room(struct doctor *doctor) {
    const double LEAST = 500e6;
    const char *folder = getenv("TMPDIR");
    struct statvfs status;
    folder = folder && *folder ? folder : "/tmp";
    const bool known = statvfs(folder, &status) == 0;
    const double room = known ? (double)status.f_bavail * (double)status.f_frsize : 0;
    struct finding *finding =
        add(doctor, "room for temporary files", room >= LEAST ? FINDING_WORKS : FINDING_LIMITED);
    found(finding, "%s: %s", folder, known ? text_bytes((uint64_t)room).s : "cannot be read");
    if (room < LEAST)
        mend(finding, "export TMPDIR=/var/tmp");
}

void doctor_look(struct doctor *doctor) {
    doctor->count = 0;
    look_at_capture(doctor);
    look_at_emulator(doctor);
    look_at_machine(doctor);
    look_at_sampling(doctor);
    look_at_daemon(doctor);
    look_at_symbols(doctor);
    look_at_store(doctor);
    look_at_room(doctor);
}

bool doctor_is_well(const struct doctor *doctor) {
    for (size_t i = 0; i < doctor->count; i++)
        if (doctor->findings[i].state == FINDING_MISSING)
            return false;
    return true;
}
