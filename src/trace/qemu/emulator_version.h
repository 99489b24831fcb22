/* Which version of QEMU an emulator is. */
#pragma once

enum { EMULATOR_VERSION_BYTES = 128 };

/* "qemu 7.2.22", of the emulator `path`, whose version is told as "`name` version 7.2.22": as its
 * file has it, or else as it answers to --version; "qemu" when neither tells. */
void emulator_version(const char *path, const char *name, char version[EMULATOR_VERSION_BYTES]);
