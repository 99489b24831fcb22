/* dies HOW: abort, kill, null, divide, leave (in the middle of work of other threads), spin. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned long counter;

static void *spin(void *unused) {
    for (;;)
        counter++;
    return unused;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    puts("before");
    fflush(stdout);
    for (int i = 0; i < 100000; i++)
        counter++;
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(how, "null"))
        *(volatile int *)0 = 1;
    if (!strcmp(how, "divide"))
        counter = counter / (counter - 100000);
    if (!strcmp(how, "leave")) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, spin, NULL);
        usleep(20000);
        _exit(9);
    }
    if (!strcmp(how, "spin")) { /* then leaves a file behind */
        for (unsigned long i = 0; i < 200000000; i++)
            counter++;
        FILE *file = fopen(argv[2], "w");
        if (file)
            fclose(file);
    }
    return 0;
}
