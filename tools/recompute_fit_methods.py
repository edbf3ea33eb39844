"""Fits, their figures and the parts they are held out in, for tools/recompute_fit.py: each method by
scipy or scikit-learn from its definition in docs/measuring.md, "Calibration".
"""
import math
from collections import Counter

import numpy as np
from scipy.optimize import brentq, minimize, root
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from recompute import Random, nearest_rank

SEED = 1
PARTS = 5
CLIP = 1e-6
METHOD_NONE = {"method": "none"}


# ---- samples: arrays over items, options padded


def numbered(keys):
    """Each key's place among the different ones, as they come."""
    number = {}
    return [number.setdefault(k, len(number)) for k in keys]


class Sample:
    def __init__(self, items, clusters):
        self.items, self.cluster = items, np.array(clusters)
        n, k = len(items), max(i.options for i in items)
        self.options = np.array([i.options for i in items])
        self.label = np.array([i.label for i in items])
        self.answered = np.array([i.scores is not None for i in items])
        self.bare = any(i.scores is not None and len(i.scores) == 1 for i in items)
        self.z, self.own = np.full((n, k), -np.inf), np.full((n, k), np.nan)
        for row, item in enumerate(items):
            if item.scores is not None:
                self.z[row, :len(item.scores)] = item.scores
            own = np.full(item.options, 1 / item.options) if item.scores is None else item.own
            if own is not None:
                self.own[row] = 0
                self.own[row, :item.options] = own
        self.has_own = not np.isnan(self.own[self.answered]).any()
        self.all = np.arange(n)
        self.fits, self.bests = {}, {}

    def x(self, some):
        return self.z[some, 0] if self.bare else self.z[some, 0] - self.z[some, 1]

    def methods(self):
        counts = set(self.options[self.answered])
        if not counts:
            return []
        out = ["none"] if self.has_own else []
        out += [] if self.bare else ["temperature"]
        out += ["label-prior"] if len(counts) == 1 and counts != {2} and not self.bare else []
        out += ["platt"] if counts == {2} else []
        return out + (["isotonic"] if self.answered.sum() >= 200 else [])


def softmax(z):
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def temperature(z, options, label):
    """T in [1e-4, 1e4] where the slope of the loss in 1/T is zero; it rises with 1/T."""
    inside = np.isfinite(z)
    z = z - z.max(axis=1, keepdims=True)
    zero = np.where(inside, z, 0)
    right = zero[np.arange(len(z)), label]
    miss = 1 / (len(z) + 2)
    wanted = ((1 - miss) * right + miss * (zero.sum(axis=1) - right) / (options - 1)).sum()

    def slope(u):
        weight = np.exp(math.exp(u) * z)
        return ((weight * zero).sum(axis=1) / weight.sum(axis=1)).sum() - wanted

    low, high = math.log(1e-4), math.log(1e4)
    if slope(low) >= 0 or slope(high) <= 0:
        return 1e4 if slope(low) >= 0 else 1e-4
    return math.exp(-brentq(slope, low, high, xtol=1e-15, rtol=1e-15))


def fit_temperature(z, options, label, bias):
    z = z if bias is None else z + bias
    out = {"method": "temperature", "temperatures": [{"options": 0, "t": temperature(z, options, label)}]}
    counts = Counter(options.tolist())
    for k in sorted(counts) if len(counts) > 1 else []:
        if counts[k] >= 30:
            own = options == k
            out["temperatures"].append({"options": k, "t": temperature(z[own], options[own], label[own])})
    if bias is not None:
        out.update(method="label-prior", bias=bias.tolist())
    return out


def fit_platt(x, yes):
    hits, n = int(yes.sum()), len(yes)
    target = np.where(yes, (hits + 1) / (hits + 2), 1 / (n - hits + 2))
    flat = {"method": "platt", "slope": 0.0, "offset": float(logit(target.mean()))}
    middle, spread = x.mean(), x.std()
    if spread == 0:
        return flat
    s = (x - middle) / spread
    ones = np.stack([s, np.ones(n)])

    def gradient(w):
        return ones @ (expit(w @ ones) - target)

    def hessian(w):
        p = expit(w @ ones)
        return (ones * (p * (1 - p))) @ ones.T

    def loss(w):
        return (np.logaddexp(0, w @ ones) - target * (w @ ones)).sum()

    start = np.array([0.0, flat["offset"]])
    if gradient(start)[0] >= 0:  # the loss is convex: its least has no slope above zero
        return flat
    found = root(gradient, start, jac=hessian, tol=1e-14)
    if np.abs(gradient(found.x)).max() > 1e-6:
        found = minimize(loss, start, jac=gradient, hess=hessian, method="trust-exact")
    w = found.x
    for _ in range(3):  # to the last digits, where root's own test of progress gives up
        w = w - np.linalg.solve(hessian(w), gradient(w))
    slope = w[0] / spread
    return {"method": "platt", "slope": float(slope), "offset": float(w[1] - slope * middle)}


def fit_isotonic(x, y, by_option):
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    # Equal but for rounding is equal; only the order counts for the values.
    rank = np.concatenate([[0], np.cumsum(np.diff(x) > 1e-12 * np.abs(x[1:]))])
    levels = IsotonicRegression().fit(rank, y).predict(rank)
    block = np.concatenate([[0], np.cumsum(np.diff(levels) > 1e-12)])
    mean = np.bincount(block, weights=y) / np.bincount(block)
    mean = np.clip(mean, 0.5 / len(x), 1 - 0.5 / len(x))
    first, last = np.searchsorted(block, np.unique(block)), np.searchsorted(block, np.unique(block), "right") - 1
    knots = []
    for a, b, p in zip(x[first], x[last], mean):
        knots += [[float(a), float(p)]] + ([[float(b), float(p)]] if b > a else [])
    return {"method": "isotonic", "of": "option" if by_option else "difference", "knots": knots}


def fit(sample, some, method):
    if method == "none":
        return METHOD_NONE
    key = (method, some.tobytes())
    if key not in sample.fits:
        sample.fits[key] = make_fit(sample, some, method)
    return sample.fits[key]


def make_fit(sample, some, method):
    some = some[sample.answered[some] & (sample.label[some] < sample.options[some])]
    if len(some) == 0:
        return None
    options, label, z = sample.options[some], sample.label[some], sample.z[some]
    z = z[:, :options.max()]
    if method == "temperature":
        return fit_temperature(z, options, label, None)
    if method == "label-prior":
        bias = -np.log(np.maximum(softmax(z).mean(axis=0), CLIP))
        return fit_temperature(z, options, label, bias)
    if method == "platt":
        return fit_platt(sample.x(some), label == 0)
    if (options == 2).all():
        return fit_isotonic(sample.x(some), (label == 0).astype(float), False)
    inside = np.isfinite(z)
    events = (np.arange(z.shape[1]) == label[:, None]).astype(float)
    return fit_isotonic(softmax(z)[inside], events[inside], True)


def interpolate(knots, x):
    return np.interp(x, [k[0] for k in knots], [k[1] for k in knots])


def predict(sample, some, fitted):
    """Probabilities by option, padded with 0; equal ones where there is no answer."""
    z, options = sample.z[some], sample.options[some]
    inside = np.arange(z.shape[1]) < options[:, None]
    out = np.where(inside, 1 / options[:, None], 0.0)
    answered = sample.answered[some]
    if not answered.any():
        return out
    z, options, inside = z[answered], options[answered], inside[answered]
    method = fitted["method"]
    if method == "none":
        p = sample.own[some][answered]
    elif method in ("temperature", "label-prior"):
        of = {t["options"]: t["t"] for t in fitted["temperatures"]}
        t = np.array([of.get(k, of[0]) for k in options.tolist()])
        if method == "label-prior":
            z = z + np.array(fitted["bias"])
        p = softmax(z / t[:, None])
    else:
        if method == "isotonic" and fitted["of"] == "option":
            p = softmax(z)
            p = np.where(inside, interpolate(fitted["knots"], p) + 1e-6 * p, 0)
            p /= p.sum(axis=1, keepdims=True)
        else:
            x = sample.x(some)[answered]
            yes = interpolate(fitted["knots"], x) if method == "isotonic" else expit(
                fitted["slope"] * x + fitted["offset"])
            p = np.zeros_like(z)
            p[:, 0], p[:, 1] = yes, 1 - yes
    out[answered] = p
    return out


# ---- figures


def right_p(p, label, options):
    return np.where(label < options, p[np.arange(len(p)), np.minimum(label, p.shape[1] - 1)], 0.0)


def losses(sample, some, p):
    """By item: right, Brier score, log loss."""
    label, options = sample.label[some], sample.options[some]
    truth = (np.arange(p.shape[1]) == label[:, None]) & (np.arange(p.shape[1]) < options[:, None])
    brier = ((p - truth) ** 2).sum(axis=1) + (label >= options)
    hit = sample.answered[some] & (p.argmax(axis=1) == label)
    return np.stack([hit.astype(float), brier, -np.log(np.maximum(right_p(p, label, options), CLIP))])


RANDOM, WORDS, DRAWS = Random(SEED), [], {}


def draws(k):
    """Which clusters each of 1,000 resamples of `k` takes, by the words that a new Random gives."""
    while len(WORDS) < 1000 * k:
        WORDS.append(RANDOM.next() >> 32)
    if k not in DRAWS:
        DRAWS[k] = (np.array(WORDS[:1000 * k]) * k >> 32).reshape(1000, k)
    return DRAWS[k]


def intervals(values, cluster):
    """95 % bootstrap intervals of the means of `values`' rows, whole clusters resampled."""
    _, number = np.unique(cluster, return_inverse=True)
    k = number.max() + 1
    if k < 2:
        return [None] * len(values)
    n = np.bincount(number)[draws(k)].sum(axis=1)
    out = []
    for one in values:
        means = np.bincount(number, weights=one)[draws(k)].sum(axis=1) / n
        out.append({"low": nearest_rank(means, 0.025), "high": nearest_rank(means, 0.975)})
    return out


def figures(sample, p):
    label = sample.label
    hit, brier, log_loss = losses(sample, sample.all, p)
    accuracy, briers = intervals([hit, brier], sample.cluster)
    said = np.where(sample.answered, p.argmax(axis=1), np.where(label == 0, 1, 0))
    confidence = p[sample.all, said]
    bins = np.minimum(14, np.floor(confidence * 15).astype(int))
    gap = np.bincount(bins, weights=confidence - hit, minlength=15)
    return {"n": len(p), "accuracy": hit.mean(), "accuracy_low": accuracy and accuracy["low"],
            "accuracy_high": accuracy and accuracy["high"], "brier": brier.mean(),
            "brier_low": briers and briers["low"], "brier_high": briers and briers["high"],
            "log_loss": log_loss.mean(), "ece": np.abs(gap).sum() / len(p)}


# ---- parts


def parts_of(sample, some):
    """(train, held out) of each part: states in random order, each to the part with fewest items so far."""
    sizes = np.bincount(sample.cluster[some])
    order = np.flatnonzero(sizes).tolist()
    random = Random(SEED)
    for i in range(len(order), 1, -1):
        j = random.below(i)
        order[i - 1], order[j] = order[j], order[i - 1]
    filled_ = [0] * min(PARTS, len(order))
    fold = np.zeros(len(sizes), dtype=int)
    for c in order:
        fold[c] = filled_.index(min(filled_))
        filled_[fold[c]] += sizes[c]
    own = fold[sample.cluster[some]]
    splits = [(some[own != f], some[own == f]) for f in range(PARTS)]
    return [(a, b) for a, b in splits if len(a) and len(b)]


def fit_best(sample, some, methods):
    """(fit, its held-out losses by item) of the method of least held-out log loss."""
    key = (tuple(methods), some.tobytes())
    if key in sample.bests:
        return sample.bests[key]
    splits = parts_of(sample, some)
    own = losses(sample, some, predict(sample, some, METHOD_NONE))[2].sum() if sample.has_own else math.inf
    best = None
    for method in methods:
        whole = fit(sample, some, method)
        if whole is None or (method != "none" and losses(sample, some, predict(sample, some, whole))[2].sum() > own):
            continue
        fits = [fit(sample, train, method) for train, _ in splits]
        if None in fits or not fits:
            continue
        held = np.concatenate([losses(sample, out, predict(sample, out, one)) for one, (_, out) in zip(fits, splits)], axis=1)
        if best is None or held[2].sum() < best[1][2].sum():
            best = (whole, held)
    sample.bests[key] = best
    return best


def held_out(sample, splits, fits):
    p = np.zeros_like(sample.z)
    for one, (_, out) in zip(fits, splits):
        p[out] = predict(sample, out, one)
    return p
