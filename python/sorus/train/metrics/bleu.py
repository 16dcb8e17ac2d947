"""BLEU of translations."""

import collections
import math

from .metric import Metric, rearrange_inputs


class BleuScore(Metric):
    """How much of the word sequences of translations is found in reference translations.

    The geometric mean, over lengths n from 1 to `n_gram` (1 to 4), of the share of n-grams that a reference
    has too, each counted at most as often as in one reference; times exp(1 - r / c) where the candidates'
    length c is less than r, the sum of the nearest lengths of references. With `smooth` both numbers of each
    share are larger by 1. Counts are those of all batches.

    `update(candidates, references)` takes lists of words and, for each, a list of reference lists; `eval()`
    gives a float, 0.0 where some length has nothing in common. Raises TypeError for arguments of the wrong
    type, ValueError for an `n_gram` out of range and lists that do not fit, RuntimeError for `eval` before
    `update`.

    >>> from sorus import train
    >>> bleu = train.BleuScore(n_gram=2)
    >>> bleu.update([["the", "cat", "sat"]], [[["the", "cat", "sat", "down"], ["a", "cat", "sat"]]])
    >>> bleu.eval()
    1.0
    """

    def __init__(self, n_gram=4, smooth=False):
        super().__init__()
        if isinstance(n_gram, bool) or not isinstance(n_gram, int):
            raise TypeError(
                f"BleuScore: 'n_gram' has the wrong type: got {type(n_gram).__name__}, need an int"
            )
        if not 1 <= n_gram <= 4:
            raise ValueError(f"BleuScore: 'n_gram' is out of range: got {n_gram}, need 1 to 4")
        if not isinstance(smooth, bool):
            raise TypeError(
                f"BleuScore: 'smooth' has the wrong type: got {type(smooth).__name__}, need a bool"
            )
        self.n_gram, self.smooth = n_gram, smooth
        self.clear()

    def clear(self):
        """Forgets all batches."""
        self._found, self._given = [0] * self.n_gram, [0] * self.n_gram
        self._length = self._reference_length = 0
        self._updated = False

    @rearrange_inputs
    def update(self, *inputs):
        """Takes a batch: candidates, then references."""
        if len(inputs) != 2:
            raise ValueError(
                f"BleuScore: number of inputs differs: got {len(inputs)}, need candidates and references"
            )
        candidates, references = inputs
        if len(candidates) != len(references):
            raise ValueError(
                f"BleuScore: lists do not fit: got {len(candidates)} candidates and {len(references)} lists "
                "of references, need as many"
            )
        for words, others in zip(candidates, references):
            if not others:
                raise ValueError(
                    "BleuScore: references are missing: got none for a candidate, need one or more"
                )
            self._length += len(words)
            self._reference_length += min((abs(len(o) - len(words)), len(o)) for o in others)[1]
            self._count(words, others)
        self._updated = True

    def _count(self, words, others):
        for n in range(1, self.n_gram + 1):
            mine = _n_grams(words, n)
            most = collections.Counter()
            for other in others:
                most |= _n_grams(other, n)
            self._found[n - 1] += sum((mine & most).values())
            self._given[n - 1] += sum(mine.values())

    def eval(self):
        """The score so far."""
        if not self._updated:
            raise RuntimeError("BleuScore: nothing to evaluate: got no batch, need an update")
        if 0 in self._found or not self._length:
            return 0.0
        more = 1 if self.smooth else 0
        shares = [(found + more) / (given + more) for found, given in zip(self._found, self._given)]
        mean = math.exp(sum(map(math.log, shares)) / self.n_gram)
        short = self._length < self._reference_length
        return mean * math.exp(1 - self._reference_length / self._length) if short else mean


def _n_grams(words, n):
    return collections.Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
