/* cpu_identity.h - which CPU this is: one entry for each kind of core.
 *
 * Does: read /proc/cpuinfo and sysfs below a root folder.  Does not: know tables of events (the
 * caller asks analyze/cpu_book.h), open counters.  What cannot be read stays empty or unknown; only
 * a machine that tells nothing at all is an error.  Owns nothing.  Threads: any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { CPU_KINDS = 4 };

enum cpu_switch { CPU_SWITCH_UNKNOWN, CPU_SWITCH_OFF, CPU_SWITCH_ON };

/* One kind of core.  x86 has vendor, family, model and stepping; ARM has midr. */
struct cpu_kind {
	char pmu[64];	 /* its PMU in sysfs: "cpu", "cpu_atom", "armv8_pmuv3_0"; "": no PMU */
	char cpus[128];	 /* "0-7"; "": all */
	char vendor[32]; /* "GenuineIntel"; "" on ARM */
	unsigned family, model, stepping;
	uint64_t midr;	/* 0: not known, or not ARM */
	unsigned slots; /* caps/slots of the PMU; 0: not told */
};

struct cpu_identity {
	unsigned kinds; /* sorted by their first CPU; a hybrid has more than one */
	struct cpu_kind kind[CPU_KINDS];
	enum cpu_switch smt;	      /* two threads of a core are in use */
	enum cpu_switch nmi_watchdog; /* takes one counter of each CPU */
};

/* Read below `root` ("" for this machine).  -ENODATA when neither cpuinfo nor MIDR is there. */
int cpu_identity_read(const char *root, struct cpu_identity *ret_identity, struct err *err);
