/* cpu_parts.h - what the files of cpu_book.h share. */
#pragma once

#include "analyze/cpu_book.h"
#include "analyze/text_block.h"

/* "for GenuineIntel 6 0x97 pmu cpu_core", "for arm 0x41 0xd49 r0p0-r0p2".  On ARM vendor is NULL,
 * family the implementer, model the part, and the steppings are variant << 4 | revision. */
struct cpu_rule {
	uint32_t table;
	const char *vendor;
	unsigned family;
	unsigned model_low, model_high;
	unsigned step_low, step_high;
	const char *pmu; /* NULL: whatever the PMU is called */
};

enum { CPU_VALUES = 32 };

/* A table while it is read. */
struct cpu_draft {
	struct cpu_book *book;
	struct text_reader reader;
	struct cpu_table table;
	vec_of(struct cpu_event) events;
	vec_of(struct cpu_set) sets;
	vec_of(struct cpu_value) values;
	vec_of(struct cpu_node) nodes;
	vec_of(struct cpu_rule) rules;
	struct str metrics;
	bool has_head;
};

/* One `for` line, refused when it is not understood or when a CPU of it has a rule already. */
int cpu_rule_add(struct cpu_draft *draft, const struct text_pair *pair);

/* A set: its events are known and its groups can be on the PMU together. */
int cpu_set_add(struct cpu_draft *draft, const struct text_block *block);
