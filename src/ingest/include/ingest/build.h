/* build.h - the facts of a program as fingerprint fields of group "build".
 *
 * Each field is a value or absent, never empty.  The run copies the texts. */
#pragma once

struct binary_facts;
struct run;

void ingest_build_fields(struct run *run, const struct binary_facts *facts);
