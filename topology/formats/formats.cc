#include "topology/formats/formats.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/absl_text.h"
#include "topology/formats/text/ibdm_arrow.h"
#include "topology/formats/text/lines.h"
#include "topology/topology_parser.h"

namespace ibemu::topology {
namespace {

struct Ending {
  std::string_view ending;
  TextFormat format;
};
constexpr Ending kEndings[] = {
    {".net", TextFormat::kIbnetdiscover},
    {".lst", TextFormat::kSubnetList},
    {".topo", TextFormat::kIbdmTopology},
    {".dot", TextFormat::kDot},
    {".gv", TextFormat::kDot},
    {".clab.yaml", TextFormat::kContainerlab},
    {".clab.yml", TextFormat::kContainerlab},
    {".yaml", TextFormat::kSpec},
    {".yml", TextFormat::kSpec},
    {".json", TextFormat::kSpec},
};

constexpr std::string_view kSpecKeys[] = {"generator", "include", "hosts",
                                          "profiles",  "nodes",   "links"};

// Returns the first two lines that are neither blank nor a comment.
std::array<std::string_view, 2> FirstLines(std::string_view text) {
  std::array<std::string_view, 2> lines;
  for (size_t found = 0; found < lines.size() && !text.empty();) {
    const std::string_view line = TrimSpace(CutBefore("\n", text));
    if (line.empty() || line.starts_with('#')) continue;
    lines[found++] = line;
  }
  return lines;
}

bool BeginsWithWord(std::string_view line, std::string_view word) {
  return absl::StartsWithIgnoreCase(Absl(line), Absl(word)) &&
         (line.size() == word.size() ||
          !absl::ascii_isalnum(static_cast<unsigned char>(line[word.size()])));
}

bool BeginsSpec(std::string_view line) {
  if (line.starts_with("---") || line.starts_with("%YAML")) return true;
  return std::ranges::any_of(kSpecKeys, [line](std::string_view key) {
    return line.starts_with(key) && line.substr(key.size()).starts_with(':');
  });
}

}  // namespace

TextFormat DetectFormat(std::string_view text, std::string_view file) {
  for (const auto& [ending, format] : kEndings) {
    if (file.ends_with(ending)) return format;
  }
  const auto [first, second] = FirstLines(text);
  if (first.starts_with('{')) {
    const std::string_view rest = TrimSpace(first.substr(1));
    return !rest.empty() &&
                   absl::ascii_isupper(static_cast<unsigned char>(rest.front()))
               ? TextFormat::kSubnetList  // "{ CA Ports:"
               : TextFormat::kSpec;
  }
  if (BeginsSpec(first)) return TextFormat::kSpec;
  for (const std::string_view word : {"graph", "digraph", "strict"}) {
    if (BeginsWithWord(first, word)) return TextFormat::kDot;
  }
  if (first.starts_with("//") || first.starts_with("/*")) {
    return TextFormat::kDot;
  }
  if (HasArrow(second) && first.find_first_of("\"[") == first.npos) {
    return TextFormat::kIbdmTopology;
  }
  return TextFormat::kIbnetdiscover;
}

absl::StatusOr<Topology> ParseIbnetdiscover(std::string_view text,
                                            std::string_view file,
                                            Progress progress) {
  TopologyParser parser(progress);
  parser.Parse(std::string(text), file);
  return parser.Finish();
}

}  // namespace ibemu::topology
