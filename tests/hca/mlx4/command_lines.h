// Traces of commands as model::CommandText() writes them: read and compared.
#ifndef IBEMU_TESTS_HCA_MLX4_COMMAND_LINES_H_
#define IBEMU_TESTS_HCA_MLX4_COMMAND_LINES_H_

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ibemu::hca::mlx4 {

struct CommandLine {
  // Opcode, and what tells commands of the same one from each other.
  std::string step;
  std::map<std::string, std::string> fields;
};

struct Trace {
  std::vector<CommandLine> commands;  // but MAD_IFC
  // MAD_IFC, and what it asks for: how often is a matter of caches and of
  // threads that both want to know.
  std::set<std::string> mads;
};

// One line of a trace.  Of a field that comes more than once, the last counts;
// how its end is told does not.
inline CommandLine ParseCommandLine(const std::string& line) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ');
  CommandLine command{.step = words[0], .fields = {}};
  for (size_t i = 2; i < words.size(); ++i) {
    const std::pair<std::string, std::string> field =
        absl::StrSplit(words[i], absl::MaxSplits('=', 1));
    command.fields.insert_or_assign(field.first, field.second);
  }
  return command;
}

// The special queue pairs are told by their role, as which numbers they have is
// the driver's choice; runs of MAP_ICM and UNMAP_ICM are one.
inline Trace ParseTrace(const std::vector<std::string>& lines) {
  Trace trace;
  unsigned long special = 0;
  for (const std::string& line : lines) {
    CommandLine command = ParseCommandLine(line);
    const std::string name = command.step;
    if (name == "MAD_IFC") {
      trace.mads.insert(
          absl::StrCat(name, " class=", command.fields["class"],
                       " attribute=", command.fields["attribute"]));
      continue;
    }
    const auto number = std::stoul(command.fields["in"], nullptr, 0);
    if (name == "CONF_SPECIAL_QP") {
      if (number != 0) special = number;
    } else if (name.ends_with("_QP")) {
      absl::StrAppend(&command.step, " ", number - special);
    } else if (name == "MOD_STAT_CFG") {
      absl::StrAppend(&command.step, " op=", command.fields["op"]);
    }
    const bool goes_on = name.ends_with("MAP_ICM") && !trace.commands.empty() &&
                         trace.commands.back().step == name;
    if (!goes_on) trace.commands.push_back(std::move(command));
  }
  return trace;
}

// The differences, each with how often it was seen.
using Differences = std::map<std::string, int>;

// "- STEP" for what is in the first alone, "+ STEP" for what is in the second,
// by the longest order that they share.
inline Differences StepDifferences(const std::vector<CommandLine>& first,
                                   const std::vector<CommandLine>& second) {
  std::vector<std::vector<size_t>> common(
      first.size() + 1, std::vector<size_t>(second.size() + 1));
  for (size_t i = first.size(); i-- > 0;) {
    for (size_t j = second.size(); j-- > 0;) {
      common[i][j] = first[i].step == second[j].step
                         ? common[i + 1][j + 1] + 1
                         : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  Differences found;
  size_t i = 0;
  size_t j = 0;
  while (i < first.size() || j < second.size()) {
    if (i < first.size() && j < second.size() &&
        first[i].step == second[j].step) {
      ++i;
      ++j;
    } else if (j == second.size() ||
               (i < first.size() && common[i + 1][j] >= common[i][j + 1])) {
      ++found[absl::StrCat("- ", first[i++].step)];
    } else {
      ++found[absl::StrCat("+ ", second[j++].step)];
    }
  }
  return found;
}

// "STEP field" for each field whose values differ, the n-th STEP of one trace
// against the n-th of the other; a field that is not there is 0.  "STEP field
// repeated": the first trace has given that value in an earlier step of the
// queue pair, and gives none here.
inline Differences FieldDifferences(const std::vector<CommandLine>& first,
                                    const std::vector<CommandLine>& second) {
  std::map<std::string, std::vector<const CommandLine*>> by_step;
  for (const CommandLine& line : second) by_step[line.step].push_back(&line);
  std::map<std::string, size_t> count;
  // By queue pair ("" is the only one) and field, the last value.
  std::map<std::string, std::map<std::string, std::string>> given;
  Differences found;
  for (const CommandLine& line : first) {
    const std::vector<const CommandLine*>& others = by_step[line.step];
    const size_t index = count[line.step]++;
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line.step, absl::MaxSplits("_QP", 1));
    std::map<std::string, std::string>& earlier = given[parts.second];
    std::map<std::string, std::string> all = line.fields;
    if (index < others.size()) {
      all.insert(others[index]->fields.begin(), others[index]->fields.end());
    }
    for (const auto& [name, value] : all) {
      const auto in = [&name = name](const CommandLine& one) {
        const auto field = one.fields.find(name);
        return field == one.fields.end() ? std::string("0") : field->second;
      };
      const std::string theirs = in(line);
      if (index < others.size() && theirs != in(*others[index])) {
        const bool repeated = line.step.find("_QP") != std::string::npos &&
                              theirs == "0" &&
                              earlier[name] == in(*others[index]);
        ++found[absl::StrCat(line.step, " ", name,
                             repeated ? " repeated" : "")];
      }
      if (theirs != "0") earlier[name] = theirs;
    }
  }
  return found;
}

inline Differences SetDifferences(const std::set<std::string>& first,
                                  const std::set<std::string>& second) {
  Differences found;
  for (const std::string& one : first) {
    if (!second.contains(one)) ++found["- " + one];
  }
  for (const std::string& one : second) {
    if (!first.contains(one)) ++found["+ " + one];
  }
  return found;
}

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_TESTS_HCA_MLX4_COMMAND_LINES_H_
