/* What is known of a design from earlier: files of a folder, each written whole or not at all. A
 * file that cannot be read as what it should be is as if it were not there. */
#pragma once

#include <xxhash.h>

#include "machine/machine.h"
#include "study/design.h"

/* Two at once in one folder would write the same files: *lock, a descriptor, keeps others out until
 * it is closed. Where there are no locks at all nobody is kept out. */
bool design_lock(const char *folder, int *lock, struct error *error);
/* The name of what depends on what was hashed. */
void design_key(XXH128_hash_t hash, char key[DESIGN_KEY]);
/* Adds a machine as a whole. */
bool design_hash_machine(XXH3_state_t *state, const struct machine *machine, struct error *error);
/* Adds all that a regular file holds from `from` on. */
bool design_hash_file(XXH3_state_t *state, const char *path, struct error *error);
bool design_hash_descriptor(XXH3_state_t *state, int descriptor, off_t from);

/* KEY.capture.json of the folder. */
bool design_kept_capture(const char *folder, const char *key, struct design_capture *capture);
bool design_keep_capture(const char *folder, const char *key, const struct design_capture *capture,
                         struct error *error);
/* KEY.point.json. */
#define DESIGN_POINT_ENDING ".point.json"
bool design_kept_point(const char *folder, const char *key, struct design_result *result);
bool design_keep_point(const char *folder, const char *key, const struct design_result *result,
                       struct error *error);
