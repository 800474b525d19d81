/* page.h - the page that the tool and the runtime inside the target share.
 *
 * The tool makes it (a memfd), names it in the environment and keeps it open; the runtime maps it
 * and says that it is there.  The target can write to all of it: the tool treats it as untrusted
 * input.  Fields are only added; a runtime of another version leaves the page alone. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define WIRE_PAGE_ENVIRONMENT "ASSAY_RT_PAGE" /* a path: /proc/PID/fd/N */
#define WIRE_PAGE_MAGIC UINT64_C(0x656761702d747273)
enum { WIRE_PAGE_VERSION = 1, WIRE_PAGE_BYTES = 4096 };

struct wire_page {
	uint64_t magic; /* set by the tool */
	uint32_t version;
	uint32_t reserved;
	_Atomic uint32_t attached; /* processes whose runtime found the page */
};
_Static_assert(sizeof(struct wire_page) <= WIRE_PAGE_BYTES, "it is one page");
