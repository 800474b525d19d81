/* queries.c - queries.sql: every number of a report with the query that gives it.
 *
 * Each is one statement that prints its name and its value, below the ATTACH of its run file, so
 * that the whole file can be given to sqlite3 as it is. */
#include "render/markdown.h"

#include <math.h>
#include <string.h>

#include "render/answer.h"

static void comment_add(struct str *out, const char *text)
{
	str_add_line(out, text, strlen(text));
}

static void query_add(struct str *out, const char *name, const char *query)
{
	str_auto struct str line = {0};

	str_add_line(&line, name, strlen(name));
	str_add(out, "SELECT ");
	str_add_sql(out, str_text(&line));
	str_addf(out, ", (%s);\n", query);
}

static void hotspot_queries(
	struct str *out, const char *path, const struct hotspot *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < rows[i].evidence_count; j++) {
			const struct hotspot_evidence *e = &rows[i].evidence[j];
			str_auto struct str name = {0};

			if (!*e->query || isnan(e->value) || !str_equal(e->path, path))
				continue;
			str_addf(&name, "%s (%s), %s", rows[i].location,
				hotspot_category_word(rows[i].category), e->mechanism);
			str_add(out, "\n-- ");
			comment_add(out, name.at);
			str_addf(out, ": %.10g\n", e->value);
			query_add(out, name.at, e->query);
		}
}

static void signal_queries(struct str *out, const char *path, const struct signals *signals)
{
	if (!signals)
		return;
	vec_foreach (const struct signal, signal, &signals->rows) {
		if (!*signal->query || isnan(signal->value) || !str_equal(signal->path, path))
			continue;
		str_addf(out, "\n-- %s: ", signal->name);
		signal_value(out, signal);
		str_addf(out, " by %s: %s\n", signal->witness, signal->meaning);
		query_add(out, signal->name, signal->query);
	}
}

void queries_sql(struct str *out, const struct answer_page *page)
{
	const struct answer_view *view = page->view;

	str_addf(out,
		"-- Every number of run %s that has a query.  In this directory\n--     sqlite3 < "
		"queries.sql\n-- prints them all as NAME|VALUE.  Gains: assay causal --show "
		"causal.assay\n",
		page->run_id);
	for (unsigned i = 0; i < EVIDENCE_KINDS; i++) {
		const struct evidence_piece *piece = &page->evidence->piece[i];

		str_auto struct str queries = {0};

		hotspot_queries(&queries, piece->path, view->hotspots, view->hotspot_count);
		hotspot_queries(&queries, piece->path, view->flat, view->flat_count);
		signal_queries(&queries, piece->path, view->signals);
		if (!queries.len)
			continue;
		str_add(out, "\nATTACH ");
		str_add_sql(out, piece->path);
		str_addf(out, " AS run;\n%sDETACH run;\n", queries.at);
	}
}
