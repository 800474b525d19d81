/* preload.h - the runtime that is preloaded into a target: where it is, and its shared page.
 *
 * Does: find libassay-rt.so, make the page and the environment for it.  Does not: start a program.
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

/* Find the runtime and make its page.  ERR_UNAVAILABLE with the way out when it is not there. */
int preload_open(struct preload *ret_preload, struct err *err);

/* How many processes of the target have found the page. */
unsigned preload_attached(const struct preload *preload);

void preload_close(struct preload *preload);
