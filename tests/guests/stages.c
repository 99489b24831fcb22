/* Works on memory, then does argv[1] (file: makes the file argv[2]; thread; fork), which works too,
 * then works again. */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 1000000 };

static void work(volatile unsigned char *memory) {
    for (unsigned i = 0; i < ROUNDS; i++)
        memory[i % 4096]++;
}

static void *thread(void *unused) {
    static volatile unsigned char memory[4096];
    work(memory);
    return unused;
}

int main(int argc, char **argv) {
    static volatile unsigned char memory[4096];
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t other;
    work(memory);
    if (strcmp(what, "file") == 0 && argc > 2)
        close(open(argv[2], O_CREAT | O_WRONLY, 0600));
    if (strcmp(what, "thread") == 0 && pthread_create(&other, NULL, thread, NULL) == 0)
        pthread_join(other, NULL);
    if (strcmp(what, "fork") == 0 && fork() == 0) {
        work(memory);
        _exit(0);
    }
    wait(NULL);
    work(memory);
    return 0;
}
