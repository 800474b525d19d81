/* hypothesis_words.c - the numbers of a verdict in words.
 *
 * What a rule `says` has the signals in braces: "{runq_share} of its runnable time" becomes "17 %
 * of its runnable time". */
#include <math.h>
#include <string.h>

#include "hypothesis_parts.h"

static void number_add(struct str *out, double value)
{
	if (fabs(value) >= 1000)
		str_add_grouped(out, value);
	else
		str_addf(out, "%.3g", value);
}

/* A number with the largest of the units that leaves 1 or more. */
static void scaled_add(struct str *out, double value, const char *const *units, double step)
{
	unsigned i = 0;

	while (units[i + 1] && fabs(value) >= step) {
		value /= step;
		i++;
	}
	str_addf(out, "%.3g %s", value, units[i]);
}

static void share_add(struct str *out, double value)
{
	double pct = 100 * value;

	str_addf(out,
		fabs(pct) >= 10 || pct == 0 ? "%.0f %%"
		: fabs(pct) >= 1	    ? "%.1f %%"
					    : "%.2f %%",
		pct);
}

/* What experiments count; other units are seldom 1. */
static const char *unit_of(double value, const char *unit)
{
	if (value == 1 && str_equal(unit, "places"))
		return "place";
	return value == 1 && str_equal(unit, "waits") ? "wait" : unit;
}

void words_add_value(double value, const char *unit, struct str *out)
{
	static const char *const times[] = {"ns", "us", "ms", "s", NULL};
	static const char *const sizes[] = {"bytes", "KiB", "MiB", "GiB", "TiB", NULL};

	if (!isfinite(value))
		str_add(out, "an unknown number");
	else if (str_equal(unit, "share"))
		share_add(out, value);
	else if (str_equal(unit, "ns"))
		scaled_add(out, value, times, 1000);
	else if (str_starts(unit, "bytes"))
		scaled_add(out, value, sizes, 1024);
	else
		number_add(out, value);
	if (isfinite(value) && str_equal(unit, "bytes per second"))
		str_add(out, " per second");
	else if (isfinite(value) && *unit && !str_equal(unit, "share") && !str_equal(unit, "ns") &&
		 !str_starts(unit, "bytes"))
		str_addf(out, " %s", unit_of(value, unit));
}

static void signal_add(const char *name, size_t len, const struct signals *signals, struct str *out)
{
	vec_foreach (const struct signal, signal, &signals->rows)
		if (strlen(signal->name) == len && memcmp(signal->name, name, len) == 0) {
			words_add_value(signal->value, signal->unit, out);
			return;
		}
	str_add_bytes(out, name, len);
}

char *words_expand(const char *text, const struct signals *signals, struct arena *arena)
{
	str_auto struct str out = {0};

	while (*text) {
		size_t len = strcspn(text, "{"), inside;

		str_add_bytes(&out, text, len);
		text += len;
		if (!*text)
			break;
		inside = strcspn(++text, "}");
		if (!text[inside])
			return NULL;
		signal_add(text, inside, signals, &out);
		text += inside + 1;
	}
	return arena_str(arena, &out);
}
