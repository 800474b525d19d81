#!/usr/bin/python3
"""Reference values from scipy, numpy and statsmodels; the tests only read the text they make.

    /usr/bin/python3 tests/golden/statistics/make.py     (Debian 12: python3-scipy, -statsmodels)

A case is a few lines `name value...` up to an empty line; its first line is `case KIND`.  Data come
from fixed seeds.  The generator below is written from the description of xoshiro256** and not from
ours."""
import os

import numpy as np
import scipy
import statsmodels
import statsmodels.api as sm
from scipy import optimize, stats
from statsmodels.stats.proportion import proportion_confint
from statsmodels.tsa.stattools import acf

HERE = os.path.dirname(os.path.abspath(__file__))
MASK = 2**64 - 1


class Book:
    def __init__(self, name):
        self.file = open(os.path.join(HERE, name), "w", encoding="ascii")
        self.file.write(f"# scipy {scipy.__version__}, numpy {np.__version__}, statsmodels "
                        f"{statsmodels.__version__}: tests/golden/statistics/make.py\n")

    def case(self, kind, **fields):
        self.file.write(f"\ncase {kind}\n")
        for name, value in fields.items():
            words = " ".join(repr(float(v)) for v in np.atleast_1d(value))
            self.file.write(f"{name} {words}\n")


def xoshiro(seed):
    """Numbers of xoshiro256** seeded by splitmix64."""
    state = []
    for _ in range(4):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = seed
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        state.append(z ^ z >> 31)

    def turn(x, k):
        return (x << k | x >> 64 - k) & MASK

    while True:
        yield turn(state[1] * 5 & MASK, 7) * 9 & MASK
        kept = state[1] << 17 & MASK
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= kept
        state[3] = turn(state[3], 45)


def summaries(rng):
    book = Book("summary.txt")
    for n in (1, 2, 3, 4, 5, 10, 21, 100, 1001):
        x = np.round(rng.lognormal(3, 0.4, n), 6 if n % 2 else 1)
        shares = [0, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1]
        book.case("summary", x=x, median=np.median(x), mean=x.mean(),
                  mad=stats.median_abs_deviation(x), iqr=stats.iqr(x), shares=shares,
                  interpolated=np.quantile(x, shares),
                  nearest=np.quantile(x, shares, method="inverted_cdf"),
                  **({"deviation": x.std(ddof=1), "variation": stats.variation(x, ddof=1)}
                     if n > 1 else {}))
    for n in (3, 10, 50, 400):
        x = np.empty(n)
        x[0] = rng.normal()
        for i in range(1, n):
            x[i] = 0.66 * x[i - 1] + rng.normal()
        book.case("autocorrelation", x=x, r=acf(x, nlags=1, adjusted=False)[1])


def distributions():
    book = Book("distribution.txt")
    for z in (-37, -10, -6, -1.96, -0.5, 0, 1e-9, 0.7, 2.5758, 5, 8):
        book.case("normal", z=z, cdf=stats.norm.cdf(z))
    for share in (1e-300, 1e-20, 1e-5, 0.001, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9999, 1 - 1e-9):
        book.case("normal_quantile", share=share, z=stats.norm.ppf(share))
    for a, b in ((0.5, 0.5), (1, 1), (2, 30), (30, 2), (250, 250), (5000, 60), (99000, 1000)):
        for x in (0.001, 0.3, 0.5, 0.985, 0.9901):
            book.case("beta", a=a, b=b, x=x, cdf=stats.beta.cdf(x, a, b))
        for share in (0.005, 0.025, 0.5, 0.975):
            book.case("beta_quantile", a=a, b=b, share=share, x=stats.beta.ppf(share, a, b))
    for n, p in ((1, 0.5), (20, 0.5), (59, 0.95), (1000, 0.99), (100000, 0.5), (100000, 0.999)):
        for k in (0, n // 3, int(n * p), max(0, n - 1), n):
            book.case("binomial", k=k, n=n, share=p, cdf=stats.binom.cdf(k, n, p))
    for t, d in ((0, 3), (0.5, 1), (2.2, 5), (-3, 17), (12, 40), (1.96, 1000)):
        book.case("student", t=t, degrees=d, tails=2 * stats.t.sf(abs(t), d))
    for tails, d in ((0.05, 1), (0.05, 5), (0.01, 12), (0.001, 40), (0.05, 3000)):
        book.case("student_quantile", tails=tails, degrees=d, t=stats.t.isf(tails / 2, d))


def drawn_once(rng):
    """What cases that are gone drew, in their order: so what follows stays as it was."""
    rng.normal(size=82)
    rng.integers(9, size=38)
    rng.normal(size=2440)
    rng.integers(4, size=35)
    rng.normal(size=1232)
    rng.uniform(size=20)
    rng.normal(size=1160)


def shifts(rng):
    """Every difference written down and sorted: what shift.c never does."""
    book = Book("shift.txt")
    for n, m in ((1, 1), (2, 5), (30, 40), (200, 90)):
        a, b = rng.normal(10, 1, n), rng.normal(10.3, 2, m)
        w = np.sort(np.subtract.outer(b, a).ravel())
        fields = {"a": a, "b": b, "estimate": np.median(w)}
        if n > 25:
            c = int(np.floor(n * m / 2 - 1.96 * np.sqrt(n * m * (n + m + 1) / 12)))
            fields.update(lo=w[c], hi=w[len(w) - 1 - c])
        book.case("two", **fields)


def intervals():
    """Ranks of the bounds; 0 and infinite where there is none."""
    book = Book("interval.txt")
    for n in (1, 5, 6, 20, 58, 59, 71, 72, 298, 299, 368, 1000, 100000):
        for share in (0.05, 0.5, 0.9, 0.95, 0.99):
            high, upper = stats.binom.isf(0.025, n, share), stats.binom.isf(0.05, n, share)
            book.case("quantile", n=n, share=share, lo=stats.binom.ppf(0.025, n, share),
                      hi=high + 1 if high < n else np.inf,
                      upper=upper + 1 if upper < n else np.inf)
    for k, n in ((0, 1), (1, 1), (0, 20), (3, 20), (20, 20), (10, 300), (1, 100000)):
        for confidence in (0.95, 0.99):
            exact = proportion_confint(k, n, 1 - confidence, method="beta")
            wilson = proportion_confint(k, n, 1 - confidence, method="wilson")
            book.case("share", k=k, n=n, confidence=confidence,
                      exact=[0 if k == 0 else exact[0], 1 if k == n else exact[1]],
                      wilson=[0 if k == 0 else wilson[0], 1 if k == n else wilson[1]])


def randoms():
    numbers = xoshiro(42)
    Book("random.txt").case("random", seed=42, high=[next(numbers) >> 32 for _ in range(8)])


LAWS = (lambda n: 0 * n, np.log, lambda n: n, lambda n: n * np.log(n), lambda n: n * n)


def laws(rng):
    book = Book("law.txt")
    sizes = np.repeat([1.0, 10, 50, 100, 500, 1000], 3)
    for true in range(5):
        t = (2e5 + 40 * LAWS[true](sizes)) * rng.lognormal(0, 0.05, len(sizes))
        middle = np.array([np.median(t[sizes == n]) for n in sizes])
        fields = {"sizes": sizes, "times": t}
        lines = []
        for f in LAWS:
            columns = np.column_stack([np.ones_like(sizes), f(sizes)])[:, :2 if f(2.0) else 1]
            found, norm = optimize.nnls(columns / middle[:, None], t / middle)
            lines.append([found[0], found[1] if len(found) > 1 else 0, norm**2])
        fields["a"], fields["b"], fields["rss"] = np.array(lines).T
        n = len(sizes)
        k = np.array([2, 3, 3, 3, 3])
        fields["aicc"] = n * np.log(fields["rss"] / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1)
        line = stats.linregress(np.log(sizes), np.log(t))
        width = stats.t.isf(0.025, n - 2) * line.stderr
        fields["slope"] = [line.slope, line.slope - width, line.slope + width]
        model = sm.WLS(t, sm.add_constant(sizes), weights=1 / middle**2).fit()
        fields["linear_p"] = model.pvalues[1] if min(model.params) >= 0 else np.nan
        book.case("law", **fields)
    threads = np.array([1.0, 2, 4, 8, 16, 32, 64])
    for sigma, kappa in ((0.05, 0.001), (0.2, 0), (0, 0), (0.02, 0.0004)):
        x = 900 * threads / (1 + sigma * (threads - 1) + kappa * threads * (threads - 1))
        x = x * rng.lognormal(0, 0.02, len(x))
        y = threads / x
        columns = np.column_stack([np.ones_like(y), threads - 1, threads * (threads - 1)])
        found, _ = optimize.nnls(columns / y[:, None], np.ones_like(y))
        book.case("usl", threads=threads, rates=x, rate_of_one=1 / found[0],
                  contention=found[1] / found[0], coherency=found[2] / found[0])


def main():
    rng = np.random.default_rng(20261115)
    summaries(rng)
    distributions()
    drawn_once(rng)
    shifts(rng)
    intervals()
    randoms()
    rng.lognormal(size=92)  # as drawn_once()
    laws(rng)


main()
