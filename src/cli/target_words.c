/* target_words.c - what is measured, in words for people. */
#include "base/words.h"
#include "cli.h"

void cli_target_text(const struct cli *cli, struct str *out)
{
	static const char *const watched[] = {"pid", "tid"};

	for (unsigned i = 0; i < 2; i++)
		if (cli_has(cli, watched[i]))
			str_addf(
				out, "%s %s", i ? "thread" : "process", cli_value(cli, watched[i]));
	if (cli_has(cli, "all-cpus"))
		str_add(out, "the whole machine");
	if (out->len && cli->program)
		str_add(out, " during ");
	if (cli->program)
		words_quote(cli->program, out); /* it is shown in commands that can be typed */
}
