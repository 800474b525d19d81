/* env.c - see env.h.  The last line of a comparison is its verdict, so that it is what stays on the
 * screen.  The agents' text is bounded by counting lines: the worst differences come first, and
 * what does not fit is counted. */
#include "render/env.h"

#include "render/paper.h"

enum { AGENT_LINES = 40 };

const char *env_state_word(enum fingerprint_state state)
{
	return state == FINGERPRINT_DENIED ? "denied" : "absent";
}

static void text_loud(struct paper *paper, const struct fingerprint_view *view)
{
	vec_foreach (const struct fingerprint_field, field, &view->fields)
		if (field->loud) {
			paper_ink(paper, INK_WARN, "not quiet: ");
			paper_add(paper, "%s.%s is %s (%s)\n", field->group, field->name,
				field->value, field->rule->reason);
		}
}

static void text_group(struct paper *paper, const struct fingerprint_field *from,
	const struct fingerprint_field *to)
{
	table_auto struct table table = {0};

	paper_ink(paper, INK_BOLD, "%s\n", from->group);
	table_columns(&table, "", "");
	for (const struct fingerprint_field *field = from; field < to; field++) {
		table_cell(&table, INK_PLAIN, "%s", field->name);
		if (field->state == FINGERPRINT_VALUE)
			table_cell(&table, field->loud ? INK_WARN : INK_PLAIN, "%s", field->value);
		else
			table_cell(&table, INK_DIM, "%s", env_state_word(field->state));
	}
	table_print(&table, paper, 2);
	paper_add(paper, "\n");
}

void env_text(struct paper *paper, const struct fingerprint_view *view)
{
	const struct fingerprint_field *from = view->fields.at, *end = from + view->fields.count;

	while (from < end) {
		const struct fingerprint_field *to = from;

		while (to < end && str_equal(to->group, from->group))
			to++;
		text_group(paper, from, to);
		from = to;
	}
	text_loud(paper, view);
	paper_add(paper, "key ");
	paper_ink(paper, INK_BOLD, "%s", view->key);
	paper_add(paper, ": %u fields, %u absent, %u denied\n", view->fields.count, view->absent,
		view->denied);
}

void env_agent(struct paper *paper, const struct fingerprint_view *view)
{
	unsigned lines = 2;

	paper_add(paper, "fingerprint %s: %u fields, %u absent, %u denied\n", view->key,
		view->fields.count, view->absent, view->denied);
	vec_foreach (const struct fingerprint_field, field, &view->fields) {
		if (field->state != FINGERPRINT_VALUE || lines == AGENT_LINES)
			continue;
		if (field->loud || field->rule->brief) {
			paper_add(paper, "%s.%s: %s%s\n", field->group, field->name, field->value,
				field->loud ? " (not quiet)" : "");
			lines++;
		}
	}
	paper_add(paper,
		"next: assay env -o baseline.json; later assay env --diff baseline.json -\n");
}

static enum ink severity_ink(enum fingerprint_severity severity)
{
	return severity == FINGERPRINT_BLOCK  ? INK_BAD
	       : severity == FINGERPRINT_WARN ? INK_WARN
					      : INK_DIM;
}

/* "NOT_COMPARABLE: 2 blocking differences; numbers from A and B must not be compared" */
static void text_class(struct paper *paper, const struct env_diff *diff)
{
	const struct fingerprint_comparison *c = diff->comparison;
	unsigned blocking = c->counts[FINGERPRINT_BLOCK], warning = c->counts[FINGERPRINT_WARN];
	enum ink ink = c->class == NOT_COMPARABLE ? INK_BAD
		       : c->class == ADVISORY	  ? INK_WARN
						  : INK_GOOD;

	paper_ink(paper, ink, "%s", fingerprint_class_name(c->class));
	if (c->class == NOT_COMPARABLE)
		paper_add(paper,
			": %u blocking difference%s; do not compare numbers from %s and %s\n",
			blocking, blocking == 1 ? "" : "s", diff->a, diff->b);
	else if (c->class == ADVISORY)
		paper_add(paper, ": %u warning%s; compare numbers from %s and %s with care\n",
			warning, warning == 1 ? "" : "s", diff->a, diff->b);
	else
		paper_add(paper, ": no relevant difference in %u fields\n", c->compared);
}

void env_diff_text(struct paper *paper, const struct env_diff *diff)
{
	const struct fingerprint_comparison *c = diff->comparison;

	paper_add(paper, "A  %s  key %s\nB  %s  key %s\n\n", diff->a, c->a_key, diff->b, c->b_key);
	vec_foreach (const struct fingerprint_difference, d, &c->differences) {
		paper_ink(paper, severity_ink(d->severity), "%-5s",
			fingerprint_severity_name(d->severity));
		paper_add(paper, "  %s  ", d->field);
		paper_ink(paper, INK_DIM, "(%s)\n", d->reason);
		paper_add(paper, "         A  ");
		paper_ink(paper, d->a ? INK_PLAIN : INK_DIM, "%s\n", d->a ? d->a : d->a_missing);
		paper_add(paper, "         B  ");
		paper_ink(paper, d->b ? INK_PLAIN : INK_DIM, "%s\n", d->b ? d->b : d->b_missing);
	}
	if (c->differences.count)
		paper_add(paper, "\n");
	text_class(paper, diff);
}

void env_diff_agent(struct paper *paper, const struct env_diff *diff)
{
	const struct fingerprint_comparison *c = diff->comparison;
	unsigned lines = 4; /* head, what is left out, class, next */
	uint32_t shown = 0;

	paper_add(paper, "A %s key %s; B %s key %s\n", diff->a, c->a_key, diff->b, c->b_key);
	while (shown < c->differences.count && lines < AGENT_LINES) {
		const struct fingerprint_difference *d = &c->differences.at[shown++];

		paper_add(paper, "%s %s: %.160s -> %.160s (%s)\n",
			fingerprint_severity_name(d->severity), d->field,
			d->a ? d->a : d->a_missing, d->b ? d->b : d->b_missing, d->reason);
		lines++;
	}
	if (shown < c->differences.count)
		paper_add(paper, "and %u more, see --json\n", c->differences.count - shown);
	text_class(paper, diff);
	if (c->class == NOT_COMPARABLE)
		paper_add(paper,
			"next: remove the BLOCK differences, then run assay env --diff again\n");
	else
		paper_add(paper, "next: assay stat -r 10 -- PROGRAM on both sides\n");
}
