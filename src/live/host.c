/* Which machine this is, for the head of a session. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "live/resolver.h"
#include "machine/processor.h"

/* "model name : AMD EPYC 7763" of /proc/cpuinfo; other architectures have other names for it. */
static void read_processor(char *processor, size_t size) {
    static const char *const KEYS[] = {"model name", "uarch", "Model"};
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && !*processor && fgets(line, sizeof line, file))
        for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
            const char *colon = strchr(line, ':');
            if (!colon || strncmp(line, KEYS[i], strlen(KEYS[i])) != 0)
                continue;
            colon += 1 + strspn(colon + 1, " \t");
            snprintf(processor, size, "%.*s", (int)strcspn(colon, "\n"), colon);
            break;
        }
    if (file)
        fclose(file);
}

/* Behind the name, "(AuthenticAMD family 19h, model 11h)": processors of different kinds have the
 * same name in virtual machines. */
static void add_kind(char *text, size_t size) {
    struct processor processor;
    char kind[PROCESSOR_KIND];
    processor_read(&processor);
    processor_kind(&processor, kind);
    const size_t length = strlen(text);
    if (*kind)
        snprintf(text + length, size - length, " (%s)", kind);
}

void live_host_read(struct live_host *host) {
    struct utsname system;
    *host = (struct live_host){0};
    if (uname(&system) == 0) {
        snprintf(host->name, sizeof host->name, "%s", system.nodename);
        snprintf(host->kernel, sizeof host->kernel, "%s", system.release);
        snprintf(host->processor, sizeof host->processor, "%s", system.machine);
    }
    char processor[sizeof host->processor] = "";
    read_processor(processor, sizeof processor);
    if (processor[0])
        memcpy(host->processor, processor, sizeof processor);
    add_kind(host->processor, sizeof host->processor);
}
