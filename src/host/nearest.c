#include "host/nearest.h"

#include <string.h>

#include "machine/machine.h"

/* By vendor, family and models; the machines of each, best first. */
static const struct kind {
    const char *vendor;
    uint32_t family, first_model, last_model;
    const char *machines[4];
} KINDS[] = {
    {"AuthenticAMD", 26, 0, 255, {"zen5", "zen4"}},
    {"AuthenticAMD", 25, 0x10, 0x1f, {"zen4"}},
    {"AuthenticAMD", 25, 0x60, 0xaf, {"zen4"}},
    {"AuthenticAMD", 25, 0, 255, {"zen3", "zen4"}},
    {"AuthenticAMD", 0, 0, UINT32_MAX, {"zen3", "zen4"}},
    {"GenuineIntel", 6, 0x6a, 0x6c, {"icelake-server", "sapphire-rapids"}},
    {"GenuineIntel", 6, 0x7d, 0x7e, {"icelake-server", "sapphire-rapids"}},
    {"GenuineIntel", 0, 0, UINT32_MAX, {"sapphire-rapids", "icelake-server"}},
};

static bool exists(const char *name) {
    char path[4096];
    struct error error;
    return machine_find(name, path, sizeof path, &error);
}

const char *host_nearest_machine(const struct host_processor *processor) {
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        const struct kind *kind = &KINDS[i];
        if (strcmp(kind->vendor, processor->vendor) ||
            (kind->family && kind->family != processor->family) ||
            processor->model_number < kind->first_model ||
            processor->model_number > kind->last_model)
            continue;
        for (const char *const *name = kind->machines; *name; name++)
            if (exists(*name))
                return *name;
    }
    return "zen4";
}
