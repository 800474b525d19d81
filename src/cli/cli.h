/* cli.h - the frame every subcommand stands in.
 *
 * A subcommand is one file with one `const struct command`, listed in table.c.  Help, man pages,
 * completions and the documentation check all come from that table.  The frame parses the words,
 * calls run(), and turns what it returns into the exit status.  Only this room prints and exits. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/interrupt.h"
#include "base/jsonw.h"
#include "base/str.h"
#include "base/vec.h"
#include "job/host.h"
#include "job/status.h"
#include "render/paper.h"

struct option_spec {
	const char *name;    /* long name without the dashes */
	char letter;	     /* short name, or 0 */
	const char *value;   /* what follows, for the help: "FILE"; NULL: a switch.  "NAME MIN MAX"
			      * takes three words, which are three values */
	bool optional;	     /* the value may be left out and is only taken as --name=VALUE */
	const char *choices; /* "auto|pmu|sim": anything else is refused; NULL: free */
	const char *help;
};

enum program_mode {
	PROGRAM_NONE,
	PROGRAM_OPTIONAL,
	PROGRAM_REQUIRED,
	PROGRAM_PAIR, /* two: the operands up to -- are the first one's words, never options */
};

struct cli;

struct command {
	const char *name;
	const char *summary;	     /* one line, no full stop */
	const char *usage;	     /* what follows the name: "[-e EVENTS] -- PROGRAM ARGS..." */
	const char *const *examples; /* "COMMAND LINE", "what it does", ..., NULL */
	const char *details;	     /* paragraphs for the man page and long help, or NULL */
	const struct option_spec *options; /* ends with a row without a name */
	enum program_mode program;	   /* words behind -- (or the first operand on) */
	unsigned operands_min,
		operands_max; /* words that are no options, when there is no program */
	/* Returns an enum exit_status, or a negative errno with `err` set. */
	int (*run)(struct cli *cli, struct err *err);
};

extern const struct command *const commands[]; /* NULL-terminated; table.c */
/* The question that this command and those behind it answer; NULL: that of the one before. */
const char *command_question(const struct command *command);
extern const struct option_spec common_options[];

enum cli_mode { CLI_TEXT, CLI_AGENT, CLI_JSON };

struct cli_option {
	const struct option_spec *spec;
	const char *value; /* NULL: a switch, or an optional value left out */
};

struct cli {
	char **argv; /* as typed, NULL-terminated */
	const struct command *command;
	enum cli_mode mode; /* CLI_JSON: the document is on stdout; --json=FILE alone is not this */
	bool quiet;
	bool target_status;
	int target_exit; /* a program that failed ended so; 0: none did, or the command tells it */
	bool target_ended; /* `target_exit` is how, 0 too: for a result that cannot be written */
	char **program;	   /* the target and its words, NULL-terminated; NULL: none */
	vec_of(char *) operands;
	vec_of(struct cli_option) options;
	struct str target;    /* what is measured, in words for people */
	struct arena arena;   /* for what the command keeps to its end */
	struct job_host host; /* what a job of this command asks; set by main */
};

/* Split the words behind the command's name into options, operands and program. */
int cli_parse(struct cli *cli, char **words, struct err *err);

/* Whether the option was given; its last value (NULL when not given or left out). */
bool cli_has(const struct cli *cli, const char *name);
const char *cli_value(const struct cli *cli, const char *name);

/* Values of an option that may be given more than once: the index-th, NULL past the end. */
const char *cli_value_at(const struct cli *cli, const char *name, unsigned index);
/* All of them, NULL-terminated; NULL: not given. */
const char *const *cli_values(struct cli *cli, const char *name);

/* A whole number option within [low, high], `fallback` when not given. */
int cli_number(const struct cli *cli, const char *name, uint64_t low, uint64_t high,
	uint64_t fallback, uint64_t *ret_value, struct err *err);

/* The same from 1 on; not given: *ret_value stays as it is. */
int cli_count(const struct cli *cli, const char *name, uint32_t high, uint32_t *ret_value,
	struct err *err);

/* A duration option ("25s", "500ms") in nanoseconds, `fallback_ns` when not given. */
int cli_duration(const struct cli *cli, const char *name, uint64_t fallback_ns, uint64_t *ret_ns,
	struct err *err);

/* A size option ("4096", "500M", "8G") in bytes, `fallback` when not given. */
int cli_size(const struct cli *cli, const char *name, uint64_t fallback, uint64_t *ret_bytes,
	struct err *err);

/* A share option ("1%", "0.01") as a fraction, 0 when not given. */
int cli_share(const struct cli *cli, const char *name, double *ret_share, struct err *err);

struct run;

/* What a command shows, in each form that was asked for:
 *
 *     struct cli_page page = {.run = run, .to_stderr = true};
 *     while (cli_page_next(cli, &page)) {
 *             if (page.json)
 *                     stat_json(page.json, &view);   // inside "data": { }
 *             else if (cli->mode == CLI_AGENT) ...
 *             else stat_text(page.paper, &view);
 *     }
 *     r = cli_page_end(cli, &page, err);
 *
 * --json prints one document on stdout and nothing else; --json=FILE writes the document there and
 * shows the text as well.  The envelope's warnings are the notes of `run`, its fingerprint key is
 * run's.  Everything is printed at the end, whole. */
struct cli_page {
	const struct run *run; /* may be NULL */
	const char *told;      /* code of a note that host.tell has shown; NULL: none */
	bool to_stderr;	       /* the target owns stdout */
	struct jsonw *json;    /* one of these two is set in the loop */
	struct paper *paper;
	struct str json_text, paper_text;
	struct jsonw writer;
	struct paper sheet;
	unsigned step;
};

/* -o FILE is --json=FILE for a command whose product is the document. */
int cli_output_as_json(struct cli *cli, struct err *err);

/* Text for people on stdout or stderr, at once.  0 or a negative errno. */
int cli_say(int fd, const struct str *text);

/* Text that is the product of a command, whole, on stdout. */
int cli_print(const char *text, size_t len, struct err *err);

/* Text for the file that an option names, if it was given. */
int cli_write(const struct cli *cli, const char *option, const struct str *text, struct err *err);

bool cli_page_next(const struct cli *cli, struct cli_page *page);
int cli_page_end(const struct cli *cli, struct cli_page *page, struct err *err);

/* Help texts from the table. */
void help_overview(struct paper *paper);
void help_command(struct paper *paper, const struct command *command);
void help_man(struct str *out, const struct command *command);	/* NULL: assay(1) itself */
void help_json(struct jsonw *w, const struct command *command); /* NULL: all commands */
void help_agent(struct paper *paper, const struct command *command);
void version_write(struct str *out, bool verbose);
const struct command *command_find(const char *name);
int command_unknown(const char *name, struct err *err);

/* The exit status for how the program ended: EXIT_TARGET when one of its runs failed, or, with
 * --target-status, its own. */
int cli_target_status(const struct cli *cli, const struct run *run);
/* Before a failure of ours is returned: how the program ended is what --target-status asks for. */
void cli_target_tell(struct cli *cli, const struct run *run);

/* The exit status for a failure. */
int cli_status_of(const struct err *err);

/* Start counting signals; done once, by main. */
void cli_watch_interrupts(void);

/* Ctrl-C and its friends since the start. */
struct interrupt cli_interrupted(void);

/* A run for a view.  From here on the command only computes, in memory that nobody else sees, and
 * Ctrl-C ends it where it stands, until cli_stay(): that is called before the first byte goes out.
 */
int cli_load(struct cli *cli, const char *path, struct run **ret_run, struct err *err);
void cli_leave_on_interrupt(void);
void cli_stay(void);
/* Those so far were for somebody else. */
void cli_forget_interrupts(void);

/* This command as the host of a job. */
struct job_host cli_host(struct cli *cli);
