/* See upgrade.h. */
#include "model/upgrade.h"

#include <stdio.h>

#include "model/predict.h"

/* Changes one figure of the upgrade's machine; false: a machine cannot have that. */
static bool set(struct upgrade *upgrade, const char *section, const char *key, uint64_t value) {
    struct error error;
    if (upgrade->setting_count == UPGRADE_SETTINGS)
        return false;
    char *setting = upgrade->settings[upgrade->setting_count];
    snprintf(setting, sizeof upgrade->settings[0], "%s.%s=%llu", section, key,
             (unsigned long long)value);
    upgrade->setting_count++;
    return machine_set(&upgrade->machine, setting, &error);
}

/* 0 stays: unlimited. */
static bool grow(struct upgrade *upgrade, const char *section, const char *key, uint64_t value) {
    return value == 0 || set(upgrade, section, key, value * upgrade->times);
}

/* Registers beyond the 32 of the architecture are what a window needs. */
static bool grow_registers(struct upgrade *upgrade, const char *key, uint64_t value) {
    enum { ARCHITECTURE = 32 };
    return value <= ARCHITECTURE ||
           set(upgrade, "core", key, ARCHITECTURE + (value - ARCHITECTURE) * upgrade->times);
}

static bool grow_window(struct upgrade *upgrade, const struct machine *from) {
    const struct machine_core *core = &from->core;
    bool good = grow(upgrade, "core", "rob", core->rob) &&
                grow(upgrade, "core", "load_queue", core->load_queue) &&
                grow(upgrade, "core", "store_queue", core->store_queue) &&
                grow(upgrade, "core", "outstanding_branches", core->outstanding_branches) &&
                grow(upgrade, "core", "fetch_target_queue", core->fetch_target_queue) &&
                grow_registers(upgrade, "int_registers", core->int_registers) &&
                grow_registers(upgrade, "fp_registers", core->fp_registers);
    for (uint32_t i = 0; good && i < from->queue_count; i++) {
        char section[32];
        snprintf(section, sizeof section, "queue.%s", from->queues[i].name);
        good = grow(upgrade, section, "entries", from->queues[i].entries);
    }
    return good;
}

static bool grow_mshrs(struct upgrade *upgrade, const struct machine *from) {
    return grow(upgrade, "l1d", "mshrs", from->l1d.mshrs) &&
           (!from->l2.present || grow(upgrade, "l2", "mshrs", from->l2.mshrs)) &&
           (!from->llc.present || grow(upgrade, "llc", "mshrs", from->llc.mshrs)) &&
           (!from->dram.banked || grow(upgrade, "dram", "queue", from->dram.queue));
}

/* The figures that the model takes of a machine; false: it takes none. */
static bool figures(const struct machine *machine, struct hybrid_config *config) {
    struct error error;
    return machine_check(machine, &error) &&
           predict_config(machine, &predict_refinements[PREDICT_REFINEMENTS - 1], config, &error);
}

static bool enlarge(struct upgrade *upgrade, const struct machine *from, enum upgrade_kind kind,
                    uint32_t times) {
    static const char *const NAMES[] = {"rob", "mshrs", "rob+mshrs"};
    struct hybrid_config now, then;
    *upgrade =
        (struct upgrade){.kind = kind, .times = times, .name = NAMES[kind], .machine = *from};
    if (!figures(from, &now) || (kind != UPGRADE_WINDOW && now.mshrs == 0))
        return false;
    if ((kind != UPGRADE_MSHRS && !grow_window(upgrade, from)) ||
        (kind != UPGRADE_WINDOW && !grow_mshrs(upgrade, from)) ||
        !figures(&upgrade->machine, &then))
        return false;
    upgrade->now = kind == UPGRADE_WINDOW ? now.rob : kind == UPGRADE_MSHRS ? now.mshrs : 0;
    upgrade->then = kind == UPGRADE_WINDOW ? then.rob : kind == UPGRADE_MSHRS ? then.mshrs : 0;
    return true;
}

static bool prefetch(struct upgrade *upgrade, const struct machine *from, const char *name) {
    struct error error;
    struct hybrid_config then;
    *upgrade = (struct upgrade){
        .kind = UPGRADE_PREFETCHER, .times = 1, .name = name, .setting_count = 1, .machine = *from};
    snprintf(upgrade->settings[0], sizeof upgrade->settings[0], "l1d.prefetcher=%s", name);
    return machine_set(&upgrade->machine, upgrade->settings[0], &error) &&
           figures(&upgrade->machine, &then);
}

uint32_t upgrades_of(const struct machine *machine, struct upgrade upgrades[UPGRADES_MOST]) {
    const enum prefetcher_kind has = machine->l1d.prefetcher;
    uint32_t count = 0;
    for (enum upgrade_kind kind = UPGRADE_WINDOW; kind <= UPGRADE_BOTH; kind++)
        for (uint32_t times = 2; times <= 4; times *= 2)
            count += enlarge(&upgrades[count], machine, kind, times);
    if (has == PREFETCH_NONE)
        count += prefetch(&upgrades[count], machine, "next_line");
    if (has != PREFETCH_TAGGED)
        count += prefetch(&upgrades[count], machine, "tagged");
    if (has != PREFETCH_STRIDE)
        count += prefetch(&upgrades[count], machine, "stride");
    return count;
}
