#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "sorus/nn/cell.h"
#include "sorus/optim/optimizer.h"

/// Parameters to and from files, by name.
namespace sorus::train {

/// Names that did not meet when parameters were loaded.
struct SORUS_API LoadReport {
  std::vector<std::string> missing;     ///< parameters of the network that the file lacks
  std::vector<std::string> unexpected;  ///< names in the file that the network lacks
  std::vector<std::string> misshaped;   ///< "name: got shape and dtype, need shape and dtype"
  [[nodiscard]] bool clean() const { return missing.empty() && unexpected.empty() && misshaped.empty(); }
  /// All of it, one name a line, each missing name with the unexpected one that is nearest to it.
  [[nodiscard]] std::string text() const;
};

/// The names most like `name`, nearest first, at most three; none that differs in more than a third of it.
[[nodiscard]] SORUS_API std::vector<std::string> near_names(const std::string& name,
                                                            std::span<const std::string> candidates);

/// Gives each parameter the value of its name. What fits is loaded; the rest is reported.
SORUS_API LoadReport assign_parameters(std::span<const Parameter> parameters,
                                       const std::map<std::string, Tensor>& values);

/// Writes a `.ckpt` file of the parameters, in order. Throws IOError.
SORUS_API void save_checkpoint(const std::string& path, std::span<const Parameter> parameters);
/// A network's parameters, and with `optimizer` its state: all that training needs to go on.
SORUS_API void save_checkpoint(const std::string& path, nn::Cell& network,
                               const optim::Optimizer* optimizer = nullptr);

/// Reads a `.ckpt` file into the parameters. Names that only the file or only the network has are warned of,
/// in one list, and reported: a file with the state of an optimizer gives a network its weights. Throws
/// ValueError, with one list of all that does not fit, and loads nothing, if a value has another shape or
/// dtype; with `strict` also if a name is missing or unexpected.
SORUS_API LoadReport load_checkpoint(const std::string& path, std::span<const Parameter> parameters,
                                     bool strict = false);
SORUS_API LoadReport load_checkpoint(const std::string& path, nn::Cell& network,
                                     const optim::Optimizer* optimizer = nullptr, bool strict = false);

/// FNV-1a hash of the bytes of all values, in order: equal for equal bits.
[[nodiscard]] SORUS_API uint64_t checksum(std::span<const Parameter> parameters);

}  // namespace sorus::train
