#include "simulate/slice_recorder.h"

#include <inttypes.h>
#include <string.h>

bool slice_recorder_begin(struct slice_recorder *recorder, const struct slicing *slicing,
                          uint32_t thread, struct error *error) {
    *recorder = (struct slice_recorder){
        .slicing = slicing, .thread = thread, .end = slicing_next(slicing, thread, 0)};
    return (recorder->golden = golden_new()) ||
           error_set(error, "out of memory for the slices of thread %" PRIu32, thread);
}

void slice_recorder_free(struct slice_recorder *recorder) {
    golden_free(recorder->golden);
}

void slice_recorder_read(struct slice_recorder *recorder, struct slice_record *record) {
    struct oracle_result oracle;
    uint64_t units[PSV_COMBINATIONS], gained[PSV_COMBINATIONS];
    golden_counted(recorder->golden, &oracle);
    pics_by_signature(golden_profile(recorder->golden), units);
    for (int psv = 0; psv < PSV_COMBINATIONS; psv++)
        gained[psv] = units[psv] - recorder->units[psv];
    parts_of(gained, record->parts);
    for (int state = 0; state < STATE_COUNT; state++)
        record->states[state] = oracle.states[state] - recorder->states[state];
    memcpy(recorder->units, units, sizeof units);
    memcpy(recorder->states, oracle.states, sizeof recorder->states);
    recorder->first = recorder->position;
    recorder->end = slicing_next(recorder->slicing, recorder->thread, recorder->position);
}

bool slice_recorder_move(struct slice_recorder *recorder, struct oracle_result *total,
                         struct pics *golden) {
    struct oracle_result result;
    golden_counted(recorder->golden, &result);
    oracle_result_add(total, &result);
    return pics_move(golden, golden_profile(recorder->golden), 1);
}

void oracle_result_add(struct oracle_result *total, const struct oracle_result *more) {
    total->cycles += more->cycles;
    for (int state = 0; state < STATE_COUNT; state++)
        total->states[state] += more->states[state];
    total->instructions += more->instructions;
    total->uops += more->uops;
}
