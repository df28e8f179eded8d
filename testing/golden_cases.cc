#include "testing/golden_cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/ascii.h"
#include "testing/golden.h"

namespace ibemu::testing {
namespace {

namespace fs = std::filesystem;

void EndWithoutBlankLines(std::string& text) {
  while (text == "\n" || text.ends_with("\n\n")) text.pop_back();
}

void ReadCases(const fs::path& folder, const std::string& name,
               std::vector<GoldenCase>& cases) {
  std::ifstream file(folder / name);
  const size_t first = cases.size();
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const bool in_case = cases.size() > first;
    if (line.starts_with("=== ")) {
      cases.push_back({name, number, line.substr(4), "", {}});
    } else if (!in_case) {
      if (line.empty() || line.starts_with('#')) continue;
      cases.push_back({name, number, "", line + "\n", {}});
    } else if (line.starts_with("--- ")) {
      cases.back().expected.push_back({line.substr(4), ""});
    } else if (GoldenCase& last = cases.back(); last.expected.empty()) {
      last.input += line + "\n";
    } else {
      last.expected.back().text += line + "\n";
    }
  }
  if (cases.size() == first) cases.push_back({name, 1, "", "", {}});
}

}  // namespace

std::string GoldenCase::TestName() const {
  std::string name = fs::path(file).replace_extension().string() + "_" + title;
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

std::vector<GoldenCase> ReadGoldenCases(std::string_view folder) {
  const fs::path root = GoldenPath(folder);
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".txt") continue;
    names.push_back(entry.path().lexically_relative(root).string());
  }
  std::ranges::sort(names);
  std::vector<GoldenCase> cases;
  for (const std::string& name : names) ReadCases(root, name, cases);
  for (GoldenCase& golden : cases) {
    for (GoldenCase::Expectation& expected : golden.expected) {
      EndWithoutBlankLines(expected.text);
    }
  }
  return cases;
}

std::ostream& operator<<(std::ostream& out, const GoldenCase& golden) {
  return out << golden.file << ":" << golden.line;
}

}  // namespace ibemu::testing
