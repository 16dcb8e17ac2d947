"""Transforms of strings, for `map` and to be called on one value.

A tokenizer takes one string. With `with_offsets` it gives three columns: the tokens, and where each begins
and ends in the text, in bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ..._core import data as _data
from ...common import dtype as mstype
from .._arguments import flag, integer
from ..transforms.transforms import TensorOperation
from .utils import (
    JiebaMode,
    NormalizeForm,
    SentencePieceVocab,
    SPieceTokenizerOutType,
    VectorTable,
    Vocab,
    in_range,
    text,
    to_str,
)

__all__ = [
    "AddToken",
    "BasicTokenizer",
    "BertTokenizer",
    "CaseFold",
    "FilterWikipediaXML",
    "JiebaTokenizer",
    "Lookup",
    "Ngram",
    "NormalizeUTF8",
    "PythonTokenizer",
    "RegexReplace",
    "RegexTokenizer",
    "SentencePieceTokenizer",
    "SlidingWindow",
    "ToNumber",
    "ToVectors",
    "Truncate",
    "TruncateSequencePair",
    "UnicodeCharTokenizer",
    "UnicodeScriptTokenizer",
    "WhitespaceTokenizer",
    "WordpieceTokenizer",
]

_LARGEST_INT32 = 2**31 - 1
_LARGEST_UINT32 = 2**32 - 1


class TextTensorOperation(TensorOperation):
    """Base of transforms of text: called with as many values as they have input columns."""

    def __call__(self, *inputs: Any) -> Any:
        return self.operation(*inputs)


def _vocab(op: str, vocab: Any) -> Vocab:
    if vocab is None:
        raise ValueError(f"{op}: vocab is missing: got None, need a Vocab")
    if not isinstance(vocab, Vocab):
        raise TypeError(f"{op}: vocab has the wrong type: got {type(vocab).__name__}, need a Vocab")
    if vocab.c_vocab is None:
        raise TypeError(f"{op}: vocab has no words yet: got Vocab(), need one of its from_ methods")
    return vocab


def _form(op: str, form: Any) -> NormalizeForm:
    if not isinstance(form, NormalizeForm):
        raise TypeError(
            f"{op}: normalization form has the wrong type: got {type(form).__name__}, need a NormalizeForm"
        )
    return form


class Lookup(TextTensorOperation):
    """Strings to their numbers in a vocabulary; strings it lacks get that of `unknown_token`."""

    def __init__(self, vocab: Vocab, unknown_token: str | None = None, data_type: Any = mstype.int32):
        self.vocab = _vocab("Lookup", vocab)
        self.unknown_token = None if unknown_token is None else text("Lookup", "unknown_token", unknown_token)
        if not isinstance(data_type, mstype.Type):
            raise TypeError(
                f"Lookup: data_type has the wrong type: got {type(data_type).__name__}, need a dtype"
            )
        self.data_type = data_type
        self.build()

    def build(self) -> Any:
        return _data.lookup(self.vocab.table, self.unknown_token, self.data_type)


class ToNumber(TextTensorOperation):
    """Strings to the numbers that they begin with."""

    def __init__(self, data_type: Any):
        if not isinstance(data_type, mstype.Type):
            raise TypeError(
                f"ToNumber: data_type has the wrong type: got {type(data_type).__name__}, need a dtype"
            )
        self.data_type = data_type
        self.build()

    def build(self) -> Any:
        return _data.to_number(self.data_type)


class ToVectors(TextTensorOperation):
    """Strings to their vectors; those the table lacks become `unk_init`, or zeros."""

    def __init__(
        self, vectors: Any, unk_init: Sequence[float] | None = None, lower_case_backup: bool = False
    ):
        if not isinstance(vectors, VectorTable):
            raise TypeError(
                f"ToVectors: vectors have the wrong type: got {type(vectors).__name__}, need Vectors, GloVe, "
                "FastText or CharNGram"
            )
        if vectors.table is None:
            raise TypeError("ToVectors: vectors have no tokens yet: need those of from_file")
        if not isinstance(unk_init, (list, tuple, type(None))):
            raise TypeError(
                f"ToVectors: unk_init has the wrong type: got {type(unk_init).__name__}, need a list"
            )
        for value in unk_init or ():
            if not isinstance(value, (int, float)):
                raise TypeError(
                    f"ToVectors: unk_init has the wrong type: got a {type(value).__name__}, need numbers"
                )
        self.vectors = vectors
        self.unk_init = [float(value) for value in unk_init or ()]
        self.lower_case_backup = flag("ToVectors", "lower_case_backup", lower_case_backup)
        self.build()

    def build(self) -> Any:
        return _data.to_vectors(self.vectors.table, self.unk_init, self.lower_case_backup)


class AddToken(TextTensorOperation):
    """A token more at the beginning or end."""

    def __init__(self, token: str, begin: bool = True):
        self.token = text("AddToken", "token", token)
        self.begin = flag("AddToken", "begin", begin)

    def build(self) -> Any:
        return _data.add_token(self.token, self.begin)


class Truncate(TextTensorOperation):
    """At most `max_seq_len` of a sequence."""

    def __init__(self, max_seq_len: int):
        self.max_seq_len = in_range("Truncate", "max_seq_len", max_seq_len, 1, _LARGEST_INT32)

    def build(self) -> Any:
        return _data.truncate(self.max_seq_len)


class TruncateSequencePair(TextTensorOperation):
    """Two sequences, of which the longer one is cut off until both together have `max_length`."""

    def __init__(self, max_length: int):
        self.max_length = integer("TruncateSequencePair", "max_length", max_length, 0)

    def build(self) -> Any:
        return _data.truncate_pair(self.max_length)


class Ngram(TextTensorOperation):
    """Runs of n neighbours, joined; the sequence may be padded first."""

    def __init__(
        self,
        n: int | list[int],
        left_pad: tuple[str, int] = ("", 0),
        right_pad: tuple[str, int] = ("", 0),
        separator: str = " ",
    ):
        sizes = [n] if isinstance(n, int) else n
        if not isinstance(sizes, list) or not sizes:
            raise ValueError(f"Ngram: n is no list of sizes: got {n!r}, need a list of positive int")
        self.ngrams = [integer("Ngram", "n", size, 1) for size in sizes]
        self.left_pad = self._pad("left_pad", left_pad)
        self.right_pad = self._pad("right_pad", right_pad)
        self.separator = text("Ngram", "separator", separator)

    @staticmethod
    def _pad(argument: str, pad: Any) -> tuple[str, int]:
        pair = isinstance(pad, tuple) and len(pad) == 2
        if not pair or not isinstance(pad[0], str) or not isinstance(pad[1], int) or pad[1] < 0:
            raise ValueError(f"Ngram: {argument} is no padding: got {pad!r}, need (str, int of 0 or more)")
        return pad

    def build(self) -> Any:
        return _data.ngram(self.ngrams, self.left_pad, self.right_pad, self.separator)


class SlidingWindow(TextTensorOperation):
    """All windows of a sequence of rank 1."""

    def __init__(self, width: int, axis: int = 0):
        self.width = in_range("SlidingWindow", "width", width, 1, _LARGEST_INT32)
        self.axis = integer("SlidingWindow", "axis", axis)
        self.build()

    def build(self) -> Any:
        return _data.sliding_window(self.width, self.axis)


class CaseFold(TextTensorOperation):
    """Text without differences of case, as Unicode's NFKC_Casefold."""

    def build(self) -> Any:
        return _data.case_fold()


class NormalizeUTF8(TextTensorOperation):
    """Text in a normal form."""

    def __init__(self, normalize_form: NormalizeForm = NormalizeForm.NFKC):
        self.normalize_form = _form("NormalizeUTF8", normalize_form)

    def build(self) -> Any:
        return _data.normalize_utf8(int(self.normalize_form))


class RegexReplace(TextTensorOperation):
    """Matches of a regular expression of ICU, replaced: all, or the first."""

    def __init__(self, pattern: str, replace: str, replace_all: bool = True):
        self.pattern = text("RegexReplace", "pattern", pattern)
        self.replace = text("RegexReplace", "replace", replace)
        self.replace_all = flag("RegexReplace", "replace_all", replace_all)
        self.build()

    def build(self) -> Any:
        return _data.regex_replace(self.pattern, self.replace, self.replace_all)


class FilterWikipediaXML(TextTensorOperation):
    """The text of a dump of Wikipedia as lower-case letters and single spaces."""

    def build(self) -> Any:
        return _data.filter_wikipedia_xml()


class UnicodeCharTokenizer(TextTensorOperation):
    """Characters."""

    def __init__(self, with_offsets: bool = False):
        self.with_offsets = flag("UnicodeCharTokenizer", "with_offsets", with_offsets)

    def build(self) -> Any:
        return _data.unicode_char_tokenizer(self.with_offsets)


class WhitespaceTokenizer(TextTensorOperation):
    """What stands between white space."""

    def __init__(self, with_offsets: bool = False):
        self.with_offsets = flag("WhitespaceTokenizer", "with_offsets", with_offsets)

    def build(self) -> Any:
        return _data.whitespace_tokenizer(self.with_offsets)


class UnicodeScriptTokenizer(TextTensorOperation):
    """Runs of one script."""

    def __init__(self, keep_whitespace: bool = False, with_offsets: bool = False):
        self.keep_whitespace = flag("UnicodeScriptTokenizer", "keep_whitespace", keep_whitespace)
        self.with_offsets = flag("UnicodeScriptTokenizer", "with_offsets", with_offsets)

    def build(self) -> Any:
        return _data.unicode_script_tokenizer(self.keep_whitespace, self.with_offsets)


class RegexTokenizer(TextTensorOperation):
    """What stands between matches of a regular expression of ICU, and matches that are to be kept."""

    def __init__(self, delim_pattern: str, keep_delim_pattern: str = "", with_offsets: bool = False):
        if delim_pattern is None:
            raise ValueError("RegexTokenizer: delim_pattern is missing: got None, need str")
        self.delim_pattern = text("RegexTokenizer", "delim_pattern", delim_pattern)
        self.keep_delim_pattern = text("RegexTokenizer", "keep_delim_pattern", keep_delim_pattern)
        self.with_offsets = flag("RegexTokenizer", "with_offsets", with_offsets)
        self.build()

    def build(self) -> Any:
        return _data.regex_tokenizer(self.delim_pattern, self.keep_delim_pattern, self.with_offsets)


class BasicTokenizer(TextTensorOperation):
    """Words, punctuation and Chinese characters, as BERT has them; offsets count in the normalized text."""

    def __init__(
        self,
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ):
        op = type(self).__name__
        self.lower_case = flag(op, "lower_case", lower_case)
        self.keep_whitespace = flag(op, "keep_whitespace", keep_whitespace)
        self.normalization_form = _form(op, normalization_form)
        self.preserve_unused_token = flag(op, "preserve_unused_token", preserve_unused_token)
        self.with_offsets = flag(op, "with_offsets", with_offsets)

    def words(self) -> Any:
        """How the engine is to split words."""
        return _data.BasicOptions(
            self.lower_case, self.keep_whitespace, int(self.normalization_form), self.preserve_unused_token
        )

    def build(self) -> Any:
        return _data.basic_tokenizer(self.words(), self.with_offsets)


class WordpieceTokenizer(TextTensorOperation):
    """Words to the longest pieces that a vocabulary has, from the left."""

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        with_offsets: bool = False,
    ):
        op = "WordpieceTokenizer"
        self.vocab = _vocab(op, vocab)
        self.suffix_indicator = text(op, "suffix_indicator", suffix_indicator)
        self.max_bytes_per_token = in_range(
            op, "max_bytes_per_token", max_bytes_per_token, 0, _LARGEST_UINT32
        )
        self.unknown_token = text(op, "unknown_token", unknown_token)
        self.with_offsets = flag(op, "with_offsets", with_offsets)

    def build(self) -> Any:
        pieces = _data.WordpieceOptions(self.suffix_indicator, self.max_bytes_per_token, self.unknown_token)
        return _data.wordpiece_tokenizer(self.vocab.table, pieces, self.with_offsets)


class BertTokenizer(BasicTokenizer):
    """The pieces of the words of BasicTokenizer."""

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ):
        op = "BertTokenizer"
        super().__init__(lower_case, keep_whitespace, normalization_form, preserve_unused_token, with_offsets)
        self.vocab = _vocab(op, vocab)
        self.suffix_indicator = text(op, "suffix_indicator", suffix_indicator)
        self.max_bytes_per_token = in_range(
            op, "max_bytes_per_token", max_bytes_per_token, 0, _LARGEST_UINT32
        )
        self.unknown_token = text(op, "unknown_token", unknown_token)

    def build(self) -> Any:
        pieces = _data.WordpieceOptions(self.suffix_indicator, self.max_bytes_per_token, self.unknown_token)
        return _data.bert_tokenizer(self.vocab.table, pieces, self.words(), self.with_offsets)


class SentencePieceTokenizer(TextTensorOperation):
    """Pieces by a model of SentencePiece, or their numbers; `mode` is the model or its file."""

    def __init__(self, mode: str | SentencePieceVocab, out_type: SPieceTokenizerOutType):
        op = "SentencePieceTokenizer"
        if not isinstance(mode, (str, SentencePieceVocab)):
            raise TypeError(
                f"{op}: mode has the wrong type: got {type(mode).__name__}, need str or a SentencePieceVocab"
            )
        if not isinstance(out_type, SPieceTokenizerOutType):
            raise TypeError(
                f"{op}: out_type has the wrong type: got {type(out_type).__name__}, "
                "need a SPieceTokenizerOutType"
            )
        self.mode, self.out_type = mode, out_type

    def build(self) -> Any:
        pieces = _data.pieces_from_model(self.mode) if isinstance(self.mode, str) else self.mode.table
        return _data.sentence_piece_tokenizer(pieces, self.out_type == SPieceTokenizerOutType.INT)


class JiebaTokenizer(TextTensorOperation):
    """Chinese text to words, with a dictionary and a hidden Markov model that files hold."""

    _ENTRY = re.compile(r"\s*([^\s*]+?)\s*([0-9]+)?\s*")

    def __init__(
        self, hmm_path: str, mp_path: str, mode: JiebaMode = JiebaMode.MIX, with_offsets: bool = False
    ):
        op = "JiebaTokenizer"
        if not isinstance(mode, JiebaMode):
            raise TypeError(f"{op}: mode has the wrong type: got {type(mode).__name__}, need a JiebaMode")
        self.hmm_path = self._existing("hmm_path", hmm_path)
        self.mp_path = self._existing("mp_path", mp_path)
        self.mode = mode
        self.with_offsets = flag(op, "with_offsets", with_offsets)
        self.words: list[tuple[str, int]] = []

    @staticmethod
    def _existing(argument: str, path: Any) -> str:
        if path is None:
            raise ValueError(f"JiebaTokenizer: {argument} is missing: got None, need a file")
        if not os.path.exists(text("JiebaTokenizer", argument, path)):
            raise ValueError(f"JiebaTokenizer: {argument} does not exist: got {path!r}, need a file")
        return path

    def build(self) -> Any:
        return _data.jieba_tokenizer(
            self.hmm_path, self.mp_path, int(self.mode), self.words, self.with_offsets
        )

    def add_word(self, word: str, freq: int | None = None) -> None:
        """One more word; without `freq` it weighs as the median of the dictionary's."""
        if word is None:
            raise ValueError("JiebaTokenizer: word is missing: got None, need str")
        frequency = 0 if freq is None else in_range("JiebaTokenizer", "freq", freq, 0, _LARGEST_UINT32)
        self.words.append((text("JiebaTokenizer", "word", word), frequency))
        self._operation = None

    def add_dict(self, user_dict: str | dict[str, int]) -> None:
        """Words of a dict, or of a file with a word and its frequency a line; other lines are passed over."""
        if isinstance(user_dict, str):
            for word, frequency in self._entries_of(user_dict):
                self.add_word(word, frequency)
        elif isinstance(user_dict, dict):
            for word, frequency in user_dict.items():
                self.add_word(word, frequency)
        else:
            raise TypeError(
                f"JiebaTokenizer: user_dict has the wrong type: got {type(user_dict).__name__}, "
                "need str or dict"
            )

    @classmethod
    def _entries_of(cls, path: str) -> list[tuple[str, int]]:
        cls._existing("user_dict", path)
        with open(path, encoding="utf-8-sig") as file:
            try:
                lines = file.read().split("\n")
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"JiebaTokenizer: file {path!r} is not UTF-8: got {error}, need UTF-8"
                ) from None
        matches = (cls._ENTRY.fullmatch(line) for line in lines)
        return [(match[1], int(match[2] or 0)) for match in matches if match]


class PythonTokenizer:
    """A function from a string to a list of tokens, for each string of an array."""

    def __init__(self, tokenizer: Callable[[str], list[str]]):
        if not callable(tokenizer):
            raise TypeError(
                f"PythonTokenizer: tokenizer has the wrong type: got {type(tokenizer).__name__}, "
                "need a callable"
            )
        self.pyfunc = tokenizer
        self.random = False

    def __call__(self, in_array: numpy.ndarray) -> numpy.ndarray:
        if not isinstance(in_array, numpy.ndarray):
            raise TypeError(
                f"PythonTokenizer: value has the wrong type: got {type(in_array).__name__}, "
                "need a NumPy array"
            )
        strings = to_str(in_array) if in_array.dtype.kind == "S" else in_array
        each = numpy.vectorize(lambda one: numpy.array(self.pyfunc(one), dtype="U"), signature="()->(n)")
        try:
            return each(strings)
        except Exception as error:
            name = getattr(self.pyfunc, "__name__", type(self.pyfunc).__name__)
            raise RuntimeError(f"PythonTokenizer: {name} failed: {error}") from error
