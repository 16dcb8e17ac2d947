#include "sorus/nn/cell.h"

#include <algorithm>

#include "sorus/base/told_as.h"
#include "sorus/dispatch/apply.h"

namespace sorus::nn {
namespace {

BoundaryKey call_key(uint64_t id, bool training, std::span<const Tensor> in) {
  BoundaryKey key(hash_combine(id, training ? 1 : 0));
  key.add(in);
  return key;
}

}  // namespace

Cell::Cell(Place place) : id_(new_boundary_id()) {
  if (place.parent) place.parent->add_child(place.name, *this);
}

Tensor Cell::construct(const Tensor& /*x*/) {
  raise<NotSupportedError>(
      "cell: takes no single tensor: got one operand, need a class that overrides construct(const Tensor&)");
}

TensorList Cell::construct(const TensorList& in) {
  SORUS_CHECK(in.size() == 1, ValueError, "cell: number of operands differs: got {}, need 1", in.size());
  return {construct(in[0])};
}

std::string Cell::path() const {
  if (!parent_) return "";
  for (const auto& [name, child] : parent_->children_)
    if (child == this) return parent_->parent_ ? parent_->path() + "." + name : name;
  return "";
}

template <class In>
In Cell::compute(const In& in) {
  try {
    return construct(in);
  } catch (const Error& e) {
    std::string text = e.what();
    if (!parent_ || text.find(" (in '") != std::string::npos) throw;  // a cell inside has told
    rethrow_with(e, text + " (in '" + path() + "')");
  }
}

Tensor Cell::operator()(const Tensor& x) {
  const ScopeState& scope = scope_state();
  if (!scope.graph_mode || scope.recorder) return compute(x);
  Tensor out;
  run_boundary(call_key(id_, training_, std::span<const Tensor>(&x, 1)), [&] { out = compute(x); });
  return out;
}

TensorList Cell::operator()(const TensorList& in) {
  const ScopeState& scope = scope_state();
  if (!scope.graph_mode || scope.recorder) return compute(in);
  TensorList out;
  run_boundary(call_key(id_, training_, in), [&] { out = compute(in); });
  return out;
}

std::vector<Parameter> Cell::parameters() {
  std::vector<Parameter> out;
  collect("", out);
  return out;
}

std::vector<Parameter> Cell::trainable_params() {
  std::vector<Parameter> all = parameters();
  std::erase_if(all, [](const Parameter& p) { return !p.requires_grad(); });
  return all;
}

void Cell::collect(const std::string& prefix, std::vector<Parameter>& out) {
  for (auto& [name, parameter] : parameters_) {
    if (std::find(out.begin(), out.end(), parameter) != out.end()) continue;
    parameter.set_name(prefix + name);
    out.push_back(parameter);
  }
  for (auto& [name, child] : children_) child->collect(prefix + name + ".", out);
}

Cell& Cell::set_train(bool training) {
  training_ = training;
  for (auto& [name, child] : children_) child->set_train(training);
  return *this;
}

Parameter Cell::add_parameter(std::string_view name, Tensor value, bool requires_grad) {
  Parameter p(std::move(value), std::string(name), requires_grad);
  parameters_.emplace_back(name, p);
  return p;
}

void Cell::add_child(std::string_view name, Cell& child) {
  SORUS_CHECK(!name.empty() && name.find('.') == std::string_view::npos, ValueError,
              "cell: name of a child is not usable: got '{}', need a name without a dot", name);
  bool taken =
      std::any_of(children_.begin(), children_.end(), [&](const auto& c) { return c.first == name; });
  SORUS_CHECK(!taken, ValueError, "cell: two children have one name: got '{}' again, need another name",
              name);
  children_.emplace_back(name, &child);
  child.parent_ = this;
}

}  // namespace sorus::nn
