/* sql.c - SQLite in memory: inserts, joins, sorts, N times.  C code that somebody else wrote, in a
 * library without debug information.  `sql N`. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static void run(sqlite3 *db, const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
		fprintf(stderr, "%s\n", message);
		exit(2);
	}
}

static void fill(sqlite3 *db, int rows)
{
	run(db, "CREATE TABLE a(id INTEGER PRIMARY KEY, x INTEGER, t TEXT);"
		"CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER, y REAL); BEGIN");
	for (int i = 0; i < rows; i++) {
		char sql[160];

		snprintf(sql, sizeof(sql),
			"INSERT INTO a VALUES(%d, %d, 'text %d'); INSERT INTO b VALUES(%d, %d, %d.5)",
			i, i * 7919 % 1000, i * 31 % 977, i, i * 13 % rows, i);
		run(db, sql);
	}
	run(db, "COMMIT");
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 10;
	sqlite3 *db;

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		return 2;
	fill(db, 3000);
	for (int i = 0; i < times; i++)
		run(db, "SELECT t, count(*), sum(y) FROM a JOIN b ON b.a = a.id WHERE x > 100 "
			"GROUP BY t ORDER BY 3 DESC, 1; SELECT upper(t) || x FROM a ORDER BY t, x");
	sqlite3_close(db);
	return 0;
}
