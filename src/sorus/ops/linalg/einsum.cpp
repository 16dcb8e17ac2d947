#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

/// A label is a letter, or the place of an axis that ... stands for, counted from its last one and negative
/// so that it is no letter.
using Label = int;
using Labels = std::vector<Label>;

struct Operand {
  Tensor x;
  Labels labels;
};

bool has(const Labels& labels, Label l) { return std::find(labels.begin(), labels.end(), l) != labels.end(); }
int place_of(const Labels& labels, Label l) {
  return static_cast<int>(std::find(labels.begin(), labels.end(), l) - labels.begin());
}

[[noreturn]] void refuse(std::string_view equation, std::string_view what, std::string_view need) {
  raise<ValueError>("einsum: {}: got \"{}\", need {}", what, equation, need);
}

/// The labels of one term; `hidden` axes stand for its ellipsis.
Labels parse_term(std::string_view equation, std::string_view term, int hidden) {
  Labels labels;
  bool ellipsis = false;
  for (size_t i = 0; i < term.size(); ++i) {
    char c = term[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (ellipsis || term.substr(i, 3) != "...")
        refuse(equation, "stray point", "at most one ... in a term");
      ellipsis = true;
      i += 2;
      for (int k = hidden; k > 0; --k) labels.push_back(-k);
      continue;
    }
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter) refuse(equation, "unknown character", "letters, commas, ... and one ->");
    labels.push_back(c);
  }
  return labels;
}

int letters_of(std::string_view term) {
  return static_cast<int>(
      std::count_if(term.begin(), term.end(), [](char c) { return c != ' ' && c != '.'; }));
}

std::vector<std::string_view> cut(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t next; (next = text.find(at)) != std::string_view::npos; text.remove_prefix(next + 1))
    parts.push_back(text.substr(0, next));
  parts.push_back(text);
  return parts;
}

/// What the equation says of these operands.
struct Plan {
  std::vector<Operand> operands;
  Labels out;
};

/// Without ->: the axes of ..., then the letters that occur once, alphabetically.
Labels implicit_result(const std::vector<Operand>& operands, int hidden) {
  Labels out;
  for (int k = hidden; k > 0; --k) out.push_back(-k);
  for (Label l = 'A'; l <= 'z'; ++l) {
    int64_t count = 0;
    for (const Operand& o : operands) count += std::count(o.labels.begin(), o.labels.end(), l);
    if (count == 1) out.push_back(l);
  }
  return out;
}

Plan parse(std::string_view equation, std::span<const Tensor> tensors) {
  size_t arrow = equation.find("->");
  std::vector<std::string_view> terms = cut(equation.substr(0, arrow), ',');
  if (terms.size() != tensors.size())
    refuse(equation, fmt::format("number of terms does not fit {} operands", tensors.size()),
           "one term per operand");
  Plan plan;
  int hidden = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    bool ellipsis = terms[i].find("...") != std::string_view::npos;
    int more = tensors[i].rank() - letters_of(terms[i]);
    SORUS_CHECK(more == 0 || (more > 0 && ellipsis), ShapeError,
                "einsum: term does not fit its operand: got \"{}\" for shape {}, need one letter per axis",
                terms[i], tensors[i].shape());
    hidden = std::max(hidden, more);
    plan.operands.push_back({tensors[i], parse_term(equation, terms[i], more)});
  }
  if (arrow == std::string_view::npos) {
    plan.out = implicit_result(plan.operands, hidden);
    return plan;
  }
  plan.out = parse_term(equation, equation.substr(arrow + 2), hidden);
  for (Label l : plan.out) {
    if (std::count(plan.out.begin(), plan.out.end(), l) > 1)
      refuse(equation, "letter twice in the result", "it once");
    bool known = l < 0 || std::any_of(plan.operands.begin(), plan.operands.end(),
                                      [&](const Operand& o) { return has(o.labels, l); });
    if (!known) refuse(equation, "letter only in the result", "it in an operand");
  }
  return plan;
}

void check_extents(std::string_view equation, const std::vector<Operand>& operands) {
  std::array<int64_t, 256> extents;
  extents.fill(1);
  for (const Operand& o : operands)
    for (size_t i = 0; i < o.labels.size(); ++i) {
      int64_t& known = extents[static_cast<size_t>(o.labels[i] + 64)];
      int64_t extent = o.x.size(static_cast<int64_t>(i));
      SORUS_CHECK(extent == known || extent == 1 || known == 1, ShapeError,
                  "einsum: extents of one axis differ: got {} and {} in \"{}\", need equal ones, or 1", known,
                  extent, equation);
      if (known == 1) known = extent;
    }
}

/// A letter twice in one operand becomes its diagonal.
void take_diagonals(Operand& o) {
  for (size_t i = 0; i < o.labels.size(); ++i)
    for (size_t j = i + 1; j < o.labels.size(); ++j) {
      if (o.labels[i] != o.labels[j]) continue;
      Label l = o.labels[i];
      o.x = diagonal(o.x, 0, static_cast<int64_t>(i), static_cast<int64_t>(j));
      o.labels.erase(o.labels.begin() + static_cast<std::ptrdiff_t>(j));
      o.labels.erase(o.labels.begin() + static_cast<std::ptrdiff_t>(i));
      o.labels.push_back(l);
      return take_diagonals(o);
    }
}

/// Sums over the axes for which keep(label) is false.
template <class Keep>
void sum_others(Operand& o, Keep keep) {
  Ints axes;
  Labels left;
  for (size_t i = 0; i < o.labels.size(); ++i) {
    if (keep(o.labels[i]))
      left.push_back(o.labels[i]);
    else
      axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return;
  o.x = sum(o.x, axes);
  o.labels = left;
}

/// The axes of `o` in the order of `order`; labels that it lacks become axes of extent 1.
Tensor arrange(const Operand& o, const Labels& order) {
  Ints axes;
  Ints fresh;
  for (size_t i = 0; i < order.size(); ++i) {
    if (has(o.labels, order[i]))
      axes.push_back(place_of(o.labels, order[i]));
    else
      fresh.push_back(static_cast<int64_t>(i));
  }
  return expand_dims(transpose(o.x, axes), fresh);
}

Labels joined(std::initializer_list<const Labels*> groups) {
  Labels all;
  for (const Labels* g : groups) all.insert(all.end(), g->begin(), g->end());
  return all;
}

/// Product of the extents of an operand's axes from `first` on, `count` of them.
int64_t extent_of(const Tensor& x, size_t first, size_t count) {
  int64_t n = 1;
  for (size_t i = first; i < first + count; ++i) n *= x.size(static_cast<int64_t>(i));
  return n;
}

/// (batch..., rows, columns): the axes behind the batch folded into two.
Tensor as_matrices(const Tensor& x, size_t batch, size_t rows) {
  Ints shape;
  for (size_t i = 0; i < batch; ++i) shape.push_back(x.size(static_cast<int64_t>(i)));
  shape.push_back(extent_of(x, batch, rows));
  shape.push_back(extent_of(x, batch + rows, static_cast<size_t>(x.rank()) - batch - rows));
  return reshape(x, shape);
}

/// Product of two operands whose lonely summed axes are gone: shared labels that `keep` are batch axes, the
/// other shared ones are summed by the matrix product.
template <class Keep>
Operand contract(const Operand& a, const Operand& b, Keep keep) {
  Labels batch;
  Labels summed;
  Labels rows;
  Labels columns;
  for (Label l : a.labels) (!has(b.labels, l) ? rows : keep(l) ? batch : summed).push_back(l);
  for (Label l : b.labels)
    if (!has(a.labels, l)) columns.push_back(l);
  Labels result = joined({&batch, &rows, &columns});
  if (summed.empty()) return {mul(arrange(a, result), arrange(b, result)), result};
  Tensor left = arrange(a, joined({&batch, &rows, &summed}));
  Tensor right = arrange(b, joined({&batch, &summed, &columns}));
  Shape wide_left = left.shape();
  Shape wide_right = right.shape();
  for (size_t i = 0; i < summed.size(); ++i) {
    // An axis of extent 1 beside a longer one is repeated.
    auto at_left = static_cast<int>(batch.size() + rows.size() + i);
    auto at_right = static_cast<int>(batch.size() + i);
    int64_t extent = wide_left.size(at_left) == 1 ? wide_right.size(at_right) : wide_left.size(at_left);
    wide_left[at_left] = extent;
    wide_right[at_right] = extent;
  }
  left = broadcast_to(left, wide_left);
  right = broadcast_to(right, wide_right);
  Tensor product =
      matmul(as_matrices(left, batch.size(), rows.size()), as_matrices(right, batch.size(), summed.size()));
  Ints shape;
  for (size_t i = 0; i < batch.size(); ++i) shape.push_back(product.size(static_cast<int64_t>(i)));
  for (size_t i = 0; i < rows.size(); ++i) shape.push_back(left.size(static_cast<int64_t>(batch.size() + i)));
  for (size_t i = 0; i < columns.size(); ++i)
    shape.push_back(right.size(static_cast<int64_t>(batch.size() + summed.size() + i)));
  return {reshape(product, shape), result};
}

}  // namespace

Tensor einsum(std::string_view equation, std::span<const Tensor> operands) {
  SORUS_CHECK(!operands.empty(), ValueError, "einsum: no operands: got an empty list, need at least one");
  Plan plan = parse(equation, operands);
  check_extents(equation, plan.operands);
  for (Operand& o : plan.operands) take_diagonals(o);
  Operand so_far = plan.operands[0];
  for (size_t next = 1; next < plan.operands.size(); ++next) {
    auto later = [&](Label l) {
      return has(plan.out, l) ||
             std::any_of(plan.operands.begin() + static_cast<std::ptrdiff_t>(next) + 1, plan.operands.end(),
                         [&](const Operand& o) { return has(o.labels, l); });
    };
    Operand other = plan.operands[next];
    sum_others(so_far, [&](Label l) { return later(l) || has(other.labels, l); });
    sum_others(other, [&](Label l) { return later(l) || has(so_far.labels, l); });
    so_far = contract(so_far, other, later);
  }
  sum_others(so_far, [&](Label l) { return has(plan.out, l); });
  return arrange(so_far, plan.out);
}

}  // namespace sorus
