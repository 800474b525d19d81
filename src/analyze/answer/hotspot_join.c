/* hotspot_join.c - what simulation and the ledger say about the places of the samples.
 *
 * Places are joined by function. */
#include <math.h>
#include <string.h>

#include "analyze/simulated.h"
#include "base/str.h"
#include "code/names.h"
#include "hotspot_parts.h"
#include "model/run.h"

#define MOST_SHARE 0.4
#define PLACE_LEAST 0.9 /* of the time of the function that an explanation is about */
#define HOLDER_LEAST 0.1
#define FAULTS_LEAST 0.5

/* The name without its template arguments: "a<b<int> >::f" is a::f.  A '<' at the start of a part
 * is Rust's or an operator's and stays. */
static void name_add_plain(const char *name, size_t len, struct str *out)
{
	static const char nameless[] = "(anonymous namespace)::"; /* says nothing to a reader */
	unsigned depth = 0;

	for (size_t i = 0; i < len; i++) {
		bool part = !i || name[i - 1] == ':' || name[i - 1] == ' ';

		if (!depth && len - i > strlen(nameless) && str_starts(name + i, nameless)) {
			i += strlen(nameless) - 1;
			continue;
		}
		if (name[i] == '<' && !part && !str_ends(str_text(out), "operator") &&
			!str_ends(str_text(out), "operator<"))
			depth++;
		else if (name[i] == '>' && depth && name[i - 1] != '-')
			depth--;
		else if (!depth)
			str_add_char(out, name[i]);
	}
}

const char *hotspot_call(struct arena *arena, const char *function)
{
	str_auto struct str plain = {0};
	size_t len = names_bare_length(function);

	/* Go: the path of a package says less than its last part. */
	for (size_t i = len; i-- > 1;)
		if (function[i] == '/' && i + 1 < len && strchr("(<", function[i + 1]) == NULL &&
			!memmem(function, i, "operator", strlen("operator"))) {
			function += i + 1;
			len -= i + 1;
			break;
		}
	name_add_plain(function, len, &plain);
	return arena_format(arena, "%s()", str_text(&plain));
}

void hotspot_add_evidence(struct hotspot_draft *draft, const struct hotspot_evidence *evidence)
{
	if (draft->spot.evidence_count < HOTSPOT_EVIDENCE_MAX)
		draft->evidence[draft->spot.evidence_count++] = *evidence;
}

/* ---- simulation ---- */

/* The simulated count that carries the verdict, and how it is called. */
static const char *const *carrying_events(enum verdict_category category)
{
	static const char *const memory[] = {"LLC-load-misses", "LLC-store-misses", NULL};
	static const char *const branch[] = {"branch-misses", NULL};
	static const char *const other[] = {"instructions", NULL};

	return verdict_category_is_memory(category)  ? memory
	       : category == VERDICT_BAD_SPECULATION ? branch
						     : other;
}

static void site_evidence(const struct simulated_site *site, const char *path, struct arena *arena,
	struct hotspot_draft *draft)
{
	const char *const *events = carrying_events(site->category);
	uint64_t value = site->row.counts[SIMULATED_INSTRUCTIONS];
	str_auto struct str query = {0};

	if (verdict_category_is_memory(site->category))
		value = simulated_ll_misses(&site->row);
	else if (site->category == VERDICT_BAD_SPECULATION)
		value = simulated_mispredicts(&site->row);
	str_add(&query, "SELECT total(value) FROM places WHERE function = ");
	str_add_sql(&query, site->row.function);
	str_add(&query, " AND event IN (");
	for (unsigned i = 0; events[i]; i++) {
		str_add(&query, i ? ", " : "");
		str_add_sql(&query, events[i]);
	}
	str_add(&query, ")");
	hotspot_add_evidence(draft, &(struct hotspot_evidence){.mechanism = "simulation",
					    .path = path,
					    .query = arena_str(arena, &query),
					    .value = (double)value,
					    .words = site->why,
					    .agrees = true});
}

/* The simulated CPU may have got another variant of a C library's function. */
static bool same_name(const char *a, const char *b)
{
	size_t len = simulated_name_length(a);

	return simulated_name_length(b) == len && memcmp(a, b, len) == 0;
}

/* The place itself, or what has most of its time below it. */
static bool site_is_at(const struct simulated_site *site, const struct hotspot *spot)
{
	if (same_name(spot->function, site->row.function))
		return true;
	for (uint32_t i = 0; i < spot->chain_place; i++)
		if (same_name(spot->chain[i].function, site->row.function) &&
			spot->chain[i].self >= HOTSPOT_INNER_LEAST * spot->value)
			return true;
	return false;
}

static void site_join(const struct simulated_site *site, const char *path, struct arena *arena,
	struct hotspot_drafts *drafts)
{
	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		if (draft->spot.category != HOTSPOT_CPU || !site_is_at(site, &draft->spot))
			continue;
		if (verdict_category_is_memory(site->category))
			draft->spot.category = HOTSPOT_MEMORY;
		else if (site->category == VERDICT_BAD_SPECULATION)
			draft->spot.category = HOTSPOT_BRANCH;
		site_evidence(site, path, arena, draft);
		return;
	}
}

static bool is_rejected(const struct ledger_view *ledger, const char *hypothesis)
{
	for (uint32_t i = 0; ledger && i < ledger->count; i++)
		if (str_equal(ledger->rows[i].name, hypothesis))
			return ledger->rows[i].verdict == HYPOTHESIS_REJECTS;
	return false;
}

/* Whether the ledger, which is about the whole program, rejects each explanation of the kind of
 * work that most of the program is: two answers to one question are none. */
static bool site_is_rejected(const struct simulated_site *site, const struct ledger_view *ledger)
{
	static const struct {
		enum verdict_category category;
		const char *hypotheses[4];
	} kinds[] = {
		{VERDICT_CORE, {"dependency_chain"}},
		{VERDICT_BAD_SPECULATION, {"bad_speculation"}},
		{VERDICT_MEMORY_LATENCY, {"memory_latency", "cache_latency"}},
		{VERDICT_MEMORY_BANDWIDTH, {"memory_bandwidth"}},
		{VERDICT_MEMORY, {"memory_latency", "cache_latency", "memory_bandwidth"}},
	};
	unsigned asked = 0, rejected = 0;

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		for (const char *const *name = kinds[i].hypotheses;
			site->category == kinds[i].category && *name; name++) {
			asked++;
			rejected += is_rejected(ledger, *name);
		}
	return asked && asked == rejected && site->time_share >= MOST_SHARE;
}

void hotspots_join_simulation(const struct evidence *evidence, const struct ledger_view *ledger,
	struct arena *arena, struct hotspot_drafts *drafts)
{
	const struct evidence_piece *counters = &evidence->piece[EVIDENCE_COUNTERS];
	const struct evidence_piece *profile = &evidence->piece[EVIDENCE_PROFILE];
	struct simulated_rules rules;
	struct simulated_view view;
	struct err err = {0};

	if (!counters->run || !profile->run || !counters->run->places.count)
		return;
	simulated_rules_load(&rules);
	if (simulated_join(counters->run, profile->run, &rules.defaults, arena, &view, &err) < 0)
		return;
	/* A simulation that cannot tell the kind of work is no objection to the place. */
	for (uint32_t i = 0; i < view.function_count; i++)
		if (view.functions[i].time_share >= 0.02 &&
			view.functions[i].category != VERDICT_UNCLEAR &&
			view.functions[i].category != VERDICT_MIXED &&
			!site_is_rejected(&view.functions[i], ledger))
			site_join(&view.functions[i], counters->path, arena, drafts);
}

/* ---- the ledger ---- */

/* Explanations speak of a category; the place is the largest one of that category. */
static bool category_fits(const char *word, enum hotspot_category category)
{
	static const struct {
		const char *word;
		enum hotspot_category category;
	} fits[] = {
		{"cpu", HOTSPOT_CPU},
		{"memory", HOTSPOT_MEMORY},
		{"fault", HOTSPOT_MEMORY},
		{"branch", HOTSPOT_BRANCH},
		{"lock", HOTSPOT_LOCK},
		{"io", HOTSPOT_IO},
		{"off_cpu", HOTSPOT_OFF_CPU},
		{"allocation", HOTSPOT_ALLOCATION},
		{"syscall", HOTSPOT_SYSCALL},
	};

	for (unsigned i = 0; i < sizeof(fits) / sizeof(*fits); i++)
		if (str_equal(fits[i].word, word) && fits[i].category == category)
			return true;
	return false;
}

double hotspot_kind_share(const struct hotspot *spot, enum hotspot_category category)
{
	for (uint32_t i = 0; i < spot->kind_count; i++)
		if (spot->kinds[i].category == category)
			return spot->kinds[i].share;
	return 0;
}

/* How much of the place an explanation can be about: the kinds of its category.  The work that
 * simulated counts gave another name (memory, branch) is the CPU time. */
static double explained_share(const struct ledger_row *row, const struct hotspot_draft *draft)
{
	const struct hotspot *spot = &draft->spot;
	double share = 0;

	for (uint32_t i = 0; i < spot->kind_count; i++)
		if (category_fits(row->category, spot->kinds[i].category))
			share += spot->kinds[i].share;
	if (category_fits(row->category, spot->category) &&
		hotspot_kind_share(spot, spot->category) <= 0)
		share += spot->kind_count ? hotspot_kind_share(spot, HOTSPOT_CPU) : spot->value;
	return share;
}

static bool has_mechanism(const struct hotspot_draft *draft, const char *mechanism)
{
	for (uint32_t i = 0; i < draft->spot.evidence_count; i++)
		if (str_equal(draft->evidence[i].mechanism, mechanism))
			return true;
	return false;
}

/* What the witness says is about this place too.  Experiments of an explanation are about any of
 * the places that they found to pay; on this one they say it themselves, or leave it open. */
static bool witness_is_about(
	const struct ledger_witness *witness, const struct hotspot_draft *draft)
{
	return draft->pays || !str_equal(witness->witness, "experiments");
}

static void row_join(const struct ledger_row *row, struct hotspot_draft *draft)
{
	draft->spot.because = row;
	draft->spot.explained = explained_share(row, draft);
	for (uint32_t i = 0; i < row->witness_count; i++) {
		const struct ledger_witness *witness = &row->witnesses[i];
		const struct signal *signal = witness->signal_count ? witness->signals[0] : NULL;

		if (witness->verdict != HYPOTHESIS_SUPPORTS ||
			has_mechanism(draft, witness->witness) || !witness_is_about(witness, draft))
			continue;
		hotspot_add_evidence(
			draft, &(struct hotspot_evidence){.mechanism = witness->witness,
				       .path = signal ? signal->path : "",
				       .query = signal ? signal->query : "",
				       .value = signal ? signal->value : (double)NAN,
				       .words = witness->words,
				       .agrees = true});
	}
}

/* It has no explanation yet, or only one of where. */
static bool is_unexplained(const struct ledger_row *row, const struct hotspot_draft *draft)
{
	const struct ledger_row *because = draft->spot.because;

	return !draft->flat && (!because || (because->is_place && !row->is_place));
}

/* The largest place of the explanation's category.  An explanation of where is about one function:
 * a place with less time than that is another one, or has only a part of its calls, whatever else
 * speaks for it. */
static struct hotspot_draft *draft_of_category(
	const struct ledger_row *row, struct hotspot_drafts *drafts)
{
	struct hotspot_draft *best = NULL;
	double most = 0;

	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		double share = explained_share(row, draft);

		if (share > most && is_unexplained(row, draft)) {
			best = draft;
			most = share;
		}
	}
	if (best && row->is_place && best->samples_share < PLACE_LEAST * row->share)
		return NULL;
	/* Page faults follow from what the place does, unless they are most of it. */
	if (best && str_equal(row->category, "fault") && most < FAULTS_LEAST * best->samples_share)
		return NULL;
	return best;
}

/* An explanation about the whole program fits the place that most of the program is: its kind of
 * work (a simulation that was cut cannot tell for one function), or, of locks, the code that
 * experiments say pays: that is what others wait for. */
static struct hotspot_draft *draft_of_most(
	const struct ledger_row *row, struct hotspot_drafts *drafts)
{
	bool locks = str_equal(row->category, "lock");
	bool work = str_equal(row->category, "branch") || str_equal(row->category, "memory");

	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		if (!is_unexplained(row, draft) || draft->spot.category != HOTSPOT_CPU)
			continue;
		if ((locks && draft->pays) || (work && draft->samples_share >= MOST_SHARE)) {
			draft->spot.category = locks ? HOTSPOT_LOCK
					       : str_equal(row->category, "branch")
						       ? HOTSPOT_BRANCH
						       : HOTSPOT_MEMORY;
			return draft;
		}
	}
	return NULL;
}

/* A small place of the category (page faults of the start are "memory" too) does not take the
 * explanation from what most of the program is.  Waiting for a lock takes hardly any CPU time: who
 * takes it and then works under it is the place all the same. */
static struct hotspot_draft *draft_of_row(
	const struct ledger_row *row, struct hotspot_drafts *drafts)
{
	struct hotspot_draft *draft = draft_of_category(row, drafts), *other = NULL;

	if (draft && explained_share(row, draft) < HOLDER_LEAST) {
		if (str_equal(row->category, "lock") &&
			hotspot_kind_share(&draft->spot, HOTSPOT_CPU) >= HOLDER_LEAST) {
			draft->spot.category = HOTSPOT_LOCK;
			return draft;
		}
		other = draft_of_most(row, drafts);
	}
	return other ? other : draft ? draft : draft_of_most(row, drafts);
}

void hotspots_join_ledger(const struct ledger_view *ledger, struct hotspot_drafts *drafts)
{
	for (uint32_t i = 0; ledger && i < ledger->count; i++) {
		const struct ledger_row *row = &ledger->rows[i];
		struct hotspot_draft *draft;

		if (row->verdict != HYPOTHESIS_SUPPORTS || row->is_aside)
			continue;
		draft = draft_of_row(row, drafts);
		if (draft)
			row_join(row, draft);
	}
}
