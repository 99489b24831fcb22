/* timers alarm|profile SECONDS...: sets the alarm, or the timer of processor time, to so many
 * seconds, one after the other; 0 stops it. */
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    for (int i = 2; i < argc; i++) {
        const struct itimerval timer = {.it_value.tv_sec = atoi(argv[i])};
        if (!strcmp(argv[1], "alarm"))
            alarm((unsigned)timer.it_value.tv_sec);
        else
            setitimer(ITIMER_PROF, &timer, NULL);
    }
    return 0;
}
