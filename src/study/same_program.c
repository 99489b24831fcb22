/* The file is looked up each time as running the command does, and its contents are compared by
 * their hashes: a copy of the same bytes is the same program, whatever its inode and times. */
#include "study/same_program.h"

#include <limits.h>

#include "study/design_kept.h"
#include "util/command_path.h"

static bool hash(const char *name, char path[PATH_MAX], XXH128_hash_t *contents) {
    struct error ignored;
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return false;
    XXH3_128bits_reset(state);
    const bool good =
        !command_find(name, path, PATH_MAX) && design_hash_file(state, path, &ignored);
    *contents = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    return good;
}

void same_program_note(struct same_program *program, const char *name) {
    char path[PATH_MAX];
    program->name = name;
    program->known = hash(name, path, &program->contents);
}

bool same_program_check(const struct same_program *program, struct error *error) {
    char path[PATH_MAX];
    XXH128_hash_t now;
    return !program->known || !hash(program->name, path, &now) ||
           XXH128_isEqual(now, program->contents) ||
           error_set(
               error,
               "%.200s: the file has changed since it was simulated: its code is another now, so "
               "the two were not compared (validate it again, or bring back the same build)",
               path);
}
