/* words.c - the command line in, options out.
 *
 * Long options as --name VALUE or --name=VALUE, short ones as -e VALUE, -eVALUE or bundled
 * switches.  An option whose value is described by several words ("NAME MIN MAX") takes that many,
 * each as a word of its own; they are as many values of it.  The program starts behind `--`, or,
 * for commands that take a program, at the first word that is no option; what follows is its own
 * and is never looked at. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

const struct option_spec common_options[] = {
	{"json", 0, "FILE", true, NULL, "one JSON document on stdout, or in FILE"},
	{"agent", 0, NULL, false, NULL,
		"plain ASCII, at most 40 lines, ending with the next command"},
	{"quiet", 'q', NULL, false, NULL, "only the result and errors"},
	{"color", 0, "WHEN", false, "auto|always|never",
		"colours (default auto; respects NO_COLOR)"},
	{"help", 'h', NULL, false, NULL, "this text"},
	{0},
};

static const struct option_spec *spec_find(
	const struct command *command, const char *name, size_t len, char letter)
{
	const struct option_spec *tables[] = {command->options, common_options};

	for (unsigned t = 0; t < 2; t++)
		for (const struct option_spec *spec = tables[t]; spec && spec->name; spec++) {
			if (letter && spec->letter == letter)
				return spec;
			if (!letter && strlen(spec->name) == len && !strncmp(spec->name, name, len))
				return spec;
		}
	return NULL;
}

static int unknown_option(const struct cli *cli, const char *word, struct err *err)
{
	const struct option_spec *tables[] = {cli->command->options, common_options};
	const char *names[64], *nearest;
	unsigned count = 0;
	char name[64];

	for (unsigned t = 0; t < 2; t++)
		for (const struct option_spec *spec = tables[t]; spec && spec->name; spec++)
			if (count < 63)
				names[count++] = spec->name;
	names[count] = NULL;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 1, "="), word + 1);
	nearest = word[1] == '-' ? str_nearest(name + 1, names) : NULL;
	err_set(err, ERR_USAGE, EINVAL, "assay %s: unknown option %.*s", cli->command->name,
		(int)strcspn(word, "="), word);
	if (nearest)
		err_hint(err, "did you mean --%s?", nearest);
	else
		err_hint(err, "assay help %s lists its options", cli->command->name);
	return -EINVAL;
}

static bool choice_is_valid(const char *choices, const char *value)
{
	size_t len = strlen(value);

	while (choices) {
		if (strcspn(choices, "|") == len && strncmp(choices, value, len) == 0)
			return true;
		choices = strchr(choices, '|');
		choices = choices ? choices + 1 : NULL;
	}
	return false;
}

/* No file has an empty name: a variable of the shell was not set. */
static bool names_nothing(const struct option_spec *spec, const char *value)
{
	static const char *const files[] = {"FILE", "RUN", "DIR", "DOC", "PATH"};

	for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (value && !*value && str_equal(spec->value, files[i]))
			return true;
	return false;
}

static int option_add(
	struct cli *cli, const struct option_spec *spec, const char *value, struct err *err)
{
	if (names_nothing(spec, value)) {
		err_set(err, ERR_USAGE, EINVAL, "--%s has an empty name", spec->name);
		err_hint(err, "check for a shell variable without a value");
		return -EINVAL;
	}
	if (value && spec->choices && !choice_is_valid(spec->choices, value)) {
		err_set(err, ERR_USAGE, EINVAL, "invalid --%s '%s'", spec->name, value);
		err_hint(err, "use one of %s", spec->choices);
		return -EINVAL;
	}
	vec_push(&cli->options, (struct cli_option){spec, value});
	return 0;
}

static int option_needs_value(const struct option_spec *spec, struct err *err)
{
	err_set(err, ERR_USAGE, EINVAL, "--%s needs a value", spec->name);
	err_hint(err, "write --%s=%s", spec->name, spec->value);
	return -EINVAL;
}

/* The first word of a value is taken; take those that follow it, if there are any. */
static int option_add_more(
	struct cli *cli, const struct option_spec *spec, char ***word, struct err *err)
{
	for (const char *at = spec->value; at && (at = strchr(at, ' ')); at++) {
		if (!(*word)[1]) {
			err_set(err, ERR_USAGE, EINVAL, "--%s needs more values", spec->name);
			err_hint(err, "write --%s %s", spec->name, spec->value);
			return -EINVAL;
		}
		vec_push(&cli->options, (struct cli_option){spec, *++*word});
	}
	return 0;
}

static int parse_long(struct cli *cli, char ***word, struct err *err)
{
	const char *name = **word + 2, *value = strchr(name, '=');
	size_t len = value ? (size_t)(value - name) : strlen(name);
	const struct option_spec *spec = spec_find(cli->command, name, len, 0);
	int r;

	if (!spec)
		return unknown_option(cli, **word, err);
	if (value && !spec->value) {
		err_set(err, ERR_USAGE, EINVAL, "--%s takes no value", spec->name);
		err_hint(err, "write --%s alone", spec->name);
		return -EINVAL;
	}
	if (value)
		value++;
	else if (spec->value && !spec->optional) {
		value = *++*word;
		if (!value) {
			--*word;
			return option_needs_value(spec, err);
		}
	}
	r = option_add(cli, spec, value, err);
	return r < 0 ? r : option_add_more(cli, spec, word, err);
}

static int parse_short(struct cli *cli, char ***word, struct err *err)
{
	for (const char *at = **word + 1; *at; at++) {
		const struct option_spec *spec = spec_find(cli->command, NULL, 0, *at);
		int r;

		if (!spec)
			return unknown_option(cli, **word, err);
		if (!spec->value || spec->optional) {
			r = option_add(cli, spec, NULL, err);
			if (r < 0)
				return r;
			continue;
		}
		if (!at[1] && !(*word)[1])
			return option_needs_value(spec, err);
		r = option_add(cli, spec, at[1] ? at + 1 : *++*word, err);
		return r < 0 ? r : option_add_more(cli, spec, word, err);
	}
	return 0;
}

static int check_operands(const struct cli *cli, struct err *err)
{
	const struct command *command = cli->command;
	uint32_t given = cli->operands.count;

	if (command->program == PROGRAM_PAIR && !cli->program)
		err_set(err, ERR_USAGE, EINVAL, "assay %s needs two programs with -- between them",
			command->name);
	else if (command->program == PROGRAM_REQUIRED && !cli->program && !cli_has(cli, "pid") &&
		 !cli_has(cli, "tid") && !cli_has(cli, "all-cpus") && !cli_has(cli, "show") &&
		 !cli_has(cli, "check"))
		err_set(err, ERR_USAGE, EINVAL, "assay %s needs a program", command->name);
	else if (given < command->operands_min)
		err_set(err, ERR_USAGE, EINVAL, "assay %s needs more arguments", command->name);
	else if (given > command->operands_max)
		err_set(err, ERR_USAGE, EINVAL, "assay %s: unexpected argument '%s'", command->name,
			cli->operands.at[command->operands_max]);
	else
		return 0;
	err_hint(err, "usage: assay %s %s", command->name, command->usage);
	return -EINVAL;
}

int cli_parse(struct cli *cli, char **words, struct err *err)
{
	for (char **word = words; *word; word++) {
		int r = 0;

		if (str_equal(*word, "--")) {
			if (word[1])
				cli->program = word + 1;
			if (cli->program && cli->command->program == PROGRAM_NONE) {
				err_set(err, ERR_USAGE, EINVAL, "assay %s runs no program",
					cli->command->name);
				err_hint(err, "usage: assay %s %s", cli->command->name,
					cli->command->usage);
				return -EINVAL;
			}
			break;
		}
		if (str_starts(*word, "--"))
			r = parse_long(cli, &word, err);
		else if (**word == '-' && (*word)[1])
			r = parse_short(cli, &word, err);
		else if (cli->command->program == PROGRAM_REQUIRED) {
			cli->program = word;
			break;
		} else if (cli->command->program == PROGRAM_PAIR) {
			for (; word[0] && !str_equal(word[0], "--"); word++)
				vec_push(&cli->operands, *word);
			word--;
		} else
			vec_push(&cli->operands, *word);
		if (r < 0)
			return r;
	}
	if (cli_has(cli, "help"))
		return 0;
	if (cli_has(cli, "agent") && cli_has(cli, "json") && !cli_value(cli, "json")) {
		err_set(err, ERR_USAGE, EINVAL, "--agent and --json both use stdout");
		err_hint(err, "use one, or --json=FILE");
		return -EINVAL;
	}
	cli->mode = cli_has(cli, "json") && !cli_value(cli, "json") ? CLI_JSON
		    : cli_has(cli, "agent")			    ? CLI_AGENT
								    : CLI_TEXT;
	cli->quiet = cli_has(cli, "quiet");
	cli->target_status = cli_has(cli, "target-status");
	return check_operands(cli, err);
}

const char *cli_value_at(const struct cli *cli, const char *name, unsigned index)
{
	vec_foreach (const struct cli_option, option, &cli->options)
		if (str_equal(option->spec->name, name) && index-- == 0)
			return option->value;
	return NULL;
}

const char *const *cli_values(struct cli *cli, const char *name)
{
	const char **values;
	unsigned count = 0;

	while (cli_value_at(cli, name, count))
		count++;
	if (!count)
		return NULL;
	values = arena_take(&cli->arena, (count + 1) * sizeof(*values));
	for (unsigned i = 0; i < count; i++)
		values[i] = cli_value_at(cli, name, i);
	return values;
}

bool cli_has(const struct cli *cli, const char *name)
{
	vec_foreach (const struct cli_option, option, &cli->options)
		if (str_equal(option->spec->name, name))
			return true;
	return false;
}

const char *cli_value(const struct cli *cli, const char *name)
{
	const char *value = NULL;

	vec_foreach (const struct cli_option, option, &cli->options)
		if (str_equal(option->spec->name, name))
			value = option->value;
	return value;
}

/* Seven parameters, one too many: the bounds and the default are what a caller has to say. */
/* NOLINTNEXTLINE(readability-function-size) */
int cli_number(const struct cli *cli, const char *name, uint64_t low, uint64_t high,
	uint64_t fallback, uint64_t *ret_value, struct err *err)
{
	const char *text = cli_value(cli, name);
	uint64_t value = fallback;

	if (text && (str_to_u64(text, &value) < 0 || value < low || value > high)) {
		err_set(err, ERR_USAGE, EINVAL, "invalid --%s '%s'", name, text);
		err_hint(err, "use a whole number from %llu to %llu", (unsigned long long)low,
			(unsigned long long)high);
		return -EINVAL;
	}
	*ret_value = value;
	return 0;
}

int cli_count(const struct cli *cli, const char *name, uint32_t high, uint32_t *ret_value,
	struct err *err)
{
	uint64_t value;
	int r = cli_number(cli, name, 1, high, *ret_value, &value, err);

	if (r >= 0)
		*ret_value = (uint32_t)value;
	return r;
}

int cli_duration(const struct cli *cli, const char *name, uint64_t fallback_ns, uint64_t *ret_ns,
	struct err *err)
{
	const char *text = cli_value(cli, name);
	uint64_t ns = fallback_ns;

	if (text && (str_to_duration(text, &ns) < 0 || ns == 0)) {
		err_set(err, ERR_USAGE, EINVAL, "invalid --%s '%s'", name, text);
		err_hint(err, "write a duration such as 500ms, 25s or 2m");
		return -EINVAL;
	}
	*ret_ns = ns;
	return 0;
}

int cli_size(const struct cli *cli, const char *name, uint64_t fallback, uint64_t *ret_bytes,
	struct err *err)
{
	static const char units[] = "KMGT";
	const char *text = cli_value(cli, name), *unit;
	mem_auto char *digits = mem_copy_text(text ? text : "", text ? strcspn(text, units) : 0);
	uint64_t bytes = fallback;
	unsigned shift;

	unit = text && text[strlen(digits)] ? strchr(units, text[strlen(digits)]) : NULL;
	shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	if (text && (str_to_u64(digits, &bytes) < 0 || !bytes || bytes > UINT64_MAX >> shift ||
			    (unit && text[strlen(digits) + 1]))) {
		err_set(err, ERR_USAGE, EINVAL, "--%s '%s' is not a size", name, text);
		return err_hint(err, "write a number of bytes with K, M, G or T, such as 500M");
	}
	*ret_bytes = bytes << shift;
	return 0;
}

int cli_share(const struct cli *cli, const char *name, double *ret_share, struct err *err)
{
	const char *text = cli_value(cli, name);
	double value;
	char *end;

	*ret_share = 0;
	if (!text)
		return 0;
	value = strtod(text, &end);
	while (*end == ' ')
		end++;
	if (str_equal(end, "%"))
		value /= 100;
	if (end != text && (!*end || str_equal(end, "%")) && value > 0 && value < 1) {
		*ret_share = value;
		return 0;
	}
	err_set(err, ERR_USAGE, EINVAL, "invalid --%s '%s'", name, text);
	err_hint(err, "write a share between 0 and 1: 1%% or 0.01");
	return -EINVAL;
}
