"""What records and replays the fixture tests/fixtures/mindspore/text.json have in common.

A case is a line of tests/fixtures/text/cases.txt, an expression over `text` (the module of the framework),
`ds`, `ms`, `np`, and what FILES and the names below give. It is evaluated the same way for the genuine
MindSpore (bench/peers/record_text.py) and for Sorus (test_text.py). Its outcome is JSON: arrays as [dtype,
shape, flat values], tuples and lists of outcomes, plain values, or {"error": class}.
"""

import pathlib
from types import ModuleType
from typing import Any

import numpy as np

FIXTURE = pathlib.Path(__file__).resolve().parents[1] / "fixtures/mindspore/text.json"
FOLDER = pathlib.Path(__file__).resolve().parents[1] / "fixtures/text"

# Files that cases name as file("NAME").
FILES = {
    "words": b"apple,apple2\nbanana, 333\ncat,00\n",
    "crlf": b"one\r\ntwo\r\n",
    "no_newline": b"one\ntwo",
    "blank": b"one\n\ntwo\n",
    "spaces": b" one\ntwo \n three \n",
    "twice": b"one\ntwo\none\n",
    "empty": b"",
    "invalid": b"one\n\xff\xfe\ntwo\n",
    "mark": b"\xef\xbb\xbfone\ntwo\n",
    "comma": b"a,b,c\n,x\nd\n",
    "glove.txt": b"ok 0.418 0.24968 -0.41242 0.1217 0.34527 -0.044457\n"
    b"! -0.49688 -0.17862 -0.00066023 -0.6566 0.27843 -0.14767\n"
    b"this 0.44 0.5 0.6 0.7 0.8 1e-3\nthis 1 1 1 1 1 1\nOK 9 9 9 9 9 9\n",
    "header.vec": b"2 3\nok 1 2 3\nyes 4 5 6\n",
    "header_wrong.vec": b"5 3\nok 1 2 3\nyes 4 5 6\n",
    "ragged.txt": b"ok 1 2 3\nyes 4 5\n",
    "letters.txt": b"ok 1 2 3\nyes 4 x 6\n",
    "one_number.txt": b"ok 1\nyes 2\n",
    "trailing.txt": b"ok 1 2 3 \nyes 4 5 6 \n",
    "double_space.txt": b"ok  1 2 3\nyes 4 5 6\n",
    "tabs.txt": b"ok\t1\t2\t3\n",
    "blank_line.txt": b"ok 1 2 3\n\nyes 4 5 6\n",
    "ngram.txt": b"2gram-#BEGIN#o 1 2\n2gram-ok 3 4\n2gram-k#END# 5 6\n3gram-#BEGIN#ok 7 8\n"
    b"3gram-ok#END# 9 10\n4gram-#BEGIN#ok#END# 11 12\n2gram-th 0.5 0.25\n3gram-thi 1.5 -1\n"
    b"2gram-#BEGIN#\xe5\xba\x8a 2 3\n",
    "user_dict": "明月光 100\n举头望 5\n低头\n思 故 乡\n".encode(),
}

BERT_WORDS = (
    "床 前 明 月 光 疑 是 地 上 霜 举 头 望 低 思 故 乡 繁 體 字 嘿 哈 大 笑 嘻 i am mak make small mistake "
    "##s during work ##ing hour 😀 😃 😄 😁 + / - = 12 28 40 16 I [CLS] [SEP] [UNK] [PAD] [MASK] [unused1] "
    "[unused10] hello world ' ! , don t cafe un ##aff ##able"
).split()
PIECE_WORDS = "book cholera era favor ##ite my is love dur ##ing the 我 最 喜 欢 书 f a".split()
WIKI = (
    "<page><title>A</title> Hello [[World|Earth]] {{cite x}} 12 &amp; &lt;b&gt; [http://x.y z] "
    "[[category:Big|sort]] [[fr:Monde]] |thumb|left|20px [[image:a.png|50px|cap]] <ref name=1>r</ref> É é"
)
CHINESE = [
    "床前明月光，疑是地上霜。举头望明月，低头思故乡。",
    "我来到北京清华大学",
    "他来到了网易杭研大厦",
    "今天天气真好",
    "小明硕士毕业于中国科学院计算所，后在日本京都大学深造",
    "男默女泪市长说明书",
    "",
    " ",
    "a 中 b",
    "１２３",
    "𠀀中",
    "江州市长江大桥参加了长江大桥的通车仪式",
    "hello 世界 123.45abc test",
    "乒乓球拍卖完了",
    "结婚的和尚未结婚的",
    "工信处女干事每月经过下属科室都要亲口交代24口交换机等技术性器件的安装工作",
    "a\tb\nc，。",
    "v1.2-x3 中国",
]
PIECES = [
    "The quick brown fox",
    "hello worlds",
    "",
    " ",
    "  two  spaces ",
    "pipeline 2026",
    "日本",
    "x\ty",
    "Rows are read",
]
SENTENCES = [
    "Welcome to Beijing!",
    "Welcome     To   BeiJing!",
    "",
    " ",
    "  a  ",
    "床前明月光",
    "北 京",
    "北 京 123 abc.",
    "\ta\r\nb\x0bc\x0cd",
    "a\u3000b\u00a0c\u2003d\u200be",
    "I'm the co-founder: don't!",
    "naïve café ÀÉ",
    "ｆｕｌｌ　width",
    "ﬁ ligature ẛ̣",
    "Straße İstanbul ΣΑΣ",
    "😀嘿嘿😃哈哈😄大笑😁嘻嘻",
    "繁體字",
    "e\u0301a\u0308",
    "[CLS]Hello[SEP] [MASK] [unused1][unused10]x[unused]",
    "a\x00b",
    "\u202eabc\u202c",
    "12+/-28=40/-16",
    "한국어 テスト кириллица ελληνικά",
    "x\ud7ff\ue000\U0010ffff",
    "a_b-c.d@e",
    "\u0e44\u0e17\u0e22 १२३",
    "tabs\tand\nlines\n",
    "¿Qué?",
    "“quoted” — dash…",
    "𠀀𪜀豈",
]


class Space:
    """The names that cases use, with one framework: `mindspore`, or one that has its names."""

    def __init__(self, framework: ModuleType, dataset: ModuleType, text: ModuleType, folder: pathlib.Path):
        for name, content in FILES.items():
            (folder / name).write_bytes(content)
        self.names: dict[str, Any] = {
            "ms": framework,
            "ds": dataset,
            "text": text,
            "np": np,
            "file": lambda name: str(folder / name),
            "kept": lambda name: str(FOLDER / name),
            "folder": folder,
            "bert": lambda: text.Vocab.from_list(BERT_WORDS),
            "pieces": lambda: text.Vocab.from_list(PIECE_WORDS),
            "abc": lambda: text.Vocab.from_list(["a", "b", "c"], special_tokens=["<u>"]),
            "all_of": self.all_of,
            "rows_of": self.rows_of,
            "WIKI": WIKI,
            "CHINESE": CHINESE,
            "PIECES": PIECES,
            "jieba": self.jieba,
            "train": self.train,
            "saved": self.saved,
        }

    def jieba(self, *arguments: Any, words: Any = (), **keywords: Any) -> Any:
        """A JiebaTokenizer with the small dictionary; `words`: what add_dict and add_word get."""
        files = [str(FOLDER / "hmm_model.utf8"), str(FOLDER / "jieba.dict.utf8")]
        tokenizer = self.names["text"].JiebaTokenizer(*files, *arguments, **keywords)
        for word in words:
            if isinstance(word, tuple):
                tokenizer.add_word(*word)
            else:
                tokenizer.add_dict(word)
        return tokenizer

    def train(self, size: int, algorithm: str, *keep: str, **options: Any) -> Any:
        """A model trained on the corpus; `keep`: the file that it is saved to."""
        text = self.names["text"]
        model = text.SentencePieceModel[algorithm]
        vocab = text.SentencePieceVocab.from_file([str(FOLDER / "corpus.txt")], size, 1.0, model, options)
        if keep:
            text.SentencePieceVocab.save_model(vocab, str(self.names["folder"]), keep[0])
        return vocab

    def saved(self, size: int, algorithm: str) -> str:
        """The file of a model that was trained, saved, and may be read."""
        self.train(size, algorithm, "saved.model")
        return str(self.names["folder"] / "saved.model")

    @staticmethod
    def all_of(operation: Any, values: Any = None) -> list[Any]:
        """What the operation makes of each value, or the class of its error."""
        results = []
        for value in SENTENCES if values is None else values:
            try:
                results.append(operation(value))
            except Exception as error:  # noqa: BLE001
                results.append({"error": type(error).__name__})
        return results

    @staticmethod
    def rows_of(dataset: Any) -> list[Any]:
        """All values of a dataset, row by row."""
        rows = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
        return [[name, row[name]] for row in rows for name in row]

    def run(self, case: str) -> Any:
        """The outcome of a case. Whatever it raises is its outcome."""
        try:
            return outcome(eval(case, dict(self.names)))  # noqa: S307
        except Exception as error:  # noqa: BLE001
            return {"error": type(error).__name__, "text": str(error).strip().split("\n")[0][:120]}


def outcome(value: Any) -> Any:
    """A result as JSON has it."""
    if isinstance(value, dict):
        return {str(name): outcome(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return {"tuple": [outcome(item) for item in value]}
    if isinstance(value, list):
        return [outcome(item) for item in value]
    if isinstance(value, np.ndarray):
        items = [item.hex() if isinstance(item, bytes) else item for item in value.ravel().tolist()]
        return {"array": [str(value.dtype), list(value.shape), [str(i) if i != i else i for i in items]]}
    if isinstance(value, np.generic):
        return {"array": [str(value.dtype), [], [value.item()]]}
    return (
        value
        if value is None or isinstance(value, (bool, int, float, str))
        else {"object": type(value).__name__}
    )


# A line each; those that begin with "# " are headings.
CASES = [line for line in (FOLDER / "cases.txt").read_text().splitlines() if not line.startswith("# ")]
