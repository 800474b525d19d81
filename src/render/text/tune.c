/* tune.c - see tune.h.  A machine with 128 processors has 500 files and a dozen things to say. */
#include "render/tune.h"

static enum ink state_ink(const char *state)
{
	static const struct {
		const char *state;
		enum ink ink;
	} inks[] = {{"set", INK_GOOD}, {"applied", INK_GOOD}, {"reverted", INK_GOOD},
		{"change", INK_BOLD}, {"active", INK_BOLD}, {"left", INK_WARN},
		{"denied", INK_WARN}, {"failed", INK_BAD}, {"stuck", INK_BAD},
		{"differs", INK_BAD}};

	for (unsigned i = 0; i < sizeof(inks) / sizeof(inks[0]); i++)
		if (str_equal(inks[i].state, state))
			return inks[i].ink;
	return INK_DIM;
}

/* How many rows from this one on tell the same. */
static uint32_t rows_alike(const struct knob_view *view, uint32_t first)
{
	uint32_t count = 1;

	while (first + count < view->rows.count &&
		knob_row_is_like(&view->rows.at[first], &view->rows.at[first + count]))
		count++;
	return count;
}

static const char *row_name(const struct knob_row *row)
{
	return row->knob ? row->knob->name : row->path;
}

static bool is_way_back(const struct knob_view *view)
{
	return str_equal(view->action, "revert") || str_equal(view->action, "status");
}

/* "60 -> 1": what is, or was, and what comes of it. */
static void row_values(struct str *out, const struct knob_view *view, const struct knob_row *row)
{
	const char *from = row->now, *to = NULL;

	if (view->expected) {
		str_add(out, row->now ? row->now : "-");
		if (!str_equal(row->state, "set"))
			str_addf(out, ", expected %s", row->want ? row->want : "none");
		return;
	}
	if (view->snapshot) {
		str_add(out, row->now ? row->now : "-");
		return;
	}
	if (str_equal(row->state, "change") || str_equal(row->state, "denied") ||
		str_equal(row->state, "unsupported"))
		to = row->want;
	else if (str_equal(row->state, "applied") || str_equal(row->state, "active"))
		from = row->old, to = row->want;
	else if (is_way_back(view) && str_equal(row->state, "reverted"))
		from = row->want, to = row->old;
	if (from && to)
		str_addf(out, "%s -> %s", from, to);
	else
		str_add(out, from ? from : "-");
}

static void row_note(struct str *out, const struct knob_view *view, const struct knob_row *row)
{
	if (row->reason)
		str_add(out, row->reason);
	if (row->old && (str_equal(row->state, "left") || str_equal(row->state, "stuck")))
		str_addf(out, " (it was %s)", row->old);
	if (row->optional)
		str_addf(out, "%sneeds --only", out->len ? "; " : "");
	if (row->by && str_equal(view->action, "status"))
		str_addf(out, "%sby %s", out->len ? "; " : "", row->by);
}

static void rows_text(struct paper *paper, const struct knob_view *view)
{
	table_auto struct table table = {0};

	table_columns(&table, "group", "setting", ">files",
		is_way_back(view) ? "value" : "now -> wanted", "state", "");
	for (uint32_t i = 0, count; i < view->rows.count; i += count) {
		const struct knob_row *row = &view->rows.at[i];
		str_auto struct str values = {0}, note = {0};

		count = rows_alike(view, i);
		if (str_equal(row->state, "absent") ||
			(view->expected && str_equal(row->state, "set")))
			continue;
		row_values(&values, view, row);
		row_note(&note, view, row);
		table_cell(&table, INK_DIM, "%s", row->knob ? row->knob->group : "");
		table_cell(&table, INK_PLAIN, "%s", row_name(row));
		table_cell(&table, INK_DIM, "%u", count);
		table_cell(&table, INK_PLAIN, "%s", str_text(&values));
		table_cell(&table, state_ink(row->state), "%s", row->state);
		table_cell(&table, INK_DIM, "%s", str_text(&note));
	}
	if (table.cells.count)
		table_print(&table, paper, 2);
}

static bool row_is_absent(const struct knob_row *row)
{
	return str_equal(row->state, "absent") && row->reason;
}

/* One paragraph for each reason, with the knobs that share it. */
static void absent_lines(struct paper *paper, const struct knob_view *view)
{
	for (uint32_t i = 0; i < view->rows.count; i++) {
		const struct knob_row *first = &view->rows.at[i];
		str_auto struct str names = {0};
		bool told = false;

		if (!row_is_absent(first))
			continue;
		for (uint32_t j = 0; j < view->rows.count; j++) {
			const struct knob_row *row = &view->rows.at[j];

			if (!row_is_absent(row) || !str_equal(row->reason, first->reason))
				continue;
			told = told || j < i;
			str_addf(&names, "%s%s", names.len ? ", " : "absent: ", row_name(row));
		}
		str_addf(&names, " (%s)", first->reason);
		if (!told)
			paper_wrap(paper, 2, INK_DIM, names.at);
	}
}

/* What else the machine does, when that is more than nothing. */
static void noise_text(struct paper *paper, const struct knob_view *view)
{
	unsigned loud = 0;

	if (view->busy_seconds <= 0 && !view->noise.count)
		return;
	vec_foreach (const struct knob_noise, noise, &view->noise) {
		if (noise->loud) {
			paper_ink(paper, INK_WARN, "not quiet: ");
			paper_add(paper, "%s is %s (%s)\n", noise->name, noise->value, noise->why);
		}
		loud += noise->loud;
	}
	if (!loud)
		paper_add(paper, "quiet now: load, pressure and steal are low\n");
	vec_foreach (const struct knob_busy, busy, &view->busy)
		paper_add(paper, "%s %s (process %u) %.2f cpus",
			busy == view->busy.at ? "busiest:" : ",", busy->name, busy->pid,
			busy->cpus);
	if (view->busy.count)
		paper_add(paper, ", watched for %.2f s\n", view->busy_seconds);
}

/* Why each knob that would change should, and what that costs. */
static void reasons_text(struct paper *paper, const struct knob_view *view)
{
	table_auto struct table table = {0};

	table_columns(&table, "", "");
	for (uint32_t i = 0; i < view->rows.count; i += rows_alike(view, i)) {
		const struct knob_row *row = &view->rows.at[i];

		if (!str_equal(row->state, "change") && !str_equal(row->state, "denied"))
			continue;
		if (i && row->knob == view->rows.at[i - 1].knob)
			continue; /* another value of the same knob */
		table_cell(&table, INK_PLAIN, "%s", row_name(row));
		table_cell(&table, INK_DIM, "%s; risk: %s", row->knob->why, row->knob->risk);
	}
	if (!table.cells.count)
		return;
	paper_ink(paper, INK_BOLD, "\nWhy\n");
	table_print(&table, paper, 2);
}

/* "3 applied, 1 failed", or that there is nothing. */
static void counts_line(struct paper *paper, const struct knob_view *view)
{
	static const char *const states[] = {"change", "applied", "active", "reverted", "left",
		"failed", "stuck", "differs", "denied", "set", "unsupported", "absent"};
	const char *between = "";
	uint32_t optional = 0;

	vec_foreach (const struct knob_row, row, &view->rows)
		optional += row->optional && str_equal(row->state, "change");
	paper_add(paper, "%s: ", view->action);
	for (unsigned i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		uint32_t count = knob_view_count(view, states[i]);

		if (count)
			paper_add(paper, "%s%u %s", between, count, states[i]);
		between = count ? ", " : between;
	}
	if (!*between)
		paper_add(paper, is_way_back(view) ? "no setting is changed now" : "nothing to do");
	if (optional)
		paper_add(paper, "; %u more would change if named with --only", optional);
	paper_add(paper, "\n");
	if (view->void_changes)
		paper_add(paper,
			"%u change%s of an earlier boot ended with it: nothing to revert\n",
			view->void_changes, view->void_changes == 1 ? "" : "s");
}

/* What the program alone was given. */
static void process_line(struct paper *paper, const struct knob_process *process)
{
	if (!process->cpus && !process->no_aslr && !process->fifo && !process->awake)
		return;
	paper_add(paper, "the program had:%s%s%s%s%s\n", process->cpus ? " --cpus " : "",
		process->cpus ? process->cpus : "", process->no_aslr ? " --no-aslr" : "",
		process->fifo ? " --fifo" : "", process->awake ? " --awake" : "");
}

void tune_text(struct paper *paper, const struct knob_view *view)
{
	if (view->rows.count) {
		rows_text(paper, view);
		if (!view->expected)
			absent_lines(paper, view);
		if (!is_way_back(view))
			reasons_text(paper, view);
		paper_add(paper, "\n");
	}
	noise_text(paper, view);
	process_line(paper, &view->process);
	if (view->snapshot)
		paper_add(paper, "status: %u files of the settings that assay knows\n",
			view->rows.count);
	else
		counts_line(paper, view);
	if (view->reverted) {
		for (uint32_t i = 0; i < view->reverted->rows.count; i++)
			if (!str_equal(view->reverted->rows.at[i].state, "reverted")) {
				rows_text(paper, view->reverted);
				break;
			}
		counts_line(paper, view->reverted);
	}
	if (view->next)
		paper_add(paper, "next: %s\n", view->next);
}

enum { AGENT_ROWS = 18 };

static void rows_agent(struct paper *paper, const struct knob_view *view)
{
	unsigned shown = 0, more = 0;

	for (uint32_t i = 0, count; i < view->rows.count; i += count) {
		const struct knob_row *row = &view->rows.at[i];
		str_auto struct str values = {0};

		count = rows_alike(view, i);
		if (str_equal(row->state, "absent") ||
			(str_equal(row->state, "set") && !view->snapshot))
			continue;
		if (shown++ >= AGENT_ROWS) {
			more++;
			continue;
		}
		row_values(&values, view, row);
		paper_add(paper, "%s: %s %s", row->state, row_name(row), str_text(&values));
		if (count > 1)
			paper_add(paper, " (%u files)", count);
		if (row->reason)
			paper_add(paper, ": %s", row->reason);
		if (row->optional)
			paper_add(paper, "; needs --only");
		paper_add(paper, "\n");
	}
	if (more)
		paper_add(paper, "and %u more: use --json\n", more);
}

void tune_agent(struct paper *paper, const struct knob_view *view)
{
	rows_agent(paper, view);
	noise_text(paper, view);
	process_line(paper, &view->process);
	counts_line(paper, view);
	if (view->reverted)
		counts_line(paper, view->reverted);
	paper_add(paper, "next: %s\n", view->next ? view->next : "assay tune status");
}
