/* signal_growth.c - how the time grows with the input, as signals.
 *
 * A power is fitted over two or three run files, so it has no query in one of them: its SQL is the
 * number itself.  The times that it is made of can be asked for in each file. */
#include <math.h>

#include "analyze/growth.h"
#include "base/str.h"
#include "signal_parts.h"

/* The function of the program with the most time of its own. */
static const struct growth_function *hottest(const struct growth_view *view)
{
	const struct growth_function *best = NULL;

	for (uint32_t i = 0; i < view->function_count; i++)
		if (!best || view->functions[i].share > best->share)
			best = &view->functions[i];
	return best;
}

bool leaf_growth(struct leaf_reader *reader, const char *name, struct leaf *ret_leaf)
{
	const struct growth_view *view = reader->evidence->growth;
	const struct growth_function *function = view ? hottest(view) : NULL;
	struct growth_law law = {(double)NAN, (double)NAN};
	bool own = str_starts(name, "hottest_");
	const char *word = own ? name + 8 : name;
	double value;

	if (view && !own)
		law = view->whole;
	else if (function)
		law = function->own;
	if (str_equal(word, "least"))
		value = law.power - law.error;
	else if (str_equal(word, "most"))
		value = law.power + law.error;
	else if (str_equal(word, "doubling"))
		value = pow(2, law.power);
	else
		return false;
	*ret_leaf = isfinite(value) ? leaf_known(value, arena_format(reader->arena, "%.17g", value))
		    : view	    ? leaf_unknown("too few samples of a smaller input", "NULL")
				    : leaf_unknown("only one size is known", "NULL");
	return true;
}
