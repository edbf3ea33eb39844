"""What numpy takes for accuracy, Brier, ECE, AURC and a bootstrap by state of the rows that
figures_bench wrote: `python figures_numpy.py FILE ROWS OPTIONS`, FILE being ROWS × OPTIONS
probabilities, then ROWS labels, then ROWS states, all doubles. Prints seconds (least of 3) and the
five figures, one a line.
"""
import sys
import time

import numpy as np

DRAWS, BINS = 1000, 15


def figures(p, label, state):
    n = len(p)
    said = p.argmax(axis=1)
    confidence, correct = p[np.arange(n), said], (said == label).astype(float)
    p_right = p[np.arange(n), label]
    brier = (p * p).sum(axis=1) - 2 * p_right + 1

    bins = np.minimum(BINS - 1, (confidence * BINS).astype(int))
    ece = np.abs(np.bincount(bins, weights=confidence - correct, minlength=BINS)).sum() / n

    order = np.argsort(-confidence)
    aurc = (np.cumsum(1 - correct[order]) / np.arange(1, n + 1)).mean()

    sums = np.stack([np.bincount(state), np.bincount(state, weights=correct), np.bincount(state, weights=brier)], axis=1)
    random, k = np.random.default_rng(1), len(sums)
    means = np.empty((DRAWS, 2))
    for draw in range(DRAWS):
        total = np.bincount(random.integers(k, size=k), minlength=k) @ sums
        means[draw] = total[1:] / total[0]
    low = np.quantile(means, 0.025, axis=0, method="inverted_cdf")
    return correct.mean(), brier.mean(), ece, aurc, low[0]


def main():
    path, rows, options = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    data = np.fromfile(path)
    p = data[:rows * options].reshape(rows, options)
    label, state = (part.astype(int) for part in np.split(data[rows * options:], 2))
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        values = figures(p, label, state)
        best = min(best, time.perf_counter() - start)
    print("\n".join(repr(float(value)) for value in (best, *values)))


main()
