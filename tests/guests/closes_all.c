/* closes_all FILE: closes every descriptor, then opens FILE, forks, and both write. */
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    for (int i = 0; i < 1024; i++)
        close(i);
    int first = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int second = open(argv[1], O_WRONLY | O_APPEND);
    if (first != 0 || second != 1)
        return 3;
    for (int i = 0; i < 1000; i++)
        if (write(second, "line\n", 5) != 5)
            return 4;
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 1000; i++)
            if (write(second, "kid.\n", 5) != 5)
                _exit(4);
        _exit(0);
    }
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 5;
}
