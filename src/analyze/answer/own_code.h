/* own_code.h - is a frame the program's own code?  Inside analyze only. */
#pragma once

#include <stdbool.h>

struct label;

/* Of a program, not of a library; a program's helpers may stand below /usr/lib. */
bool own_code_is_in_program(const struct label *function);

/* Of a library of the system, by name. */
bool own_code_is_of_library(const struct label *function);

/* A library of the system is nobody's own code, even where its sources are known; a program is,
 * even where they are not: a script may start several.  `file` is of the frame's line. */
bool own_code_has(const struct label *function, const char *file);
