/* preload.h - the runtime that is preloaded into a target: where it is, and its shared page.
 *
 * Does: find the library, make the page and the environment for it.  Does not: start a program.
 * Owns: a preload owns its page until preload_close(). */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct wire_page;

struct preload {
	int fd;
	struct wire_page *page;	     /* written by the target too: untrusted */
	char page_variable[64];	     /* ASSAY_RT_PAGE=... */
	char preload_variable[8192]; /* LD_PRELOAD=..., with what the user preloads already */
};

/* The runtime, and the one that interposes: for a tool without a kernel side. */
#define PRELOAD_RUNTIME "libassay-rt.so"
#define PRELOAD_INTERPOSE "libassay-rt-interpose.so"

/* Find the runtime of that name and make its page.  ERR_UNAVAILABLE with the way out when it is not
 * there. */
int preload_open(const char *library, struct preload *ret_preload, struct err *err);

/* How many processes of the target have found the page. */
unsigned preload_attached(const struct preload *preload);

void preload_close(struct preload *preload);
