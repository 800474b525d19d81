/* probe.shared.h - what the probe programs and their loader share: the value of their .bss map. */
#pragma once

struct assay_probe_counts {
	unsigned long long switches; /* context switches seen */
	unsigned long long agreed;   /* of those, with a relocated read that was right */
};
