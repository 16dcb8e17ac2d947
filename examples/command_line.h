#pragma once

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace examples {

/// The arguments of an example: values by name, as "--epochs 3", and others by their place. Small, so that an
/// example compiles in the time its own code takes.
class CommandLine {
 public:
  explicit CommandLine(std::string about) : about_(std::move(about)) {}

  /// Names that begin with "--" may be left out; others must be given, in this order.
  void add(const std::string& name, std::string& to, std::string help,
           std::vector<std::string> choices = {}) {
    for (size_t i = 0; i < choices.size(); ++i) help += (i == 0 ? "; one of " : ", ") + choices[i];
    put(name, to, help, [&to, choices](const std::string& text) {
      bool known = choices.empty();
      for (const std::string& choice : choices) known = known || choice == text;
      to = text;
      return known;
    });
  }
  void add(const std::string& name, int64_t& to, const std::string& help) {
    put(name, std::to_string(to), help + "; 1 or more", [&to](auto& t) { return parse(t, to) && to > 0; });
  }
  void add(const std::string& name, uint64_t& to, const std::string& help) {
    put(name, std::to_string(to), help, [&to](const std::string& text) { return parse(text, to); });
  }
  void add(const std::string& name, double& to, const std::string& help) {
    put(name, fmt::format("{}", to), help, [&to](const std::string& text) { return parse(text, to); });
  }

  /// Ends the program for --help, with 0, and for arguments that it does not take, with 2.
  void read(int argc, char** argv) const {
    const std::vector<std::string> given(argv + 1, argv + argc);
    size_t place = 0;
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i] == "--help" || given[i] == "-h") stop(0, help(argv[0]));
      const bool named = given[i].starts_with("--");
      const Argument* argument = named ? find(given[i]) : nth_place(place++);
      if (!argument) stop(2, "unknown argument: got " + given[i] + "\n" + help(argv[0]));
      if (named && ++i == given.size()) stop(2, argument->name + ": got no value, need " + argument->help);
      if (!argument->set(given[i]))
        stop(2, argument->name + ": got '" + given[i] + "', need " + argument->help);
    }
    if (const Argument* missing = nth_place(place))
      stop(2, missing->name + " is missing: need " + missing->help + "\n" + help(argv[0]));
  }

 private:
  struct Argument {
    std::string name, value, help;
    std::function<bool(const std::string&)> set;
    [[nodiscard]] bool named() const { return name.starts_with("--"); }
  };

  void put(const std::string& name, const std::string& value, const std::string& help,
           std::function<bool(const std::string&)> set) {
    arguments_.push_back({name, value, help, std::move(set)});
  }
  template <class T>
  static bool parse(const std::string& text, T& to) {
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, to);
    return error == std::errc{} && at == end;
  }
  [[nodiscard]] const Argument* find(const std::string& name) const {
    for (const Argument& a : arguments_)
      if (a.name == name) return &a;
    return nullptr;
  }
  [[nodiscard]] const Argument* nth_place(size_t place) const {
    for (const Argument& a : arguments_)
      if (!a.named() && place-- == 0) return &a;
    return nullptr;
  }
  [[nodiscard]] std::string help(const std::string& program) const {
    std::string text = about_ + "\nusage: " + program;
    for (const Argument& a : arguments_)
      if (!a.named()) text += " " + a.name;
    text += " [--name value ...]\n";
    for (const Argument& a : arguments_)
      text += fmt::format("  {:14}{}{}\n", a.name, a.help, a.named() ? " [" + a.value + "]" : "");
    return text;
  }
  [[noreturn]] static void stop(int status, const std::string& text) {
    fmt::print(status == 0 ? stdout : stderr, "{}\n", text);
    std::exit(status);
  }

  std::string about_;
  std::vector<Argument> arguments_;
};

}  // namespace examples
