/* kernel_text.h - /proc/kallsyms, once per boot.
 *
 * The kernel takes 50 to 70 ms to print its 120,000 symbols, which would be most of the time
 * between a target's end and ours.  The functions among them are kept in the user's cache folder
 * (readable by nobody else: they tell where the kernel lies), under a name that changes with the
 * boot and with the loaded modules.  While BPF programs are loaded nothing is kept, because they
 * come and go unseen. */
#pragma once

#include "base/err.h"
#include "base/str.h"

/* Append the lines of the kernel's functions to `text`. */
int kernel_text_read(struct str *text, struct err *err);
