"""Vocabularies, word vectors and models of subwords, and what else the transforms of text take."""

from __future__ import annotations

import enum
import os
from typing import Any, ClassVar

import numpy

from ..._core import data as _data
from .._arguments import flag, integer, names_of, optional_integer

__all__ = [
    "CharNGram",
    "FastText",
    "GloVe",
    "JiebaMode",
    "NormalizeForm",
    "SPieceTokenizerLoadType",
    "SPieceTokenizerOutType",
    "SentencePieceModel",
    "SentencePieceVocab",
    "Vectors",
    "Vocab",
    "to_bytes",
    "to_str",
]

_LARGEST_ID = 2**31 - 1


class JiebaMode(enum.IntEnum):
    """How JiebaTokenizer finds words: with the dictionary and the hidden Markov model, or one of them."""

    MIX = 0
    MP = 1
    HMM = 2


class NormalizeForm(enum.IntEnum):
    """Normal forms of Unicode."""

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


class SentencePieceModel(enum.IntEnum):
    """Algorithms of SentencePiece."""

    UNIGRAM = 0
    BPE = 1
    CHAR = 2
    WORD = 3


class SPieceTokenizerLoadType(enum.IntEnum):
    """Where a SentencePieceTokenizer has its model from."""

    FILE = 0
    MODEL = 1


class SPieceTokenizerOutType(enum.IntEnum):
    """What a SentencePieceTokenizer gives."""

    STRING = 0
    INT = 1


def text(op: str, argument: str, value: Any) -> str:
    """A str."""
    if not isinstance(value, str):
        raise TypeError(f"{op}: {argument} has the wrong type: got {type(value).__name__}, need str")
    return value


def in_range(op: str, argument: str, value: Any, low: int, high: int) -> int:
    """An integer from `low` to `high`."""
    number = integer(op, argument, value)
    if not low <= number <= high:
        raise ValueError(f"{op}: {argument} is out of range: got {number}, need {low} to {high}")
    return number


def _words(argument: str, words: Any) -> list[str]:
    """A list of different str."""
    if not isinstance(words, list):
        raise TypeError(
            f"Vocab: {argument} has the wrong type: got {type(words).__name__}, need a list of str"
        )
    seen = set()
    for word in words:
        if text("Vocab", argument, word) in seen:
            raise ValueError(f"Vocab: {argument} has a word twice: got {word!r}, need each once")
        seen.add(word)
    return words


class Vocab:
    """Tokens and their numbers. Made by from_dataset, from_dict, from_file or from_list."""

    def __init__(self) -> None:
        self.c_vocab: Any = None

    @classmethod
    def _of(cls, table: Any) -> Vocab:
        vocab = cls()
        vocab.c_vocab = table
        return vocab

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        columns: str | list[str] | None = None,
        freq_range: tuple[int | None, int | None] | None = None,
        top_k: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Vocab:
        """The strings of a dataset, the most frequent first; `freq_range` says how often they may come."""
        low, high = cls._frequencies(freq_range)
        top = optional_integer("Vocab", "top_k", top_k, 1)
        special = _words("special_tokens", special_tokens or [])
        names = names_of("Vocab", "columns", columns)
        flag("Vocab", "special_first", special_first)
        top = 2**63 - 1 if top is None else top
        return cls._of(
            _data.vocab_from_dataset(dataset.pipeline, names, low, high, top, special, special_first)
        )

    @staticmethod
    def _frequencies(freq_range: Any) -> tuple[int, int]:
        if freq_range is None:
            return 0, 2**63 - 1
        if not isinstance(freq_range, tuple):
            raise TypeError(
                f"Vocab: freq_range has the wrong type: got {type(freq_range).__name__}, need a tuple"
            )
        whole = all(n is None or isinstance(n, int) for n in freq_range)
        if len(freq_range) != 2 or not whole:
            raise ValueError(f"Vocab: freq_range is no range: got {freq_range}, need two of int or None")
        low, high = freq_range
        low, high = 0 if low is None else low, 2**63 - 1 if high is None else high
        if not 0 <= low <= high:
            raise ValueError(f"Vocab: freq_range is out of range: got {freq_range}, need 0 <= low <= high")
        return low, high

    @classmethod
    def from_list(
        cls, word_list: list[str], special_tokens: list[str] | None = None, special_first: bool = True
    ) -> Vocab:
        """Words numbered from 0 on, the special tokens before or behind them."""
        words = _words("word_list", word_list)
        special = _words("special_tokens", [] if special_tokens is None else special_tokens)
        both = set(words) & set(special)
        if both:
            raise ValueError(
                f"Vocab: special_tokens and word_list share a word: got {sorted(both)}, need each once"
            )
        return cls._of(_data.vocab_from_list(words, special, flag("Vocab", "special_first", special_first)))

    @classmethod
    def from_file(
        cls,
        file_path: str,
        delimiter: str = "",
        vocab_size: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Vocab:
        """A token a line: what stands before the delimiter, or the whole line."""
        special = _words("special_tokens", [] if special_tokens is None else special_tokens)
        size = optional_integer("Vocab", "vocab_size", vocab_size, 1)
        path, before = text("Vocab", "file_path", file_path), text("Vocab", "delimiter", delimiter)
        flag("Vocab", "special_first", special_first)
        return cls._of(_data.vocab_from_file(path, before, size, special, special_first))

    @classmethod
    def from_dict(cls, word_dict: dict[str, int]) -> Vocab:
        """Words with numbers of their own."""
        if not isinstance(word_dict, dict):
            raise TypeError(
                f"Vocab: word_dict has the wrong type: got {type(word_dict).__name__}, need a dict"
            )
        for word, number in word_dict.items():
            in_range("Vocab", f"number of {text('Vocab', 'word', word)!r}", number, 0, _LARGEST_ID)
        return cls._of(_data.vocab_from_dict(word_dict))

    @property
    def table(self) -> Any:
        """The engine's table; RuntimeError when there is none yet."""
        if self.c_vocab is None:
            raise RuntimeError("Vocab: it has no words yet: got Vocab(), need one of its from_ methods")
        return self.c_vocab

    def vocab(self) -> dict[str, int]:
        """All tokens, in order of their numbers."""
        return self.table.entries()

    def tokens_to_ids(self, tokens: str | list[str] | numpy.ndarray) -> int | list[int]:
        """The numbers of tokens, -1 for those that are not there; an int for one token."""
        table = self.table
        if isinstance(tokens, numpy.ndarray):
            tokens = tokens.tolist()
        elif not isinstance(tokens, (str, list)):
            raise TypeError(
                f"Vocab: tokens have the wrong type: got {type(tokens).__name__}, need str or a list"
            )
        tokens = [tokens] if isinstance(tokens, str) else tokens
        ids = [table.id(text("Vocab", "a token", token)) for token in tokens]
        return ids[0] if len(ids) == 1 else ids

    def ids_to_tokens(self, ids: int | list[int] | numpy.ndarray) -> str | list[str]:
        """The tokens of numbers, empty for those that are not there; a str for one number."""
        table = self.table
        if isinstance(ids, numpy.ndarray):
            if ids.dtype.kind not in "iu":
                raise TypeError(f"Vocab: ids have the wrong type: got an array of {ids.dtype}, need integers")
            numbers = numpy.atleast_1d(ids).tolist()
            numbers = [number if 0 <= number <= _LARGEST_ID else -1 for number in numbers]
        elif isinstance(ids, (int, list)):
            listed = ids if isinstance(ids, list) else [ids]
            numbers = [in_range("Vocab", "ids", number, 0, _LARGEST_ID) for number in listed]
        else:
            raise TypeError(
                f"Vocab: ids have the wrong type: got {type(ids).__name__}, need int, a list or an array"
            )
        tokens = [table.token(number) for number in numbers]
        return tokens[0] if len(tokens) == 1 else tokens

    def __getstate__(self) -> dict[str, Any]:
        return {"words": None if self.c_vocab is None else self.vocab()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        words = state["words"]
        self.c_vocab = None if words is None else _data.vocab_from_dict(words)


class VectorTable:
    """Base of word vectors that are read from files."""

    kind: ClassVar[int] = 0

    def __init__(self) -> None:
        self.table: Any = None

    @classmethod
    def from_file(cls, file_path: str, max_vectors: int | None = None) -> Any:
        """Reads a file, with at most `max_vectors` tokens."""
        op = cls.__name__
        path = text(op, "file_path", file_path)
        most = 0 if max_vectors is None else in_range(op, "max_vectors", max_vectors, 0, _LARGEST_ID)
        made = cls()
        made.table = _data.vectors_from_file(cls.kind, path, most)
        return made


class Vectors(VectorTable):
    """Word vectors: a token and its numbers in each line, with single spaces between them."""


class GloVe(VectorTable):
    """Word vectors in files of GloVe, whose names are glove.*.txt."""

    kind = 1


class FastText(VectorTable):
    """Word vectors in files of fastText, whose names are *.vec."""

    kind = 2


class CharNGram(VectorTable):
    """Vectors of character n-grams; a word's is the mean of those of its 2, 3 and 4 neighbours."""

    kind = 3


class SentencePieceVocab:
    """A model of SentencePiece. Made by from_dataset or from_file."""

    def __init__(self) -> None:
        self.c_sentence_piece_vocab: Any = None

    @classmethod
    def _of(cls, table: Any) -> SentencePieceVocab:
        vocab = cls()
        vocab.c_sentence_piece_vocab = table
        return vocab

    @staticmethod
    def _training(
        vocab_size: Any, character_coverage: Any, model_type: Any, params: Any
    ) -> tuple[int, float, int, dict[str, str]]:
        op = "SentencePieceVocab"
        size = in_range(op, "vocab_size", vocab_size, 1, _LARGEST_ID)
        if not isinstance(character_coverage, float):
            raise TypeError(
                f"{op}: character_coverage has the wrong type: got {type(character_coverage).__name__}, "
                "need float"
            )
        if not isinstance(model_type, SentencePieceModel):
            raise TypeError(
                f"{op}: model_type has the wrong type: got {type(model_type).__name__}, "
                "need a SentencePieceModel"
            )
        if not isinstance(params, (dict, type(None))):
            raise TypeError(f"{op}: params have the wrong type: got {type(params).__name__}, need a dict")
        return size, character_coverage, int(model_type), {str(k): str(v) for k, v in (params or {}).items()}

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        col_names: list[str],
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: dict,
    ) -> SentencePieceVocab:
        """Trains a model on the strings of a dataset."""
        training = cls._training(vocab_size, character_coverage, model_type, params)
        columns = names_of("SentencePieceVocab", "col_names", col_names)
        return cls._of(_data.pieces_from_dataset(dataset.pipeline, columns, *training))

    @classmethod
    def from_file(
        cls,
        file_path: list[str],
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: dict,
    ) -> SentencePieceVocab:
        """Trains a model on the lines of files."""
        if not isinstance(file_path, list):
            raise TypeError(
                f"SentencePieceVocab: file_path has the wrong type: got {type(file_path).__name__}, "
                "need a list"
            )
        paths = [text("SentencePieceVocab", "file_path", path) for path in file_path]
        training = cls._training(vocab_size, character_coverage, model_type, params)
        return cls._of(_data.pieces_from_files(paths, *training))

    @classmethod
    def save_model(cls, vocab: SentencePieceVocab, path: str, filename: str) -> None:
        """Writes a model to a file."""
        if not isinstance(vocab, SentencePieceVocab):
            raise TypeError(
                f"SentencePieceVocab: vocab has the wrong type: got {type(vocab).__name__}, "
                "need a SentencePieceVocab"
            )
        folder = text("SentencePieceVocab", "path", path)
        name = text("SentencePieceVocab", "filename", filename)
        vocab.table.save(os.path.join(folder, name))

    @property
    def table(self) -> Any:
        """The engine's model; RuntimeError when there is none yet."""
        if self.c_sentence_piece_vocab is None:
            raise RuntimeError("SentencePieceVocab: it has no model yet: need from_dataset or from_file")
        return self.c_sentence_piece_vocab

    def __getstate__(self) -> dict[str, Any]:
        made = self.c_sentence_piece_vocab
        return {"model": None if made is None else made.bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        model = state["model"]
        self.c_sentence_piece_vocab = None if model is None else _data.pieces_from_bytes(model)


def to_bytes(array: numpy.ndarray, encoding: str = "utf8") -> numpy.ndarray:
    """An array of str as one of bytes."""
    if not isinstance(array, numpy.ndarray):
        raise ValueError(
            f"to_bytes: array has the wrong type: got {type(array).__name__}, need a NumPy array"
        )
    return numpy.char.encode(array, encoding)


def to_str(array: numpy.ndarray, encoding: str = "utf8") -> numpy.ndarray:
    """An array of bytes as one of str."""
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"to_str: array has the wrong type: got {type(array).__name__}, need a NumPy array")
    return numpy.char.decode(array, encoding)
