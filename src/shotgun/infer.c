/* Samples with bit 2 are sorted into classes by counting. Of a large class only a part is looked
 * at, from a random sample on. */
#include "shotgun/infer.h"

#include <stdlib.h>

#include "util/random.h"

enum { LOOKED_AT = 2048 };

static uint16_t cycles(double count) {
    return count < GRAPH_FAR ? (uint16_t)count : GRAPH_FAR;
}

/* Cycles beyond the L1 of an access that misses it, and, if `far`, the L2. */
static uint16_t machine_miss(const struct machine *machine, uint32_t l1_latency, bool far) {
    double beyond = machine->l2.present ? machine->l2.latency : 0;
    if (far && machine->llc.present) {
        beyond = machine->llc.latency;
    } else if (far || !machine->l2.present) {
        const struct machine_dram *dram = &machine->dram;
        double row = dram->clock_ghz > 0 ? (dram->tcl + dram->trcd) / dram->clock_ghz : 0;
        beyond += dram->banked ? dram->base_latency + row * machine->clock_ghz : dram->latency;
    }
    return cycles(beyond > l1_latency ? beyond - l1_latency : 0);
}

static enum insn_kind kind_of(const struct shotgun_code *code, uint32_t number) {
    const struct static_insn *insn = shotgun_insn(code, number);
    enum insn_kind kind = KIND_OTHER;
    if (insn->branch != BRANCH_NONE)
        return KIND_BRANCH;
    for (uint32_t i = 0; i < insn->uop_count; i++) {
        uint8_t operation = code->code.uops[insn->first_uop + i].operation;
        if (operation == OP_LOAD)
            return KIND_LOAD;
        if (operation == OP_STORE)
            kind = KIND_STORE;
    }
    return kind;
}

static uint32_t class_of(const struct shotgun_code *code, uint32_t insn, unsigned signature) {
    return (uint32_t)kind_of(code, insn) * 2 + (signature & SIGNATURE_1 ? 1 : 0);
}

bool shotgun_inference_new(struct shotgun_inference *inference,
                           const struct shotgun_database *database, const struct shotgun_code *code,
                           const struct machine *machine) {
    *inference = (struct shotgun_inference){
        .database = database,
        .code = code,
        .members = malloc((database->sample_count + 1) * sizeof(uint32_t)),
        .fetch_miss = machine_miss(machine, machine->l1i.latency, false),
        .near_miss = machine_miss(machine, machine->l1d.latency, false),
        .far_miss = machine_miss(machine, machine->l1d.latency, true),
        .far_level = machine->llc.present ? LEVEL_LLC : LEVEL_DRAM};
    if (!inference->members)
        return false;
    size_t count = 0;
    for (uint32_t class = 0; class < KIND_CLASSES; class ++) {
        inference->first[class] = count;
        for (size_t i = 0; i < database->sample_count; i++) {
            const struct shotgun_sample *sample = &database->samples[i];
            unsigned own = context_own(sample->context);
            if (own & SIGNATURE_2 && class_of(code, sample->insn, own) == class)
                inference->members[count++] = (uint32_t)i;
        }
    }
    inference->first[KIND_CLASSES] = count;
    return true;
}

void shotgun_inference_free(struct shotgun_inference *inference) {
    free(inference->members);
    inference->members = NULL;
}

/* The sample of the class that has most bits in common. NULL: there is none. */
static const struct shotgun_sample *most_alike(const struct shotgun_inference *inference,
                                               uint32_t class, uint64_t context, uint64_t there,
                                               uint64_t *random) {
    size_t first = inference->first[class], count = inference->first[class + 1] - first;
    size_t start = (size_t)(random_fraction(random) * (double)count);
    const struct shotgun_sample *best = NULL;
    unsigned most = 0;
    for (size_t i = 0; i < count && i < LOOKED_AT; i++) {
        size_t at = first + (start + i) % count;
        const struct shotgun_sample *sample = &inference->database->samples[inference->members[at]];
        unsigned alike = context_match(sample->context, context, there);
        if (!best || alike > most) {
            best = sample;
            most = alike;
        }
    }
    return best;
}

/* What happened to a sampled instruction. */
static struct inferred_events events_of(const struct shotgun_inference *inference,
                                        const struct shotgun_sample *sample) {
    const struct shotgun_uop *uops = inference->database->uops + sample->first_uop;
    struct inferred_events events = {.fetch_cache = uops->fetch_cache,
                                     .fetch_tlb = uops->fetch_tlb};
    for (uint32_t i = 0; i < sample->uop_count; i++) {
        events.mispredicted |= (uops[i].flags & GRAPH_MISPREDICTED) != 0;
        uint32_t beyond = uops[i].miss + uops[i].walk, most = events.miss + events.walk;
        if (beyond < most || (beyond == 0 && events.level))
            continue;
        events.miss = uops[i].miss;
        events.level = uops[i].level;
        events.walk = uops[i].walk;
    }
    return events;
}

struct inferred_events shotgun_infer(const struct shotgun_inference *inference, uint32_t insn,
                                     uint64_t context, uint64_t there, uint64_t *random) {
    struct inferred_events events = {0};
    unsigned signature = context_own(context);
    if (!(signature & SIGNATURE_2))
        return events;
    bool far = !(signature & SIGNATURE_1);
    enum insn_kind kind = kind_of(inference->code, insn);
    const struct shotgun_sample *sample =
        most_alike(inference, class_of(inference->code, insn, signature), context, there, random);
    if (sample)
        return events_of(inference, sample);
    if (kind == KIND_LOAD) {
        events.miss = far ? inference->far_miss : inference->near_miss;
        events.level = far ? inference->far_level : LEVEL_L2;
    } else if (kind == KIND_BRANCH) {
        events.mispredicted = true;
    } else {
        events.fetch_cache = inference->fetch_miss;
    }
    return events;
}
