/* The verbs: the options of each, one study, one report (verb.h). Only here does culprit print or
 * exit. */
#ifndef CULPRIT_CMD_CMD_H
#define CULPRIT_CMD_CMD_H

#define CULPRIT_VERSION "0.1"

struct verb;
extern const struct verb verb_contend, verb_predict, verb_throughput;
int cmd_annotate(int argc, char **argv);
int cmd_bbv(int argc, char **argv);
int cmd_daemon(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_epochs(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_icost(int argc, char **argv);
int cmd_machines(int argc, char **argv);
int cmd_profilers(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_regions(int argc, char **argv);
int cmd_samples(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_variance(int argc, char **argv);

/* Exit statuses. Of a verb that runs a command it is the command's own, or STATUS_BROKEN. */
enum {
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_BROKEN = 125, /* culprit failed, not the command */
    STATUS_CANNOT_RUN = 126,
    STATUS_NOT_FOUND = 127
};

#endif
