/* The emulator's command line, for the launcher and for the plugin, which runs it again when the
 * guest calls exec:
 *
 *   qemu-x86_64 -cpu max,-erms,-fsrm -plugin P [-seed N] [-s BYTES] [-E LD_...=...] -0 argv0
 * program args...
 *
 * Where the run is to be the same everywhere, the plugin is loaded into the emulator before all
 * else (LD_PRELOAD), for the time that it is asked for (plugin_repeat.c); the guest does not see
 * that.
 *
 * -cpu: the default CPU lacks AVX2; with ERMS glibc's string functions use `rep`, which the
 * emulator runs a hundred times slower. Variables that the emulator or its dynamic linker would
 * read (LD_*, QEMU_*) reach the guest only. Where allocations are to be told of, a library that
 * does is preloaded into the guest. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "isa/insn.h"
#include "trace/qemu/ring.h"

/* Of a run that is the same everywhere. The emulator maps whole pages for it, and the stack begins
 * where so many bytes end. */
enum { EMULATOR_STACK = 8 << 20 };
/* In place of no limit, for which the emulator has 8 MiB; it maps all of it. */
static const uint64_t EMULATOR_STACK_UNLIMITED = UINT64_C(1) << 30;

struct emulator_command {
    char **arguments, **environment; /* NULL-terminated; strings are borrowed from the inputs */
    char seed[24], stack[24];
    char *preload; /* into the guest; owned; or NULL */
    char *before;  /* into the emulator; owned; or NULL */
};

/* The emulator splits the values of -E at commas: such variables stay in its own environment. */
static inline bool emulator_reads(const char *variable) {
    return (strncmp(variable, "LD_", 3) == 0 || strncmp(variable, "QEMU_", 5) == 0) &&
           !strchr(variable, ',');
}

/* The variable with the library that tells of allocations in front of what the guest preloads
 * anyway, perhaps it, too. NULL: out of memory. */
static inline char *emulator_preload(const char *library, char *const *environment) {
    static const char NAME[] = "LD_PRELOAD=";
    const char *old = "";
    for (size_t i = 0; environment[i]; i++)
        if (strncmp(environment[i], NAME, sizeof NAME - 1) == 0)
            old = environment[i] + sizeof NAME - 1;
    const size_t size = sizeof NAME + strlen(library) + 1 + strlen(old);
    char *variable = malloc(size);
    if (variable)
        snprintf(variable, size, "%s%s%s%s", NAME, strstr(old, library) ? "" : library,
                 *old && !strstr(old, library) ? ":" : "", old);
    return variable;
}

/* Bytes of stack to ask for; 0: the emulator takes the limit of this process. */
static inline uint64_t emulator_stack(const struct ring_control *control) {
    struct rlimit limit;
    if (control->fixed)
        return EMULATOR_STACK - control->memory.stack_bytes;
    if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur != RLIM_INFINITY)
        return 0;
    const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return memory / 2 < EMULATOR_STACK_UNLIMITED ? memory / 2 : EMULATOR_STACK_UNLIMITED;
}

static inline bool emulator_command(const struct ring_control *control, const char *program,
                                    char *const *arguments, char *const *environment, bool traced,
                                    struct emulator_command *command) {
    size_t argument_count = 0, variable_count = 0;
    while (arguments[argument_count])
        argument_count++;
    while (environment[variable_count])
        variable_count++;
    command->preload = command->before = NULL;
    command->arguments = calloc(20 + argument_count + 2 * variable_count, sizeof(char *));
    command->environment = calloc(variable_count + 2, sizeof(char *));
    if (!command->arguments || !command->environment)
        return false;
    char **out = command->arguments;
    *out++ = (char *)control->emulator;
    if (control->isa == ISA_X86_64) {
        *out++ = "-cpu";
        *out++ = "max,-erms,-fsrm";
    }
    if (traced) {
        *out++ = "-plugin";
        *out++ = (char *)control->plugin;
    }
    if (control->repeatable) {
        snprintf(command->seed, sizeof command->seed, "%llu",
                 (unsigned long long)(control->seed & 0xffffffff));
        *out++ = "-seed";
        *out++ = command->seed;
    }
    const uint64_t stack = emulator_stack(control);
    if (stack) {
        snprintf(command->stack, sizeof command->stack, "%llu", (unsigned long long)stack);
        *out++ = "-s";
        *out++ = command->stack;
    }
    if (traced && control->allocations[0]) {
        command->preload = emulator_preload(control->allocations, environment);
        if (!command->preload)
            return false;
        *out++ = "-E";
        *out++ = command->preload;
    }
    char **kept = command->environment;
    if (traced && control->preload[0]) {
        if (asprintf(&command->before, "LD_PRELOAD=%s", control->preload) < 0) {
            command->before = NULL;
            return false;
        }
        *kept++ = command->before;
        if (!command->preload) { /* those of the guest come behind */
            *out++ = "-U";
            *out++ = "LD_PRELOAD";
        }
    }
    for (size_t i = 0; i < variable_count; i++) {
        if ((command->preload || (command->before && !emulator_reads(environment[i]))) &&
            strncmp(environment[i], "LD_PRELOAD=", 11) == 0)
            continue;
        if (emulator_reads(environment[i])) {
            *out++ = "-E";
            *out++ = environment[i];
        } else {
            *kept++ = environment[i];
        }
    }
    *out++ = "-0";
    *out++ = argument_count ? arguments[0] : "";
    *out++ = (char *)program;
    for (size_t i = 1; i < argument_count; i++)
        *out++ = arguments[i];
    return true;
}

static inline void emulator_command_free(struct emulator_command *command) {
    free(command->arguments);
    free(command->environment);
    free(command->preload);
    free(command->before);
}
