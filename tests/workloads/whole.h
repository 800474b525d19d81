/* whole.h - a function that stays as it is written, under its own name: gcc makes others of parts
 * of it. */
#pragma once

#if __has_attribute(noipa)
#define WHOLE __attribute__((noipa))
#else
#define WHOLE __attribute__((noinline))
#endif
