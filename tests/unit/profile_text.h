/* profile_text.h - a run with samples, written by hand as text: unit tests, and through make-run
 * the golden and end-to-end tests.
 *
 *     command record                what made the run (default record)
 *     event cpu-clock ns            an event and its unit; later samples belong to it
 *     thread 100 101 worker         pid, tid, name; later samples belong to it
 *     period 1000000                of later samples (default 1; 0: none)
 *     step 1000000                  ns between samples (default 1000000)
 *     flags truncated broken kernel of later samples; "flags" alone: none
 *     quality lost_samples 3
 *     execution 2000000000 1900000000   wall and CPU time in ns
 *     field cpu model Ore           of the fingerprint
 *     fact read_calls 1000          what /proc told
 *     note code|text|hint
 *     partial
 *     5 main;work@libw.so:7;+leaf   five samples of this stack, outermost first
 *
 * A frame is NAME[@MODULE][:LINE]; '+' before it: inlined into the one before; '?' as a name: an
 * address without a name; '-' as a stack: none.  The module is "prog" when not said.  A function of
 * module "libw.so" is defined in line 10 of "libw.so.c". */
#pragma once

struct run;

/* Not frozen, so that a test can add to it. */
struct run *profile_text_run(const char *text);
