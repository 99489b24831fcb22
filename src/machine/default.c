/* $CULPRIT_MACHINE stands for the host's processor, so it is the default for the programs that it
 * is a fair model of (`isa` of its file), and others have theirs. */
#include "machine/default.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/find.h"

static const char *const FIXED[ISA_COUNT] = {[ISA_X86_64] = "zen4", [ISA_RISCV64] = "boom-tea"};
static const char *const ISA_NAMES[ISA_COUNT] = {
    [ISA_X86_64] = "x86-64", [ISA_RISCV64] = "riscv64"};

static void set(struct machine_default *machine, const char *name, enum machine_by by,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

static void set(struct machine_default *machine, const char *name, enum machine_by by,
                const char *format, ...) {
    struct machine_choice_reason *reason = &machine->reason;
    const size_t before = strlen(reason->why);
    snprintf(machine->name, sizeof machine->name, "%s", name);
    reason->by = by;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason->why + before, sizeof reason->why - before, format, arguments);
    va_end(arguments);
}

bool machine_host_file(char path[PATH_MAX]) {
    char directory[PATH_MAX];
    return find_own_directory(directory) &&
           snprintf(path, PATH_MAX, "%s/host.ini", directory) < PATH_MAX;
}

/* Whether programs of `isa` have the machine of $CULPRIT_MACHINE; false with an error, too. */
static bool by_environment(enum isa isa, struct machine_default *machine, struct error *error) {
    const char *name = getenv("CULPRIT_MACHINE");
    struct machine named;
    if (!name || !*name)
        return false;
    if (strlen(name) >= sizeof machine->name)
        return error_set(error, "CULPRIT_MACHINE: the path is too long");
    if (!machine_load(name, &named, error))
        return error_prefix(error, "CULPRIT_MACHINE");
    if (strcmp(named.isa, "any") != 0 && strcmp(named.isa, ISA_NAMES[isa]) != 0)
        return false;
    set(machine, name, MACHINE_BY_ENVIRONMENT, "CULPRIT_MACHINE names it");
    return true;
}

/* What the description at the path was calibrated on, when that is not this processor. What is
 * wrong with a description is told when it is chosen. */
static bool is_of_another(const char *path, const struct processor *processor,
                          char kind[PROCESSOR_KIND]) {
    struct machine described;
    struct error error;
    char this[PROCESSOR_KIND];
    processor_kind(processor, this);
    if (!machine_load(path, &described, &error) || !*described.processor || !*this)
        return false;
    snprintf(kind, PROCESSOR_KIND, "%s", described.processor);
    return strcmp(kind, this) != 0;
}

/* One that may not be read, or is of another processor, is passed over, which the reason tells. */
static bool by_calibration(const struct processor *processor, struct machine_default *machine) {
    char path[PATH_MAX], kind[PROCESSOR_KIND];
    if (!machine_host_file(path))
        return false;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const char *distrust = file >= 0                             ? find_distrust(file)
                           : errno == ENOENT || errno == ENOTDIR ? ""
                                                                 : strerror(errno);
    if (file >= 0)
        close(file);
    if (distrust && *distrust)
        snprintf(machine->reason.why, sizeof machine->reason.why, "%.200s is not read (%s); ", path,
                 distrust);
    if (distrust)
        return false;
    if (is_of_another(path, processor, kind)) {
        snprintf(machine->reason.why, sizeof machine->reason.why,
                 "%.200s is of another processor (%s); ", path, kind);
        return false;
    }
    set(machine, path, MACHINE_BY_CALIBRATION, "%.200s describes this host", path);
    return true;
}

/* What the reason says of a processor whose model is that of another core. */
static void tell_features(const struct processor *processor, char told[80]) {
    const struct processor_row *of_model = processor_of_model(processor);
    *told = '\0';
    if (of_model && of_model != processor_find(processor))
        snprintf(told, 80, " by its features, though its model is %s's", of_model->core);
}

/* `whose` processor it is: "this processor". */
static void by_processor(const struct processor *processor, const char *whose,
                         struct machine_default *machine) {
    const struct processor_row *row = processor_find(processor);
    char kind[PROCESSOR_KIND], told[80];
    processor_kind(processor, kind);
    tell_features(processor, told);
    if (row)
        set(machine, row->machine, row->described ? MACHINE_BY_PROCESSOR : MACHINE_BY_NEAREST,
            "%s %s, %s%s (family %02Xh, model %02Xh)",
            row->described ? "it describes" : "the nearest to", whose, row->core, told,
            processor->family, processor->model);
    else if (*processor->vendor)
        set(machine, FIXED[ISA_X86_64], MACHINE_BY_ARCHITECTURE, "no machine is near %s, %s", whose,
            kind);
    else
        set(machine, FIXED[ISA_X86_64], MACHINE_BY_ARCHITECTURE, "the default for %s programs",
            ISA_NAMES[ISA_X86_64]);
}

static void by_architecture(enum isa isa, struct machine_default *machine) {
    set(machine, FIXED[isa], MACHINE_BY_ARCHITECTURE, "the default for %s programs",
        ISA_NAMES[isa]);
}

void machine_default_elsewhere(enum isa isa, const struct processor *processor,
                               struct machine_default *machine) {
    machine->reason.why[0] = 0;
    if (isa != ISA_X86_64)
        by_architecture(isa, machine);
    else
        by_processor(processor, "the processor that ran this", machine);
}

void machine_default_everywhere(enum isa isa, struct machine_default *machine) {
    machine->reason.why[0] = 0;
    set(machine, FIXED[isa], MACHINE_BY_ARCHITECTURE,
        "the same on every host for %s programs (--repeatable, --layouts, compare, gate, sweep)",
        ISA_NAMES[isa]);
}

bool machine_default_of(enum isa isa, const struct processor *processor,
                        struct machine_default *machine, struct error *error) {
    error->message[0] = machine->reason.why[0] = 0;
    if (by_environment(isa, machine, error))
        return true;
    if (error->message[0])
        return false;
    if (isa != ISA_X86_64)
        by_architecture(isa, machine);
    else if (!by_calibration(processor, machine))
        by_processor(processor, "this processor", machine);
    return true;
}
