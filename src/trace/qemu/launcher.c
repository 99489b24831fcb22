/* The command is looked up as execvp does; its ELF header names the emulator; a script runs its
 * interpreter. The plugin lies beside the running executable (a build tree), one folder above
 * (its tests), or in ../lib/culprit (an installation). */
#include "trace/qemu/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program/program.h"
#include "trace/qemu/emulator.h"
#include "trace/qemu/emulator_version.h"
#include "trace/qemu/fixed_environment.h"
#include "util/command_path.h"
#include "util/descriptors.h"

#define PLUGIN_NAME      "libculprit-trace.so"
#define ALLOCATIONS_NAME "libculprit-allocations.so"

enum { MAX_INTERPRETERS = 4, CANNOT_CAPTURE = 125, CANNOT_RUN = 126, NOT_FOUND = 127 };

static const char *const EMULATORS[ISA_COUNT] = {
    [ISA_X86_64] = "qemu-x86_64",
    [ISA_RISCV64] = "qemu-riscv64",
};

static bool find_plugin(char path[RING_PATH_BYTES], struct error *error) {
    const char *chosen = getenv("CULPRIT_PLUGIN");
    if (chosen && *chosen) {
        if (realpath(chosen, path))
            return true;
        return error_errno(error, "CULPRIT_PLUGIN names %s", chosen);
    }
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return error_errno(error, "cannot read /proc/self/exe");
    self[length] = 0;
    *strrchr(self, '/') = 0;
    static const char *const PLACES[] = {"", "/..", "/../lib/culprit"};
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        char candidate[PATH_MAX + 64];
        snprintf(candidate, sizeof candidate, "%s%s/" PLUGIN_NAME, self, PLACES[i]);
        if (realpath(candidate, path))
            return true;
    }
    return error_set(error,
                     "the capture plugin " PLUGIN_NAME " is neither in %s nor in %s/../lib/culprit:"
                     " build it (make), or set CULPRIT_PLUGIN to its path",
                     self, self);
}

/* The library that is preloaded lies beside the plugin. */
static bool find_allocations(struct launch *launch, struct error *error) {
    char beside[RING_PATH_BYTES + sizeof ALLOCATIONS_NAME];
    const int folder = (int)(strrchr(launch->plugin, '/') - launch->plugin);
    if (launch->isa != ISA_X86_64)
        return true; /* programs for riscv64 are linked statically */
    snprintf(beside, sizeof beside, "%.*s/" ALLOCATIONS_NAME, folder, launch->plugin);
    if (!realpath(beside, launch->allocations))
        return error_errno(error, "the library that tells of allocations, %s", beside);
    return true;
}

static bool refuse(int *exec_status, int status) {
    *exec_status = status;
    return false;
}

/* Whether the loader of a dynamic program is where the emulator looks for it: below its prefix,
 * then here. */
static bool loader_is_here(const char *loader, enum isa isa) {
    const char *chosen = getenv("QEMU_LD_PREFIX");
    char below[RING_PATH_BYTES];
    if (chosen)
        snprintf(below, sizeof below, "%s%s", chosen, loader);
    else
        snprintf(below, sizeof below, "/etc/qemu-binfmt/%s%s", strchr(EMULATORS[isa], '-') + 1,
                 loader);
    return access(below, R_OK) == 0 || access(loader, R_OK) == 0;
}

/* Finds the ELF file to run and its instruction set. */
static bool identify(struct launch *launch, struct error *error) {
    struct executable executable;
    for (int i = 0; i <= MAX_INTERPRETERS; i++) {
        if (access(launch->program, R_OK) < 0)
            return error_errno(error, "cannot read %s%s", i ? "the interpreter " : "",
                               launch->program);
        if (!executable_identify(launch->program, &executable, error))
            return false;
        switch (executable.kind) {
        case EXECUTABLE_SCRIPT:
            if (!executable_interpret(&executable, launch->program, &launch->arguments))
                return error_set(error, "out of memory");
            snprintf(launch->program, sizeof launch->program, "%s", executable.interpreter);
            snprintf(launch->named, sizeof launch->named, "%s", executable.interpreter);
            break;
        case EXECUTABLE_X86_64:
        case EXECUTABLE_RISCV64:
            launch->isa = executable.kind == EXECUTABLE_X86_64 ? ISA_X86_64 : ISA_RISCV64;
            launch->set_user_id = executable.set_user_id;
            if (executable.dynamic && !loader_is_here(executable.interpreter, launch->isa))
                return error_set(error,
                                 "%s needs the loader %s, which is not here: link it with "
                                 "-static, or set QEMU_LD_PREFIX to where its libraries are",
                                 launch->program, executable.interpreter);
            return true;
        case EXECUTABLE_NOT_EXECUTABLE:
            return error_set(error,
                             "%s is neither an ELF program nor a script that begins with #!: "
                             "name what runs it (sh %s)",
                             launch->program, launch->program);
        default:
            return error_set(error, "%s is a program for %s: culprit captures x86-64 and riscv64",
                             launch->program, executable.machine);
        }
    }
    return error_set(error, "%s: too many levels of #! interpreters", launch->program);
}

/* The file that the command runs, and its instruction set. */
static bool find_program(char *const *command, struct launch *launch, int *exec_status,
                         struct error *error) {
    size_t count = 0;
    while (command[count])
        count++;
    if (!count) {
        error_set(error, "no command given");
        return refuse(exec_status, NOT_FOUND);
    }
    launch->arguments = calloc(count + 1, sizeof(char *));
    for (size_t i = 0; launch->arguments && i < count; i++)
        launch->arguments[i] = strdup(command[i]);
    int reason = command_find(command[0], launch->program, RING_PATH_BYTES);
    struct stat status;
    if (!reason && stat(launch->program, &status) == 0 && S_ISDIR(status.st_mode))
        reason = EISDIR;
    if (reason)
        return refuse(exec_status, command_refused(command[0], reason, error));
    snprintf(launch->named, sizeof launch->named, "%s",
             strchr(command[0], '/') ? command[0] : launch->program);
    return identify(launch, error) || refuse(exec_status, CANNOT_RUN);
}

bool trace_command_isa(char *const *command, enum isa *isa) {
    struct launch launch = {0};
    struct error error;
    int exec_status;
    const bool found = find_program(command, &launch, &exec_status, &error);
    *isa = launch.isa;
    launch_free(&launch);
    return found;
}

/* `emulator` as a command, for programs of an instruction set. */
static bool find_emulator(const char *emulator, enum isa isa, char path[RING_PATH_BYTES],
                          struct error *error) {
    char found[RING_PATH_BYTES];
    if (command_find(emulator, found, RING_PATH_BYTES) || !realpath(found, path))
        return error_set(error, "%s is not installed: apt install qemu-user (or make deps)",
                         emulator);
    if (emulator_lacks_plugins(path, EMULATORS[isa]))
        return error_set(
            error,
            "%s was built without plugins, as Debian 13 and Ubuntu 24.04 build it: build QEMU "
            "with --enable-plugins, and put it first in PATH",
            path);
    return true;
}

bool trace_emulator(enum isa isa, char path[PATH_MAX], struct error *error) {
    return find_emulator(EMULATORS[isa], isa, path, error);
}

bool launch_prepare(const struct capture_options *options, struct launch *launch, int *exec_status,
                    struct error *error) {
    memset(launch, 0, sizeof *launch);
    if (!find_program(options->command, launch, exec_status, error))
        goto failed;
    const char *emulator = options->qemu ? options->qemu : EMULATORS[launch->isa];
    if (!find_emulator(emulator, launch->isa, launch->emulator, error)) {
        refuse(exec_status, CANNOT_CAPTURE);
        goto failed;
    }
    if (!find_plugin(launch->plugin, error)) {
        refuse(exec_status, CANNOT_CAPTURE);
        goto failed;
    }
    if (options->objects && !find_allocations(launch, error)) {
        refuse(exec_status, CANNOT_CAPTURE);
        goto failed;
    }
    emulator_version(launch->emulator, EMULATORS[launch->isa], launch->version);
    return true;

failed:
    launch_free(launch);
    return false;
}

/* Its own: threads that simulate layouts take none, and a shell that waits needs SIGCHLD. */
static void unblock_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The command ends when culprit is killed. The thread that starts a capture lives until it is
 * closed: it is that thread's end, not the process's, that the kernel tells of. */
static void die_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it was killed before */
        _exit(CANNOT_CAPTURE);
}

bool launch_start(const struct capture_options *options, const struct launch *launch,
                  const struct ring_control *control, pid_t *pid, struct error *error) {
    struct emulator_command command = {0};
    int ends[2] = {-1, -1};
    const char *program = options->fixed ? launch->named : launch->program;
    char **fixed = options->fixed ? fixed_environment(program, launch->arguments,
                                                      options->variables, options->variable_count)
                                  : NULL;
    if ((options->fixed && !fixed) ||
        !emulator_command(control, program, launch->arguments, fixed ? fixed : environ, true,
                          &command) ||
        pipe2(ends, O_CLOEXEC) < 0) {
        emulator_command_free(&command);
        fixed_environment_free(fixed);
        return error_errno(error, "cannot start %s", launch->emulator);
    }
    const pid_t parent = getpid();
    *pid = fork();
    if (*pid == 0) {
        die_with(parent);
        for (int i = 0; i < 3; i++)
            if (options->descriptors[i] && dup2(options->descriptors[i], i) < 0)
                _exit(CANNOT_CAPTURE);
        if (options->harmless)
            descriptors_mute_inherited();
        if (options->fixed)
            unblock_signals();
        /* Load addresses must repeat as well. */
        if (control->repeatable)
            personality(ADDR_NO_RANDOMIZE);
        execve(launch->emulator, command.arguments, command.environment);
        int reason = errno;
        if (write(ends[1], &reason, sizeof reason) < 0)
            _exit(CANNOT_CAPTURE);
        _exit(CANNOT_CAPTURE);
    }
    int reason = *pid < 0 ? errno : 0;
    close(ends[1]);
    if (*pid > 0 && read(ends[0], &reason, sizeof reason) == sizeof reason)
        waitpid(*pid, NULL, 0);
    close(ends[0]);
    emulator_command_free(&command);
    fixed_environment_free(fixed);
    if (!reason)
        return true;
    errno = reason;
    return error_errno(error, "cannot start %s", launch->emulator);
}

void launch_free(struct launch *launch) {
    for (size_t i = 0; launch->arguments && launch->arguments[i]; i++)
        free(launch->arguments[i]);
    free(launch->arguments);
    launch->arguments = NULL;
}
