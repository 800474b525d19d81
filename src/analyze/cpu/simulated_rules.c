/* simulated_rules.c - data/simulated.rules: one number per line, its reason above it. */
#include <errno.h>

#include "analyze/simulated.h"
#include "analyze/text_block.h"
#include "base/str.h"

int simulated_rules_parse(
	const char *name, const char *text, struct simulated_rules *ret_rules, struct err *err)
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
		{"plain-factor", &rules->plain_factor},
		{"speculation-least", &rules->speculation_least},
		{"target-share", &rules->target_share},
		{"target-instructions", &rules->target_instructions},
		{"frontend-share", &rules->frontend_share},
		{"core-cpi", &rules->core_cpi},
		{"retiring-cpi", &rules->retiring_cpi},
		{"lead-share", &rules->lead_share},
		{"judged-share", &rules->judged_share},
		{"user-share", &rules->user_share},
		{"samples-least", &rules->samples_least},
		{"clear-margin", &rules->clear_margin},
		{"again-share", &rules->again_share},
		{"doubt-factor", &rules->doubt_factor},
		{"unclear-factor", &rules->unclear_factor},
		{"cost-cycle", &rules->defaults.cycle_ns},
		{"cost-memory", &rules->defaults.memory_ns},
		{"cost-line", &rules->defaults.line_ns},
		{"cost-plain", &rules->defaults.plain_ns},
		{"cost-cache", &rules->defaults.cache_ns},
		{"cost-far", &rules->defaults.far_ns},
		{"cost-mispredict", &rules->defaults.mispredict_ns},
	};
	unsigned count = sizeof(known) / sizeof(*known), taken = 0;
	arena_auto struct arena arena = {0};
	struct text_reader reader = {&arena, name, text, 0, err};
	char *row;

	*rules = (struct simulated_rules){0};
	while ((row = text_row_next(&reader))) {
		const char *key = text_word_next(&row); /* moves `row` on */
		struct text_pair pair = {key, str_trim(row), reader.line};
		unsigned i = 0;

		while (i < count && !str_equal(known[i].name, pair.key))
			i++;
		if (i == count)
			return text_refuse(&reader, pair.line, "unknown rule", pair.key);
		if (*known[i].value != 0)
			return text_refuse(&reader, pair.line, "duplicate rule", pair.key);
		if (text_number(&reader, &pair, known[i].value) < 0)
			return -EINVAL;
		if (!(*known[i].value > 0))
			return text_refuse(&reader, pair.line, "must be above 0:", pair.value);
		taken++;
	}
	return taken == count ? 0 : text_refuse(&reader, reader.line, "a rule is missing in", name);
}

void simulated_rules_load(struct simulated_rules *ret_rules)
{
	struct err err = {0}; /* a unit test reads every line of it */

	(void)simulated_rules_parse(
		"simulated.rules", data_text("simulated.rules"), ret_rules, &err);
}
