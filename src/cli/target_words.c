/* target_words.c - what is measured, in words for people. */
#include "cli.h"
#include "model/run.h"
#include "render/shorten.h"

text_id cli_target_words(const struct cli *cli, struct run *run)
{
	static const char *const watched[] = {"pid", "tid"};
	str_auto struct str text = {0};

	for (unsigned i = 0; i < 2; i++)
		if (cli_has(cli, watched[i]))
			str_addf(&text, "%s %s", i ? "thread" : "process",
				cli_value(cli, watched[i]));
	if (cli_has(cli, "all-cpus"))
		str_add(&text, "the whole machine");
	if (text.len && cli->program)
		str_add(&text, " during ");
	for (char **word = cli->program; word && *word; word++) {
		str_add(&text, word == cli->program ? "" : " ");
		word_quote(*word, &text); /* it is shown in commands that can be typed */
	}
	return run_intern(run, str_text(&text));
}
