/* Critical path, slack and loads in `culprit icost`: their options, and what is found. */
#ifndef CULPRIT_CMD_ICOST_PATH_H
#define CULPRIT_CMD_ICOST_PATH_H

#include "cmd/option.h"

#include "report/inspection_report.h"
#include "report/report.h"
#include "simulate/simulate.h"

struct path_choice {
    unsigned parts; /* enum inspection_part; 0: none */
    uint32_t loads;
};
extern const struct option_group path_group; /* of a struct path_choice */

/* Of one program. */
struct icost_path;
/* NULL with an error. */
struct icost_path *icost_path_new(const struct path_choice *choice, const struct machine *machine,
                                  enum isa isa, struct error *error);
struct simulation_observer icost_path_observer(struct icost_path *path);
/* After the simulation, also an interrupted one. `code` must outlive what icost_path_report()
 * gives; `top` and `threshold` are those of its tables and readings. */
bool icost_path_finish(struct icost_path *path, const struct code *code, uint32_t top,
                       double threshold, struct error *error);
const struct inspection_report *icost_path_report(const struct icost_path *path);
/* Adds to the notes what the pieces are worth, against the cycles of the whole run; `of`: " of
 * LABEL" or "". False: out of memory. */
bool icost_path_note(const struct icost_path *path, struct report *report, uint64_t cycles,
                     const char *of);
void icost_path_free(struct icost_path *path);

#endif
