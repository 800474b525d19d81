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

# Exact intervals need data without ties.
for (n in c(6, 7, 8, 9, 12, 20, 25)) {
	x <- rnorm(n, 0.02, 0.05)
	w <- wilcox.test(x, exact = TRUE, conf.int = TRUE)
	case("signed_rank", d = x, p = w$p.value, statistic = unname(w$statistic), origin_exact = 1)
	case("one", x = x, estimate = unname(w$estimate), lo = w$conf.int[1], hi = w$conf.int[2])
}
for (n in c(26, 60)) {
	x <- round(rnorm(n, 0.4, 2))
	if (n == 26) x[x == 0] <- 1
	case("signed_rank", d = x, p = wilcox.test(x, exact = FALSE)$p.value, origin_exact = 0)
}
for (size in list(c(4, 4), c(5, 9), c(12, 10), c(25, 25))) {
	a <- rnorm(size[1], 10, 1)
	b <- rnorm(size[2], 10.5, 2)
	w <- wilcox.test(b, a, exact = TRUE, conf.int = TRUE)
	case("rank_sum", a = a, b = b, u = unname(w$statistic), p = w$p.value, origin_exact = 1)
	case("two", a = a, b = b, estimate = unname(w$estimate), lo = w$conf.int[1], hi = w$conf.int[2])
}
a <- round(rnorm(40, 10, 3))
b <- round(rnorm(30, 11, 3))
w <- wilcox.test(b, a, exact = FALSE)
case("rank_sum", a = a, b = b, u = unname(w$statistic), p = w$p.value, origin_exact = 0)
for (counts in list(c(0, 12), c(5, 12), c(12, 12), c(7, 4000)))
	for (confidence in c(0.9, 0.95))
		case("share", k = counts[1], n = counts[2], confidence = confidence,
			exact = binom.test(counts[1], counts[2], conf.level = confidence)$conf.int[1:2])
for (n in c(1, 3, 8)) {
	p <- runif(n, 0, 0.1)
	case("holm", p = p, adjusted = p.adjust(p, "holm"))
}
for (n in c(4, 11, 200)) {
	x <- rlnorm(n, 3, 0.4)
	shares <- c(0, 0.1, 0.25, 0.5, 0.9, 0.99, 1)
	case("summary", x = x, median = median(x), mean = mean(x), deviation = sd(x),
		mad = mad(x, constant = 1), iqr = IQR(x), shares = shares,
		interpolated = unname(quantile(x, shares, type = 7)),
		nearest = unname(quantile(x, shares, type = 1)))
	case("autocorrelation", x = x, r = acf(x, plot = FALSE)$acf[2])
}
