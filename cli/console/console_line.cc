#include "cli/console/console_line.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"

namespace ibemu::cli {
namespace {

using Place = ConsoleLine::Place;

enum class Ports { kNone, kIfGiven, kNeeded };

struct ConsoleCommand {
  std::string_view name;
  Verb verb;
  Ports ports;
  size_t least_places, most_places;
  size_t least_words, most_words;
  std::string_view usage;
  std::string_view what;
};

constexpr ConsoleCommand kCommands[] = {
    {"Dump", Verb::kDump, Ports::kNone, 0, 1, 0, 0, "Dump [\"NODE\"]",
     "nodes, their ports and forwarding tables"},
    {"Route", Verb::kRoute, Ports::kNone, 0, 0, 2, 2, "Route FROM-LID TO-LID",
     "the way of a packet, by the forwarding tables"},
    {"Link", Verb::kLink, Ports::kNeeded, 2, 2, 0, 0,
     "Link \"NODE\"[PORT] \"PEER\"[PORT]", "plug a cable into two ports"},
    {"ReLink", Verb::kRelink, Ports::kIfGiven, 1, 1, 0, 0,
     "ReLink \"NODE\"[PORT]", "restore a cut link; without PORT all of a node"},
    {"Unlink", Verb::kUnlink, Ports::kIfGiven, 1, 1, 0, 0,
     "Unlink \"NODE\"[PORT]", "cut a link; without PORT all of a node"},
    {"Clear", Verb::kClear, Ports::kIfGiven, 1, 1, 0, 0, "Clear \"NODE\"[PORT]",
     "cut, clear the counters, and end what Error began"},
    {"Guid", Verb::kGuid, Ports::kIfGiven, 1, 1, 1, 1,
     "Guid \"NODE\"[PORT] GUID", "of a port, or of a node"},
    {"Error", Verb::kError, Ports::kIfGiven, 1, 1, 1, 2,
     "Error \"NODE\"[PORT] PERCENT [ATTRIBUTE]",
     "lose what enters a port; SMPs with this attribute alone"},
    {"PerformanceSet", Verb::kPerformanceSet, Ports::kNeeded, 1, 1, 1, 1,
     "PerformanceSet \"NODE\"[PORT] ATTRIBUTE.FIELD=VALUE", "set a counter"},
    {"Baselid", Verb::kBaselid, Ports::kNeeded, 1, 1, 1, 2,
     "Baselid \"NODE\"[PORT] LID [LMC]", "give a port another LID"},
    {"Attached", Verb::kAttached, Ports::kNone, 0, 0, 0, 0, "Attached",
     "who uses the fabric"},
    {"X", Verb::kDisconnect, Ports::kNone, 0, 0, 1, 1, "X CLIENT",
     "not here: end the process"},
    {"Wait", Verb::kWait, Ports::kNone, 0, 0, 1, 1, "Wait SECONDS", ""},
    {"Start", Verb::kStart, Ports::kNone, 0, 0, 0, 0, "Start",
     "nothing: the fabric runs already"},
    {"Verbose", Verb::kVerbose, Ports::kNone, 0, 0, 0, 1, "Verbose [LEVEL]",
     "nothing: see \"ibemu events\""},
    {"Help", Verb::kHelp, Ports::kNone, 0, 0, 0, 0, "Help", "also: ?"},
    {"?", Verb::kHelp, Ports::kNone, 0, 0, 0, 0, "", ""},
    {"Quit", Verb::kQuit, Ports::kNone, 0, 0, 0, 0, "Quit",
     "leave; the fabric goes on"},
};

absl::Status Misused(const ConsoleCommand& command) {
  return absl::InvalidArgumentError(absl::StrFormat("write %s", command.usage));
}

// "[3]" -> 3
std::optional<int> ReadPort(std::string_view text) {
  int port = 0;
  if (text.size() < 3 || text.front() != '[' || text.back() != ']' ||
      !absl::SimpleAtoi(Absl(text.substr(1, text.size() - 2)), &port)) {
    return std::nullopt;
  }
  return port;
}

// Removes "NODE"[PORT] from the front of `text`, which begins with a quote, and
// returns it.  Returns nullopt if the text has another form.
std::optional<Place> TakePlace(std::string_view& text) {
  const size_t end = text.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view name = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  const size_t more = std::min(text.find_first_of(" \t"), text.size());
  std::string_view port = text.substr(0, more);
  text.remove_prefix(more);
  if (port.empty() && name.ends_with(']')) {
    const size_t bracket = name.rfind('[');
    if (bracket == std::string_view::npos) return std::nullopt;
    port = name.substr(bracket);
    name = name.substr(0, bracket);
  }
  Place place{.node = std::string(name), .port = std::nullopt};
  if (port.empty()) return place;
  place.port = ReadPort(port);
  return place.port ? std::optional(place) : std::nullopt;
}

bool Fits(const ConsoleCommand& command, const ConsoleLine& line) {
  const auto count_fits = [](size_t count, size_t least, size_t most) {
    return count >= least && count <= most;
  };
  return count_fits(line.places.size(), command.least_places,
                    command.most_places) &&
         count_fits(line.words.size(), command.least_words,
                    command.most_words) &&
         std::all_of(line.places.begin(), line.places.end(),
                     [&](const Place& place) {
                       return command.ports == Ports::kIfGiven ||
                              place.port.has_value() ==
                                  (command.ports == Ports::kNeeded);
                     });
}

absl::StatusOr<const ConsoleCommand*> FindCommand(std::string_view name) {
  DidYouMean guess(name);
  for (const ConsoleCommand& command : kCommands) {
    if (absl::EqualsIgnoreCase(Absl(name), Absl(command.name))) return &command;
    guess.Offer(command.name);
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "command '%s' unknown - skipped%s", name, guess.Question()));
}

}  // namespace

absl::StatusOr<ConsoleLine> ParseConsoleLine(std::string_view text) {
  const auto trimmed = [](std::string_view part) {
    const auto stripped = absl::StripAsciiWhitespace(Absl(part));
    return std::string_view(stripped.data(), stripped.size());
  };
  text = trimmed(text);
  ConsoleLine line;
  if (text.empty() || text.front() == '#') return line;
  if (text.front() == '!') {
    line.verb = Verb::kFile;
    line.words.emplace_back(trimmed(text.substr(1)));
    if (line.words[0].empty()) {
      return absl::InvalidArgumentError("write !FILE");
    }
    return line;
  }
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  IBEMU_ASSIGN_OR_RETURN(const ConsoleCommand* const command,
                         FindCommand(text.substr(0, end)));
  line.verb = command->verb;
  for (text = trimmed(text.substr(end)); text.starts_with('"');
       text = trimmed(text)) {
    std::optional<Place> place = TakePlace(text);
    if (!place) return Misused(*command);
    line.places.push_back(*std::move(place));
  }
  line.words =
      absl::StrSplit(Absl(text), absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (!Fits(*command, line)) return Misused(*command);
  return line;
}

std::string ConsoleHelp() {
  constexpr int kWidth = 52;
  std::string help;
  for (const ConsoleCommand& command : kCommands) {
    if (command.usage.empty()) continue;
    std::string row =
        absl::StrFormat("  %-*s %s", kWidth, command.usage, command.what);
    absl::StripTrailingAsciiWhitespace(&row);
    absl::StrAppend(&help, row, "\n");
  }
  return absl::StrCat(help,
                      "  !FILE                                                "
                      "carry out the commands in a file\n"
                      "  # ...                                                "
                      "a comment\n");
}

}  // namespace ibemu::cli
