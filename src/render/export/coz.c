/* coz.c - the experiments as profile.coz, for coz's viewer. */
#include "export_parts.h"

#include <math.h>

#include "analyze/causal_view.h"

/* A tab or a new line in a name would break the line. */
static void name_coz(struct str *out, const char *name)
{
	export_plain(out, name, 0);
}

/* The name that coz's viewer groups by: FILE:LINE where there is a line. */
static void target_coz(struct str *out, const struct causal_entry_target *target)
{
	name_coz(out, target->line && *target->file ? target->file : target->name);
	str_addf(out, ":%u", target->line);
}

static void visit_coz(struct str *out, const struct causal_entry_visit *visit)
{
	str_add(out, visit->is_latency ? "latency-point\tname=" : "throughput-point\tname=");
	name_coz(out, visit->name);
	if (visit->is_latency)
		str_addf(out, "\tarrivals=%llu\tdepartures=%llu\tdifference=%llu\n",
			(unsigned long long)visit->arrivals, (unsigned long long)visit->departures,
			(unsigned long long)visit->open_after);
	else
		str_addf(out, "\tdelta=%llu\n", (unsigned long long)visit->departures);
}

void causal_coz(struct str *out, const struct causal_log *log)
{
	uint64_t measured = 0;

	str_addf(out, "startup\ttime=%llu\n", (unsigned long long)log->started_ns);
	for (uint32_t i = 0; i < log->entry_count; i++) {
		const struct causal_entry *entry = &log->entries[i];

		measured += entry->virtual_ns;
		str_add(out, "experiment\tselected=");
		target_coz(out, &log->targets[entry->target]);
		str_addf(out, "\tspeedup=%.2f\tduration=%llu\tselected-samples=%llu\n",
			entry->speedup, (unsigned long long)entry->virtual_ns,
			(unsigned long long)entry->hits);
		for (uint32_t v = 0; v < entry->visit_count; v++)
			visit_coz(out, &entry->visits[v]);
	}
	str_addf(out, "runtime\ttime=%llu\n", (unsigned long long)measured);
	for (uint32_t i = 0; i < log->target_count; i++) {
		str_add(out, "samples\tlocation=");
		target_coz(out, &log->targets[i]);
		str_addf(out, "\tcount=%llu\n", (unsigned long long)log->targets[i].hits);
	}
}
