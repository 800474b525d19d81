/* signals.c - see signals.h.  Each rule of data/signals.txt is evaluated over the run it is from;
 * its query is made from the same formula.  A leaf without a value gives the signal its reason. */
#include "analyze/signals.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "analyze/simulated.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/run.h"
#include "signal_parts.h"

void leaf_reader_done(struct leaf_reader *reader)
{
	profile_facts_close(reader->profile);
	reader->profile = NULL;
}

/* The value, or the reason of the first leaf that has none. */
static void rule_evaluate(
	const struct signal_rule *rule, struct leaf_reader *reader, struct signal *signal)
{
	uint32_t count = rule->formula.names_count;
	mem_auto double *values = mem_new(count + 1, sizeof(*values));
	mem_auto const char **parts = mem_new(count + 1, sizeof(*parts));
	str_auto struct str query = {0};
	const char *reason = "";
	int r = 0;

	for (uint32_t i = 0; i < count; i++) {
		const char *name = rule->formula.names[i];
		struct leaf leaf = {0};

		if (!leaf_read(reader, name, &leaf))
			leaf = leaf_unknown(
				arena_format(reader->arena, "no run has '%s'", name), "NULL");
		values[i] = leaf.value;
		parts[i] = leaf.sql;
		if (!*reason)
			reason = leaf.reason;
	}
	str_add(&query, "SELECT ");
	formula_write(&rule->formula, parts, &query);
	signal->query = arena_str(reader->arena, &query);
	if (!*reason)
		r = formula_value(&rule->formula, values, &signal->value);
	signal->reason = *reason	? reason
			 : r == -EDOM	? "its denominator is 0"
			 : r == -ERANGE ? "it is not finite"
					: "";
	if (*signal->reason)
		signal->value = (double)NAN;
}

/* "Lock thrash" and "lock-thrash" are lock_thrash. */
static const char *claim_name(struct arena *arena, const char *text)
{
	char *name = arena_format(arena, "claim_%s", text);

	for (char *c = name; *c; c++)
		*c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '_';
	return name;
}

/* What the program says about explanations: 1 supports, -1 rejects.  The last word counts. */
static void claims_add(
	const struct evidence_piece *piece, struct arena *arena, struct signals *signals)
{
	const struct run *run = piece->run;

	for (uint32_t i = 0; run && i < run->claims.count; i++) {
		const struct claim_row *claim = &run->claims.at[i];
		const char *verdict = run_text(run, claim->verdict);
		const char *name = claim_name(arena, run_text(run, claim->name));
		struct signal *known = NULL;
		struct signal signal = {
			.name = name,
			.unit = "",
			.witness = "program",
			.path = piece->path ? piece->path : "",
			.query = arena_format(arena,
				"SELECT CASE t.text WHEN 'supports' THEN 1.0 WHEN 'rejects' THEN "
				"-1.0 ELSE 0.0 END FROM claim c LEFT JOIN text t ON t.id = "
				"c.verdict WHERE c.id = %u",
				i + 1),
			.meaning = "what the program says about this explanation",
			.reason = "",
			.value = str_equal(verdict, "supports")	 ? 1
				 : str_equal(verdict, "rejects") ? -1
								 : 0,
		};

		vec_foreach (struct signal, other, &signals->rows)
			if (str_equal(other->name, name))
				known = other;
		if (known)
			*known = signal;
		else
			vec_push(&signals->rows, signal);
	}
}

/* The run that a rule is evaluated over.  A program that does not end has no baseline; its rates
 * while it was watched are known, unless it left children that nobody waited for. */
static enum evidence_kind kind_of_rule(
	const struct evidence *evidence, const struct signal_rule *rule)
{
	const struct run *other = evidence->piece[rule->otherwise].run;

	if (evidence->piece[rule->from].run || !other)
		return rule->from;
	for (uint32_t i = 0; i < other->executions.count; i++)
		if (run_execution(other, i + 1).flags & EXECUTION_LEFTOVERS)
			return rule->from;
	return rule->otherwise;
}

void signals_collect(
	const struct evidence *evidence, struct arena *arena, struct signals *ret_signals)
{
	const struct run *counters = evidence->piece[EVIDENCE_COUNTERS].run;
	const struct run *profile = evidence->piece[EVIDENCE_PROFILE].run;
	struct leaf_reader readers[EVIDENCE_KINDS];
	signal_book_auto struct signal_book book = {0};
	struct err err = {0};
	bool is_start_only;

	*ret_signals = (struct signals){0};
	if (signal_book_load(&book, &err) < 0)
		return; /* a test reads the text */
	is_start_only = counters && profile && counters->places.count &&
			simulated_is_start_only(counters, profile, arena);
	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		readers[i] = (struct leaf_reader){.run = evidence->piece[i].run,
			.evidence = evidence,
			.is_start_only = is_start_only,
			.arena = arena};
	vec_foreach (const struct signal_rule, rule, &book.rules) {
		enum evidence_kind kind = kind_of_rule(evidence, rule);
		const struct evidence_piece *piece = &evidence->piece[kind];
		struct signal signal = {
			.name = arena_format(arena, "%s", rule->name),
			.unit = arena_format(arena, "%s", rule->unit),
			.witness = arena_format(arena, "%s", rule->witness),
			.meaning = arena_format(arena, "%s", rule->meaning),
			.path = piece->path ? piece->path : "",
			.query = "",
			.reason = piece->reason ? piece->reason : "",
			.value = (double)NAN,
		};

		if (piece->run)
			rule_evaluate(rule, &readers[kind], &signal);
		else if (!*signal.reason)
			signal.reason = arena_format(
				arena, "%s was not measured", evidence_kind_word(kind));
		vec_push(&ret_signals->rows, signal);
	}
	claims_add(&evidence->piece[EVIDENCE_EVENTS], arena, ret_signals);
	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		leaf_reader_done(&readers[i]);
}

const struct signal *signals_find(const struct signals *signals, const char *name)
{
	vec_foreach (const struct signal, signal, &signals->rows)
		if (str_equal(signal->name, name))
			return signal;
	return NULL;
}

double signals_value(const struct signals *signals, const char *name)
{
	const struct signal *signal = signals ? signals_find(signals, name) : NULL;

	return signal ? signal->value : (double)NAN;
}

void signals_done(struct signals *signals)
{
	vec_done(&signals->rows);
}
