#include "sorus/train/checkpoint.h"

#include <algorithm>

#include "sorus/base/log.h"
#include "sorus/formats/checkpoint.h"

namespace sorus::train {
namespace {

/// Least number of letters to insert, delete or replace.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string type_text(const Tensor& t) { return fmt::format("{} {}", t.dtype(), t.shape()); }

/// Splits names into what fits and what does not; calls `fits(parameter, value)` for the former.
template <class F>
LoadReport match(std::span<const Parameter> parameters, const std::map<std::string, Tensor>& values,
                 F&& fits) {
  LoadReport report;
  std::map<std::string, bool> used;
  for (const Parameter& p : parameters) {
    auto at = values.find(p.name());
    if (at == values.end()) {
      report.missing.push_back(p.name());
      continue;
    }
    used[p.name()] = true;
    const Tensor& mine = p.value();
    if (at->second.shape() != mine.shape() || at->second.dtype() != mine.dtype())
      report.misshaped.push_back(
          fmt::format("{}: got {}, need {}", p.name(), type_text(at->second), type_text(mine)));
    else
      fits(p, at->second);
  }
  for (const auto& [name, value] : values)
    if (!used.count(name)) report.unexpected.push_back(name);
  return report;
}

std::vector<Parameter> all_parameters(nn::Cell& network, const optim::Optimizer* optimizer) {
  std::vector<Parameter> all = network.parameters();
  if (optimizer)
    for (const Parameter& p : optimizer->state()) all.push_back(p);
  return all;
}

}  // namespace

std::string LoadReport::text() const {
  std::string out;
  for (const std::string& name : missing) {
    out += "\n  missing     " + name;
    std::vector<std::string> near = near_names(name, unexpected);
    for (size_t i = 0; i < near.size(); ++i) out += (i == 0 ? " (near: " : ", ") + near[i];
    if (!near.empty()) out += ")";
  }
  for (const std::string& name : unexpected) out += "\n  unexpected  " + name;
  for (const std::string& line : misshaped) out += "\n  misshaped   " + line;
  return out.empty() ? out : out.substr(1);
}

std::vector<std::string> near_names(const std::string& name, std::span<const std::string> candidates) {
  std::vector<std::pair<size_t, std::string>> found;
  for (const std::string& c : candidates) {
    size_t distance = edit_distance(name, c);
    if (3 * distance <= std::max(name.size(), c.size())) found.emplace_back(distance, c);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min<size_t>(found.size(), 3); ++i) out.push_back(found[i].second);
  return out;
}

LoadReport assign_parameters(std::span<const Parameter> parameters,
                             const std::map<std::string, Tensor>& values) {
  return match(parameters, values, [](Parameter p, const Tensor& value) { p.set_value(value); });
}

void save_checkpoint(const std::string& path, std::span<const Parameter> parameters) {
  std::vector<formats::CheckpointEntry> entries;
  for (const Parameter& p : parameters) entries.push_back({p.name(), p.value()});
  formats::write_checkpoint(path, entries);
}

void save_checkpoint(const std::string& path, nn::Cell& network, const optim::Optimizer* optimizer) {
  save_checkpoint(path, all_parameters(network, optimizer));
}

LoadReport load_checkpoint(const std::string& path, std::span<const Parameter> parameters, bool strict) {
  std::map<std::string, Tensor> values;
  for (formats::CheckpointEntry& entry : formats::read_checkpoint(path))
    if (auto* tensor = std::get_if<Tensor>(&entry.value)) values[entry.name] = std::move(*tensor);
  LoadReport report = match(parameters, values, [](const Parameter&, const Tensor&) {});
  SORUS_CHECK(strict ? report.clean() : report.misshaped.empty(), ValueError,
              "load_checkpoint: {} does not fit the network, none is loaded: got\n{}\nneed {}", path,
              report.text(), strict ? "the names and types of this network" : "values of this network");
  if (!report.clean())
    log_warning("load_checkpoint: names of {} and of the network differ, the rest is loaded:\n{}", path,
                report.text());
  return assign_parameters(parameters, values);
}

LoadReport load_checkpoint(const std::string& path, nn::Cell& network, const optim::Optimizer* optimizer,
                           bool strict) {
  return load_checkpoint(path, all_parameters(network, optimizer), strict);
}

uint64_t checksum(std::span<const Parameter> parameters) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const Parameter& p : parameters) {
    const Tensor& t = p.value();
    std::vector<std::byte> bytes(static_cast<size_t>(t.numel()) * dtype_size(t.dtype()));
    t.copy_to(bytes.data(), t.dtype());
    for (std::byte b : bytes) hash = (hash ^ static_cast<uint64_t>(b)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace sorus::train
