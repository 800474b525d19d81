# A second opinion, from R: Rscript --vanilla tests/golden/statistics/make.R | sed "s/ $//" > tests/golden/statistics/r.txt
# (Debian 12: r-base-core).  The form is that of make.py.
options(digits = 17)
cat("#", R.version.string, "(stats): tests/golden/statistics/make.R\n")
case <- function(.kind, ...) {
	cat("\ncase", .kind, "\n")
	fields <- list(...)
	for (name in names(fields)) cat(name, format(fields[[name]], trim = TRUE), "\n")
}
set.seed(20261115)

# Drawn by cases that are gone: so what follows stays as it was.
invisible(rnorm(173))

# Exact intervals need data without ties.
for (size in list(c(4, 4), c(5, 9), c(12, 10), c(25, 25))) {
	a <- rnorm(size[1], 10, 1)
	b <- rnorm(size[2], 10.5, 2)
	w <- wilcox.test(b, a, exact = TRUE, conf.int = TRUE)
	case("two", a = a, b = b, estimate = unname(w$estimate), lo = w$conf.int[1], hi = w$conf.int[2])
}
invisible(rnorm(70)) # as above
for (counts in list(c(0, 12), c(5, 12), c(12, 12), c(7, 4000)))
	for (confidence in c(0.9, 0.95))
		case("share", k = counts[1], n = counts[2], confidence = confidence,
			exact = binom.test(counts[1], counts[2], conf.level = confidence)$conf.int[1:2])
invisible(runif(12)) # as above
for (n in c(4, 11, 200)) {
	x <- rlnorm(n, 3, 0.4)
	shares <- c(0, 0.1, 0.25, 0.5, 0.9, 0.99, 1)
	case("summary", x = x, median = median(x), mean = mean(x), deviation = sd(x),
		mad = mad(x, constant = 1), iqr = IQR(x), shares = shares,
		interpolated = unname(quantile(x, shares, type = 7)),
		nearest = unname(quantile(x, shares, type = 1)))
	case("autocorrelation", x = x, r = acf(x, plot = FALSE)$acf[2])
}
