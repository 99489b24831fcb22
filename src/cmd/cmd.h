/* The verbs: the options of each, one study, one report (verb.h). Only here, and where a command
 * line is wrong (options/), does culprit print or exit. */
#pragma once

#define CULPRIT_VERSION "0.1"

struct verb;
extern const struct verb verb_annotate, verb_bbv, verb_compare, verb_contend, verb_daemon,
    verb_diff, verb_epochs, verb_calibrate, verb_explain, verb_fdo, verb_gate, verb_icost,
    verb_machines, verb_pipeline, verb_predict, verb_profilers, verb_record, verb_regions,
    verb_samples, verb_sharing, verb_sim, verb_stat, verb_sweep, verb_throughput, verb_top,
    verb_trace, verb_validate, verb_variance, verb_completion, verb_doctor, verb_work;
