/* exec: QEMU's user mode would run the new program natively, out of sight. In a process that is
 * traced the emulator is executed again here, in the system-call callback, with the new program as
 * its argument; an exec that would fail, or cannot be followed, is left to QEMU, so that the guest
 * sees what it would see natively. */
#include "trace/qemu/plugin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "program/program.h"
#include "trace/qemu/emulator.h"

enum { MAX_INTERPRETERS = 4, MAX_STRINGS = 1 << 20 };

/* ---- its arguments ---- */

static void free_strings(char **strings) {
    for (size_t i = 0; strings && strings[i]; i++)
        free(strings[i]);
    free(strings);
}

/* A NULL-terminated array of strings; a null pointer is an empty one, as for the kernel. */
static char **read_strings(uint64_t address) {
    size_t count = 0, capacity = 16;
    char **strings = calloc(capacity, sizeof *strings);
    if (!strings)
        return NULL;
    for (uint64_t at; address && count < MAX_STRINGS; count++) {
        if (!guest_read(address + 8 * count, &at, sizeof at))
            goto failed;
        if (!at)
            break;
        if (count + 2 > capacity) {
            char **grown = realloc(strings, 2 * capacity * sizeof *strings);
            if (!grown)
                goto failed;
            memset(grown + capacity, 0, capacity * sizeof *strings);
            strings = grown;
            capacity *= 2;
        }
        strings[count] = guest_read_string(at);
        if (!strings[count])
            goto failed;
    }
    return strings;

failed:
    free_strings(strings);
    return NULL;
}

/* ---- which file ---- */

/* Path of the program for the emulator to open. False: leave it to QEMU. */
static bool resolve(const struct exec_call *call, const char *name, char path[RING_PATH_BYTES]) {
    int written;
    if (strcmp(name, "/proc/self/exe") == 0) { /* would be the emulator */
        const char *own = interface_program();
        written = snprintf(path, RING_PATH_BYTES, "%s", own ? own : "");
    } else if (*name == '/' || (call->folder == AT_FDCWD && *name)) {
        written = snprintf(path, RING_PATH_BYTES, "%s", name);
    } else if (*name) {
        written = snprintf(path, RING_PATH_BYTES, "/proc/self/fd/%d/%s", call->folder, name);
    } else if (call->flags & AT_EMPTY_PATH) {
        written = snprintf(path, RING_PATH_BYTES, "/proc/self/fd/%d", call->folder);
    } else {
        return false;
    }
    return written > 0 && written < RING_PATH_BYTES &&
           faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* Follows "#!" lines: puts interpreters before the arguments. */
static bool resolve_script(char path[RING_PATH_BYTES], char ***arguments,
                           struct executable *executable) {
    struct error error;
    for (int i = 0; i <= MAX_INTERPRETERS; i++) {
        if (!executable_identify(path, executable, &error))
            return false;
        if (executable->kind != EXECUTABLE_SCRIPT)
            return true;
        if (!executable_interpret(executable, path, arguments))
            return false;
        snprintf(path, RING_PATH_BYTES, "%s", executable->interpreter);
        if (access(path, X_OK) != 0)
            return false;
    }
    return false;
}

static bool gains_privileges(const char *path, const struct executable *executable) {
    return executable->set_user_id || getxattr(path, "security.capability", NULL, 0) > 0;
}

static bool is_reachable(void) {
    int file = open(plugin.control->shared, O_RDWR | O_CLOEXEC);
    if (file >= 0)
        close(file);
    return file >= 0;
}

static void tell_untraced(enum ring_untraced reason, const char *path) {
    struct ring_untraced_process record = {.record.kind = RING_UNTRACED,
                                           .pid = (uint32_t)getpid(),
                                           .parent = plugin.number,
                                           .reason = reason};
    process_put(&record.record, sizeof record, path, strlen(path) + 1);
    process_ring_doorbell();
}

/* ---- the call ---- */

static void execute(const char *path, char *const *arguments, char *const *environment,
                    bool traced) {
    struct emulator_command command;
    if (emulator_command(plugin.control, path, arguments, environment, traced, &command))
        execve(plugin.control->emulator, command.arguments, command.environment);
    emulator_command_free(&command);
}

/* Whether the new program, the process's next generation, can be followed. False: the reason has
 * been reported. */
static bool may_follow(const char *path, const struct executable *executable, bool same_isa) {
    if (same_isa && !gains_privileges(path, executable) && is_reachable())
        return true;
    tell_untraced(!same_isa                            ? RING_OTHER_MACHINE
                  : gains_privileges(path, executable) ? RING_SET_USER_ID
                                                       : RING_UNREACHABLE,
                  path);
    return false;
}

void exec_follow(unsigned vcpu, const struct exec_call *call) {
    struct ring_control *control = plugin.control;
    char path[RING_PATH_BYTES];
    struct executable executable;
    char *name = guest_read_string(call->name);
    char **arguments = read_strings(call->arguments);
    char **environment = read_strings(call->environment);
    if (!name || !arguments || !environment || !resolve(call, name, path))
        goto left_to_qemu; /* where it fails */
    if (!resolve_script(path, &arguments, &executable)) {
        effect_of_exec(vcpu, path);
        goto left_to_qemu;
    }
    bool listening = plugin.slot != NO_SLOT && !atomic_load(&control->detached);
    bool same_isa =
        executable.kind == (control->isa == ISA_X86_64 ? EXECUTABLE_X86_64 : EXECUTABLE_RISCV64);
    process_tell_exec(path);
    bool traced = listening && atomic_load(&control->phase) != RING_DONE &&
                  may_follow(path, &executable, same_isa);
    if (!traced)
        effect_of_exec(vcpu, path);
    thread_publish();
    struct thread_unused unused = thread_before_exec();
    /* A foreign program needs the emulator even untraced. */
    if (traced || (same_isa && control->isa != ISA_X86_64))
        execute(path, arguments, environment, traced);
    thread_exec_failed(&unused);

left_to_qemu:
    free(name);
    free_strings(arguments);
    free_strings(environment);
}
