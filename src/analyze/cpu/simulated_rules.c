/* simulated_rules.c - data/simulated.rules: one number per line, its reason above it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/simulated.h"
#include "base/mem.h"
#include "base/str.h"
#include "data/texts.h"

unsigned simulated_rules_parse(const char *text, struct simulated_rules *ret_rules)
{
	struct simulated_rules *rules = ret_rules;
	const struct {
		const char *name;
		double *value;
	} known[] = {
		{"explains-share", &rules->explains_share},
		{"latency-share", &rules->latency_share},
		{"stall-cpi", &rules->stall_cpi},
		{"stall-share", &rules->stall_share},
		{"bandwidth-factor", &rules->bandwidth_factor},
		{"speculation-least", &rules->speculation_least},
		{"frontend-share", &rules->frontend_share},
		{"core-cpi", &rules->core_cpi},
		{"retiring-cpi", &rules->retiring_cpi},
		{"lead-share", &rules->lead_share},
		{"judged-share", &rules->judged_share},
		{"samples-least", &rules->samples_least},
		{"cost-cycle", &rules->defaults.cycle_ns},
		{"cost-memory", &rules->defaults.memory_ns},
		{"cost-line", &rules->defaults.line_ns},
		{"cost-cache", &rules->defaults.cache_ns},
		{"cost-mispredict", &rules->defaults.mispredict_ns},
	};
	mem_auto char *copy = mem_copy_text(text, strlen(text));
	unsigned wrong = 0, missing = sizeof(known) / sizeof(*known);
	char *rest = copy, *line;

	*rules = (struct simulated_rules){0};
	while ((line = strsep(&rest, "\n"))) {
		char *value = str_trim(line), *name, *end;
		bool found = false;
		double number;

		if (!*value || *value == '#')
			continue;
		name = strsep(&value, " \t");
		number = value ? strtod(value, &end) : (double)NAN;
		for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
			if (str_equal(known[i].name, name) && value && end != value && number > 0 &&
				*known[i].value == 0) {
				*known[i].value = number;
				found = true;
			}
		missing -= found;
		wrong += !found;
	}
	return wrong + missing;
}

void simulated_rules_load(struct simulated_rules *ret_rules)
{
	const char *text = "";

	for (const struct data_text *at = data_texts; at->name; at++)
		if (str_equal(at->name, "simulated.rules"))
			text = at->text;
	(void)simulated_rules_parse(text, ret_rules); /* a unit test reads every line of it */
}
