/* The child waits on one pipe; another, closed by its exec, brings the reason when that fails. */
#include "live/command.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/command_path.h"
#include "util/descriptors.h"

static void take_descriptors(const int descriptors[3]) {
    for (int i = 0; i < 3; i++)
        if (descriptors[i] && dup2(descriptors[i], i) < 0)
            _exit(1);
    descriptors_mute_inherited();
}

static bool is_elf(const char *path) {
    char start[SELFMAG] = "";
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const bool is = file >= 0 && read(file, start, sizeof start) == sizeof start &&
                    memcmp(start, ELFMAG, SELFMAG) == 0;
    if (file >= 0)
        close(file);
    return is;
}

/* What the kernel refuses execvp() takes for a script of the shell: also a program for another
 * machine. */
static void execute(char *const *words) {
    char path[PATH_MAX];
    if (command_find(words[0], path, sizeof path) == 0 && is_elf(path))
        execv(path, words);
    else
        execvp(words[0], words);
}

static __attribute__((noreturn)) void become(char *const *words, const int *descriptors, int go,
                                             int refused) {
    char ready;
    if (read(go, &ready, 1) != 1)
        _exit(0);
    if (descriptors)
        take_descriptors(descriptors);
    /* What this program ignores would stay ignored. */
    signal(SIGPIPE, SIG_DFL);
    execute(words);
    int number = errno;
    if (write(refused, &number, sizeof number) != sizeof number)
        _exit(1);
    _exit(0);
}

bool command_start(struct command *command, char *const *words, const int descriptors[3],
                   struct error *error) {
    int go[2], refused[2];
    *command =
        (struct command){.pid = -1, .process = -1, .name = words[0], .go = -1, .refused = -1};
    if (pipe2(go, O_CLOEXEC) != 0)
        return error_errno(error, "starting %s", words[0]);
    if (pipe2(refused, O_CLOEXEC) != 0) {
        close(go[0]);
        close(go[1]);
        return error_errno(error, "starting %s", words[0]);
    }
    command->pid = fork();
    if (command->pid == 0) {
        close(go[1]);
        become(words, descriptors, go[0], refused[1]);
    }
    int number = errno;
    close(go[0]);
    close(refused[1]);
    command->go = go[1];
    command->refused = refused[0];
    if (command->pid > 0) {
        command->process = (int)syscall(SYS_pidfd_open, command->pid, 0);
        return true;
    }
    command_close(command);
    errno = number;
    return error_errno(error, "starting %s", words[0]);
}

bool command_go(struct command *command, int *exec_status, struct error *error) {
    int number = 0;
    ssize_t got = -1;
    if (write(command->go, "g", 1) == 1)
        while ((got = read(command->refused, &number, sizeof number)) < 0 && errno == EINTR)
            continue;
    if (got == 0)
        return true;
    waitpid(command->pid, NULL, 0);
    command->pid = -1;
    const int reason = got == sizeof number ? number : EIO;
    *exec_status = command_refused(command->name, reason, error);
    return false;
}

void command_close(struct command *command) {
    if (command->go >= 0)
        close(command->go);
    if (command->refused >= 0)
        close(command->refused);
    if (command->process >= 0)
        close(command->process);
    command->go = command->refused = command->process = -1;
}
