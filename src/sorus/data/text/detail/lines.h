#pragma once

#include <fstream>
#include <functional>
#include <string>

#include "sorus/data/dataset.h"

/// How text comes into tables: lines of files and rows of datasets.
namespace sorus::data::text::detail {

/// The lines of a file, without their ends ("\n"). Throws IOError naming `op` and the file.
class Lines {
 public:
  Lines(const char* op, const std::string& path);
  /// Goes to the next line; false at the end.
  [[nodiscard]] bool next();
  [[nodiscard]] const std::string& line() const { return line_; }
  /// From 1 on.
  [[nodiscard]] int64_t number() const { return number_; }

 private:
  std::string op_;
  std::string path_;
  std::ifstream file_;
  std::string line_;
  int64_t number_ = 0;
};

/// All rows of one epoch.
void for_each_row(const Dataset& dataset, const std::function<void(const Chunk&, int64_t)>& body);

}  // namespace sorus::data::text::detail
