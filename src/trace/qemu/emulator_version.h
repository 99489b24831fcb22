/* Which version of QEMU an emulator is, and whether it can be asked for a plugin. */
#pragma once

#include <stdbool.h>

enum { EMULATOR_VERSION_BYTES = 128 };

/* "qemu 7.2.22", of the emulator `path`, whose version is told as "`name` version 7.2.22": as its
 * file has it, or else as it answers to --version; "qemu" when neither tells. */
void emulator_version(const char *path, const char *name, char version[EMULATOR_VERSION_BYTES]);
/* It was built without plugins: its file has a version, and does not know what a plugin begins
 * with. */
bool emulator_lacks_plugins(const char *path, const char *name);
