"""Tests of the checking scripts on small trees: what breaks a rule is found, what keeps it passes."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))

import check_docs  # noqa: E402
import check_layers  # noqa: E402
import check_op_count  # noqa: E402
import check_sizes  # noqa: E402
import cpp_headers  # noqa: E402
import doc_pages  # noqa: E402
import test_summary as summary  # noqa: E402
import write_examples  # noqa: E402
import write_reference  # noqa: E402
from cpp_functions import find_functions  # noqa: E402


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# ------------------------------------------------------------------------------------------------- layers


@pytest.mark.parametrize(
    ("source", "include", "rule"),
    [
        ("base/a.h", '"sorus/core/tensor.h"', "base may not include core"),
        ("core/a.h", '"sorus/dispatch/apply.h"', "core may not include dispatch"),
        ("math/a.h", '"sorus/core/tensor.h"', "math may not include core"),
        ("ops/nn/a.cpp", '"sorus/kernels/cpu/a.h"', "ops never includes kernels"),
        ("autograd/a.cpp", '"sorus/ops/nn/nn.h"', "autograd never names an op"),
        ("kernels/cpu/a.cpp", '"sorus/ops/nn/nn.h"', "only ops/<family>/attributes.h"),
        ("kernels/cpu/a.cpp", '"sorus/ops/nn/deep/attributes.h"', "only ops/<family>/attributes.h"),
        ("compiler/fusion/a.cpp", '"sorus/ops/nn/nn.h"', "names ops only in compiler/passes"),
        ("train/a.cpp", '"sorus/python/binding.h"', "nothing includes python"),
        ("data/a.cpp", '"sorus/ops/nn/nn.h"', "data may not include ops"),
        ("serving/a.cpp", '"sorus/lite/a.h"', "serving may not include lite"),
        ("armour/a.cpp", '"sorus/federated/a.h"', "armour may not include federated"),
        ("core/a.h", '"sorus/nowhere/a.h"', "unknown room"),
        ("core/a.h", '"sorus/sorus.h"', "only users include the umbrella"),
        ("core/a.h", '"sorus/base/detail/a.h"', "detail/ is private to base"),
        ("core/a.h", '"../base/error.h"', "full path"),
        ("math/a.h", "<hwy/highway.h>", "only kernels may use Highway"),
        ("core/a.h", "<immintrin.h>", "only kernels may use intrinsics"),
        ("nn/a.cpp", "<dnnl.hpp>", "only kernels may use oneDNN"),
        ("core/a.h", "<unicode/regex.h>", "only data may use ICU"),
        ("core/a.h", "<Python.h>", "nothing in src/sorus may use Python"),
        ("elsewhere/a.h", "<vector>", "unknown room"),
    ],
)
def test_layer_violation_is_found(tmp_path: Path, source: str, include: str, rule: str) -> None:
    write(tmp_path, f"src/sorus/{source}", f"// contract\n  #  include {include}  // why\n")
    problems = check_layers.check_tree(tmp_path)
    assert len(problems) == 1
    line = 1 if source.startswith("elsewhere") else 2
    assert problems[0].startswith(f"src/sorus/{source}:{line}: ")
    assert rule in problems[0]


@pytest.mark.parametrize(
    ("source", "include"),
    [
        ("base/a.cpp", '"sorus/base/error.h"'),
        ("ops/nn/a.cpp", '"sorus/base/error.h"'),
        ("kernels/cpu/a.cpp", '"sorus/ops/nn/attributes.h"'),
        ("kernels/cpu/a.cpp", '"hwy/highway.h"'),
        ("kernels/cpu/a.cpp", "<dnnl.hpp>"),
        ("compiler/passes/a.cpp", '"sorus/ops/nn/nn.h"'),
        ("train/a.cpp", '"sorus/autograd/tape.h"'),
        ("lite/a.cpp", '"sorus/ir/graph.h"'),
        ("federated/a.cpp", '"sorus/parallel/group.h"'),
        ("base/cpu/a.cpp", '"sorus/base/cpu/detail/b.h"'),
        ("sorus.h", '"sorus/train/model.h"'),
        ("core/a.h", "<vector>"),
    ],
)
def test_layer_rules_allow(tmp_path: Path, source: str, include: str) -> None:
    write(tmp_path, f"src/sorus/{source}", f"#include {include}\n")
    assert check_layers.check_tree(tmp_path) == []


def test_header_beside_is_included_by_full_path(tmp_path: Path) -> None:
    write(tmp_path, "src/sorus/core/b.h", "")
    write(tmp_path, "src/sorus/core/a.cpp", '#include "b.h"\n')
    (problem,) = check_layers.check_tree(tmp_path)
    assert "full path" in problem


def test_closure_is_transitive_and_refuses_cycles() -> None:
    reach = check_layers.closure({"a": (), "b": ("a",), "c": ("b",)})
    assert reach["c"] == {"a", "b"}
    with pytest.raises(ValueError, match="cycle"):
        check_layers.closure({"a": ("b",), "b": ("a",)})


def test_layers_program_reports_and_fails(tmp_path: Path) -> None:
    write(tmp_path, "src/sorus/base/a.h", '#include "sorus/core/tensor.h"\n')
    command = [sys.executable, str(SCRIPTS / "check_layers.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.startswith("src/sorus/base/a.h:1: base may not include core")


# -------------------------------------------------------------------------------------------------- sizes

CPP = r"""
#include <vector>
#define BRACES(x) { \
    x } }
namespace sorus {
const char* text = "{ \" }"; char brace = '{'; int million = 1'000'000;
auto raw = R"x(} } { " )x";
template <class T, int N = 4>
struct Box : Base<T> {
  int a{3}, b = {4};
  explicit Box(const T& value = T()) noexcept : a{1}, b(f({1, 2})) {
    go();
  }
  bool operator()(int x) const { return [&](int y) { return y; }(x); }
 private:
  std::function<int(int)> callback = [](int z) {
    return z;
  };
};
const bool done = add(Op{.name = "x", .infer = [](const Call& call) -> Types {
  return {1};

}, .list = {1, 2}});
template <Lane T>
  requires(std::is_same_v<T, int>)
[[nodiscard]] auto exp(T x, std::vector<int> v = {1, 2}) -> decltype(x)
{
  if (x) { for (;;) { } }
  return x;
}
void Box<int>::bar(const std::array<int, 3>& a) & { /* } */ }
TEST(Suite, Case) {
  EXPECT_TRUE(true);  // }
}
REGISTER(name, {1, 2}, [] {
  return 1;
});
extern "C" {
int last(void) { return 1; }
}
}
"""


def test_functions_are_found() -> None:
    found = [(function.name, function.line, function.length) for function in find_functions(CPP)]
    assert found == [
        ("Box", 11, 3),
        ("operator_", 14, 1),
        ("<lambda>", 16, 3),
        ("<lambda>", 20, 4),
        ("exp", 24, 7),
        ("Box<int>::bar", 31, 1),
        ("Suite.Case", 32, 3),
        ("<lambda>", 35, 3),
        ("last", 39, 1),
    ]


def cpp_function(lines: int) -> str:
    return "void long_one() {\n" + "  step();\n" * (lines - 2) + "}\n"


@pytest.mark.parametrize(
    ("name", "limit"), [("src/sorus/core/a.cpp", 80), ("src/sorus/kernels/cpu/a.cpp", 120)]
)
def test_cpp_function_limit(tmp_path: Path, name: str, limit: int) -> None:
    write(tmp_path, name, "\n" + cpp_function(limit))
    assert check_sizes.check_tree(tmp_path) == []
    write(tmp_path, name, "\n" + cpp_function(limit + 1))
    expected = f"{name}:2: function long_one has {limit + 1} lines, the limit is {limit}"
    assert check_sizes.check_tree(tmp_path) == [expected]


def test_python_function_limit_leaves_out_the_docstring(tmp_path: Path) -> None:
    head = 'class A:\n    def long_one(self):\n        """Text.\n' + "\n" * 50 + '        """\n'
    write(tmp_path, "a.py", head + "        a = 1\n" * 79)
    assert check_sizes.check_tree(tmp_path) == []
    write(tmp_path, "a.py", head + "        a = 1\n" * 80)
    assert check_sizes.check_tree(tmp_path) == ["a.py:2: function long_one has 81 lines, the limit is 80"]


def test_file_limit_and_generated_files(tmp_path: Path) -> None:
    write(tmp_path, "a.h", "int a;\n" * 800)
    assert check_sizes.check_tree(tmp_path) == []
    write(tmp_path, "a.h", "int a;\n" * 801)
    assert check_sizes.check_tree(tmp_path) == ["a.h:1: file has 801 lines, the limit is 800"]
    write(tmp_path, "a.h", "// Generated by a script.\n" + "int a;\n" * 801)
    assert check_sizes.check_tree(tmp_path) == []


def test_size_exceptions(tmp_path: Path) -> None:
    write(tmp_path, "a.cpp", cpp_function(90))
    listing = write(tmp_path, "scripts/size_exceptions.txt", "# heading\na.cpp:long_one one table\n")
    assert check_sizes.check_tree(tmp_path) == []
    listing.write_text("a.cpp:long_one\n")
    assert check_sizes.check_tree(tmp_path) == [
        "scripts/size_exceptions.txt:1: exception without a reason: a.cpp:long_one"
    ]
    listing.write_text("a.cpp:long_one a reason\nb.cpp a reason\n")
    assert check_sizes.check_tree(tmp_path) == [
        "scripts/size_exceptions.txt:2: exception that nothing needs: b.cpp"
    ]


# --------------------------------------------------------------------------------------------------- docs


def test_links(tmp_path: Path) -> None:
    write(tmp_path, "docs/guide/a.md", "# The `fast` Way, twice\n")
    write(
        tmp_path,
        "README.md",
        "[good](docs/guide/a.md) [anchor](docs/guide/a.md#the-fast-way-twice) [web](https://example.org/x)\n"
        "[own](#title) `[code](no.md)`\n"
        "```\n[fenced](no.md)\n```\n"
        "[bad](docs/no.md) and [wrong](docs/guide/a.md#nowhere)\n"
        "[out](../elsewhere.md)\n"
        "[ref]: docs/no2.md\n\n# Title\n",
    )
    assert check_docs.check_tree(tmp_path) == [
        "README.md:6: link to nothing: docs/no.md",
        "README.md:6: link to a heading that is not there: docs/guide/a.md#nowhere",
        "README.md:7: link leaves the project: ../elsewhere.md",
        "README.md:8: link to nothing: docs/no2.md",
    ]


def test_rooms_need_pages(tmp_path: Path) -> None:
    write(tmp_path, "src/sorus/core/tensor.h", "")
    write(tmp_path, "src/sorus/sorus.h", "")
    assert check_docs.check_tree(tmp_path) == [
        "docs/rooms/core.md:1: missing: src/sorus/core has sources but no page"
    ]
    write(tmp_path, "docs/rooms/core.md", "# core\n")
    assert check_docs.check_tree(tmp_path) == []


HEADER = """\
#pragma once
/// About the room.
namespace sorus {
namespace detail {
void hidden();
}
/// Both of them.
[[nodiscard]] SORUS_API int first(int x = {1});
inline int second() { return 2; }

int bare(std::span<const int> values);
int noted();  ///< says it here
/// A thing.
class SORUS_API Thing : public Base {
 public:
  explicit Thing(int size) : size_(size) {}
  /// How large.
  [[nodiscard]] int size() const { return size_; }

 private:
  int size_ = 0;
};
}  // namespace sorus
"""


def test_contracts_are_read_from_headers(tmp_path: Path) -> None:
    write(tmp_path, "src/sorus/sorus.h", '#include "sorus/base/a.h"\n')
    write(tmp_path, "src/sorus/base/a.h", HEADER)
    assert cpp_headers.public_headers(tmp_path) == ["sorus/base/a.h"]
    header = cpp_headers.read_header(tmp_path, "sorus/base/a.h")
    assert header.about == "About the room."
    found = [(g.contract, [d.text for d in g.declarations]) for g in header.groups]
    assert found == [
        ("Both of them.", ["int first(int x = {1});", "inline int second();"]),
        ("", ["int bare(std::span<const int> values);", "int noted();"]),
        ("A thing.", ["class Thing : public Base;"]),
    ]
    members = header.groups[2].declarations[0].members
    assert [d.text for g in members for d in g.declarations] == [
        "explicit Thing(int size);",
        "int size() const;",
    ]
    assert cpp_headers.function_contracts(tmp_path) == {
        "first": "Both of them.",
        "second": "Both of them.",
        "noted": "says it here",
    }


MARKED = """\
/// About the room.
namespace sorus {
class Later;
/// Cannot be copied.
class SORUS_API Single {
 public:
  Single(const Single&) = delete;
  Single& operator=(const Single&) = delete;
  virtual ~Single() = default;
  /// For all.
  void open();

 protected:
  /// For subclasses.
  void inner();

 private:
  void own();
};
/// Internal: for the rooms above.
struct Token {
  int id = 0;
};
/// Internal: the token.
Token* token();
/// The count.
int after();
template <class T>
struct Named {
  int x = 0;
};
template <>
struct Named<int> {
  int y = 0;
};
}  // namespace sorus
template <>
struct fmt::formatter<sorus::Single> {
  int z = 0;
};
"""


def test_marks_and_members_in_headers(tmp_path: Path) -> None:
    write(tmp_path, "src/sorus/sorus.h", '#include "sorus/base/a.h"\n')
    write(tmp_path, "src/sorus/base/a.h", MARKED)
    groups = cpp_headers.read_header(tmp_path, "sorus/base/a.h").groups
    assert [d.name for g in groups for d in g.declarations] == ["Single", "after", "Named"]
    members = groups[0].declarations[0].members
    assert [(g.contract, g.protected, [d.name for d in g.declarations]) for g in members] == [
        ("", False, ["~Single"]),
        ("For all.", False, ["open"]),
        ("For subclasses.", True, ["inner"]),
    ]
    page = write_reference.cpp_pages(tmp_path)["base.md"]
    assert "  /// For all.\n  void open();\n protected:\n  /// For subclasses.\n  void inner();\n};" in page
    assert "Token" not in page and "own" not in page and "delete" not in page


def test_the_reference_lists_what_programs_are_made_of() -> None:
    pages = write_reference.cpp_pages(ROOT)
    for page, heads in {
        "nn.md": ["class Cell {"],
        "optim.md": ["class Optimizer {", "struct ParameterGroup {"],
        "core.md": ["class Tensor {", "class Parameter {", "class Shape {", "enum class DType"],
        "data.md": ["class Dataset {", "class DatasetIterator {", "class Sampler {", "class Transform :"],
        "engine.md": ["class Engine {"],
        "dispatch.md": ["using TensorList = SmallVector<Tensor, 4>;", "using TensorFunction ="],
        "ops.md": ["enum class ScatterMode"],
    }.items():
        for head in heads:
            assert f"\n{head}" in pages[page], head
    for internal in ("class HandleToken", "class HandleLog", "handle_log()", "class KeyScope"):
        assert internal not in pages["core.md"]


UMBRELLA_HEADER = """\
#include "sorus/base/other.h"
namespace sorus {
class Opaque;
/// What it takes is declared elsewhere.
int first(const Listed& in, Opaque* one);
}  // namespace sorus
"""
OTHER_HEADER = """\
namespace sorus {
using Listed = Vector<Element>;
/// Part of a list.
struct Element {
  int size = 0;
};
/// By itself.
struct Unnamed {};
/// Internal: none of theirs.
struct Hidden {};
namespace detail {
struct Opaque {};
}  // namespace detail
}  // namespace sorus
"""
ELSEWHERE = """\
namespace sorus {
class Opaque {
 public:
  Element* element(Hidden* hidden);
};
}  // namespace sorus
"""


def test_types_that_public_declarations_name_are_listed(tmp_path: Path) -> None:
    write(tmp_path, "src/sorus/sorus.h", '#include "sorus/base/a.h"\n')
    write(tmp_path, "src/sorus/base/a.h", UMBRELLA_HEADER)
    write(tmp_path, "src/sorus/base/other.h", OTHER_HEADER)
    write(tmp_path, "src/sorus/core/opaque.h", ELSEWHERE)
    # Another type of that name, which the declaration cannot mean.
    write(tmp_path, "src/sorus/core/list.h", "namespace sorus::core {\nstruct Element {};\n}\n")
    write(tmp_path, "docs/rooms/base.md", "# base\n")
    write(tmp_path, "docs/rooms/core.md", "# core\n")
    pages = write_reference.cpp_pages(tmp_path)
    assert "\nusing Listed = Vector<Element>;\n" in pages["base.md"]
    assert "\nstruct Element {\n" in pages["base.md"] and "Unnamed" not in pages["base.md"]
    assert "\nclass Opaque {\n" in pages["core.md"] and "Element {" not in pages["core.md"]
    for name, text in pages.items():
        write(tmp_path, f"docs/reference/cpp/{name}", write_reference.GENERATED + text.rstrip() + "\n")
    assert check_docs.check_tree(tmp_path) == []


def test_a_type_without_an_entry_is_found(tmp_path: Path) -> None:
    write(tmp_path, "src/sorus/base/other.h", OTHER_HEADER)
    code = "int first(const Listed& in, Hidden* h, Opaque*);\n\nusing Listed = Vector<Element>; // Unnamed\n"
    write(tmp_path, "docs/reference/cpp/base.md", f"```cpp\n{code}```\n\nUnnamed\n")
    assert check_docs.types_without_entries(tmp_path) == [
        "src/sorus/base/other.h:1: the reference names Element and has no entry for it"
    ]


def test_functions_need_contracts(tmp_path: Path) -> None:
    write(tmp_path, "src/sorus/sorus.h", '#include "sorus/base/a.h"\n')
    write(tmp_path, "src/sorus/base/a.h", HEADER)
    write(tmp_path, "docs/rooms/base.md", "# base\n")
    problems = check_docs.check_tree(tmp_path)
    assert problems == ["src/sorus/base/a.h:11: no contract: int bare(std::span<const int> values);"]


def test_python_examples_keep_their_lines() -> None:
    page = "# T\n\n```python\na = 1\n```\ntext\n```python notest\nb = 2\n```\n"
    page += "\n- item\n  ```python\n  c = a\n  ```\n"
    script = doc_pages.python_script(page)
    assert script.splitlines()[3] == "a = 1"
    assert script.splitlines()[12] == "c = a"
    assert "b = 2" not in script


def test_cpp_examples_are_written_and_cleared(tmp_path: Path) -> None:
    page = write(
        tmp_path, "docs/a.md", "```cpp\n// example: first\nint main() {}\n```\n```cpp\nint other;\n```\n"
    )
    folder = tmp_path / "out"
    write_examples.write_examples(tmp_path, folder)
    (source,) = folder.glob("*.cpp")
    assert source.name == "first.cpp"
    assert source.read_text() == f'#line 2 "{page.as_posix()}"\n// example: first\nint main() {{}}\n'
    page.write_text("nothing\n")
    write_examples.write_examples(tmp_path, folder)
    assert not list(folder.glob("*.cpp"))


def test_cpp_examples_go_on_in_later_blocks(tmp_path: Path) -> None:
    more = "// example: first, continued\n"
    text = f"```cpp\n// example: first\nint a;\n```\n```cpp\n{more}int main() {{}}\n```\n"
    page = write(tmp_path, "docs/a.md", text)
    write_examples.write_examples(tmp_path, tmp_path / "out")
    name = page.as_posix()
    assert (tmp_path / "out/first.cpp").read_text() == (
        f'#line 2 "{name}"\n// example: first\nint a;\n#line 6 "{name}"\n{more}int main() {{}}\n'
    )
    page.write_text(f"```cpp\n{more}```\n")
    (problem,) = check_docs.check_tree(tmp_path)
    assert "example first is continued without a beginning" in problem


def test_examples_in_c_are_written_as_such(tmp_path: Path) -> None:
    page = write(tmp_path, "docs/a.md", "```c\n// example: plain\nint a;\n```\n```c\nint other;\n```\n")
    folder = tmp_path / "out"
    write_examples.write_examples(tmp_path, folder)
    (source,) = folder.iterdir()
    assert source.name == "plain.c"
    assert "int other" not in source.read_text()
    page.write_text("nothing\n")
    write_examples.write_examples(tmp_path, folder)
    assert not list(folder.iterdir())


def test_example_names_are_unique(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "```cpp\n// example: same\n```\n```cpp\n// example: same\n```\n")
    (problem,) = check_docs.check_tree(tmp_path)
    assert "example same is also in" in problem


# ----------------------------------------------------------------------------------------------- op budget


def op_listing(primitives: int) -> list[dict]:
    return [
        *({"name": f"p{i}", "primitive": True} for i in range(primitives)),
        {"name": "add", "primitive": True, "elementwise": True},
        {"name": "conv2d_input_grad", "primitive": True, "backward": True},
        {"name": "gelu", "primitive": False},
    ]


def fake_registry(root: Path, listing: list[dict]) -> None:
    text = f"#!/bin/sh\ncat <<'END'\n{json.dumps(listing)}\nEND\n"
    program = write(root, "build/release/bin/sorus", text)
    program.chmod(0o755)


def test_op_budget(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_op_count.main([str(tmp_path)]) == 0
    assert "not checked" in capsys.readouterr().out
    fake_registry(tmp_path, op_listing(100))
    assert check_op_count.main([str(tmp_path)]) == 0
    assert "100 of 100" in capsys.readouterr().out
    fake_registry(tmp_path, op_listing(101))
    assert check_op_count.main([str(tmp_path)]) == 1
    assert "got 101, need at most 100" in capsys.readouterr().out


def test_op_listing_may_be_an_object() -> None:
    assert check_op_count.budgeted_ops({"ops": op_listing(2)}) == ["p0", "p1"]


# --------------------------------------------------------------------------------------------- the summary


def test_summary_counts_both_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        tmp_path,
        "cpp.xml",
        '<testsuite><testcase name="a" status="run"/>'
        '<testcase classname="b" name="b" status="fail"><failure message="Failed"/>'
        "<system-out>one\ntwo\n</system-out></testcase>"
        '<testcase name="c" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>'
        '<testcase name="d" status="notrun"><skipped message="Unable to find executable"/></testcase>'
        "</testsuite>",
    )
    write(
        tmp_path,
        "python.xml",
        '<testsuites><testsuite><testcase name="a"/><testcase name="b"><skipped message="why"/></testcase>'
        '<testcase classname="m" name="c"><error>E  wrong</error></testcase></testsuite></testsuites>',
    )
    assert summary.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "cpp: 1 passed, 2 failed, 1 skipped",
        "python: 1 passed, 1 failed, 1 skipped",
        "failed: b",
        "    one",
        "    two",
        "failed: d",
        "    Unable to find executable",
        "failed: m::c",
        "    E  wrong",
        "2 passed, 3 failed",
    ]


def test_summary_shows_the_end_of_a_long_report_and_a_bounded_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "\n".join(f"line {i}" for i in range(100))
    case = f'<testcase name="a"><failure>{text}</failure></testcase>'
    write(tmp_path, "python.xml", f"<testsuite>{case * (summary.NAMED_FAILURES + 3)}</testsuite>")
    assert summary.main([str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "failed: a"
    assert lines[2 : 2 + summary.REPORT_LINES] == [
        f"    line {i}" for i in range(100 - summary.REPORT_LINES, 100)
    ]
    assert lines[-2:] == ["failed: 3 more", f"0 passed, {summary.NAMED_FAILURES + 3} failed"]


@pytest.mark.parametrize(
    ("report", "status", "last"),
    [
        ('<testsuite><testcase name="a"/></testsuite>', 0, "1 passed, 0 failed"),
        ("<testsuite/>", 1, "0 passed, 0 failed"),
        ("<testsuite", 1, "0 passed, 1 failed"),
    ],
)
def test_summary_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], report: str, status: int, last: str
) -> None:
    write(tmp_path, "a.xml", report)
    assert summary.main([str(tmp_path)]) == status
    assert capsys.readouterr().out.splitlines()[-1] == last


# -------------------------------------------------------------------------------------------------- format


@pytest.mark.skipif(shutil.which("clang-format-14") is None, reason="needs clang-format-14")
@pytest.mark.parametrize(
    ("name", "text", "accepted"),
    [
        ("a.cpp", "int a = 1;\n", True),
        ("a.cpp", "int   a = 1;\n", False),
        ("a.py", "a = 1\n", True),
        ("a.py", "a = (1\n", False),
        ("a.py", "a = 1  \n", False),
        ("a.py", "if True:\n\ta = 1\n", False),
        ("a.py", f"a = '{'x' * 110}'\n", False),
        ("a.md", "text\n", True),
        ("a.md", "text \n", False),
    ],
)
def test_format(tmp_path: Path, name: str, text: str, accepted: bool) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for config in (".clang-format", "ruff.toml"):
        shutil.copy(ROOT / config, tmp_path / config)
    write(tmp_path, name, text)
    tools = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", str(SCRIPTS / "check_format.sh"), str(tmp_path)],
        capture_output=True,
        text=True,
        env={"PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin"},
    )
    assert (done.returncode == 0) == accepted, done.stdout + done.stderr
