/* Where CPython 3.11 has what is read of it, with types at small numbers. */
#pragma once

#include "program/python_layout.h"

static const struct python_image PYTHON_3_11 = {.code_type = 1,
                                                .text_type = 2,
                                                .bytes_type = 3,
                                                .layout = {.code_filename = 112,
                                                           .code_qualname = 128,
                                                           .code_linetable = 136,
                                                           .code_first_line = 72,
                                                           .code_instructions = 184,
                                                           .object_type = 8,
                                                           .bytes_size = 16,
                                                           .bytes_data = 32,
                                                           .text_length = 16,
                                                           .text_state = 32,
                                                           .text_ascii = 48,
                                                           .text_data = 72}};
