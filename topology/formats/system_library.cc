#include "topology/formats/system_library.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "topology/formats/ibnl_parser.h"
#include "topology/formats/text/lines.h"
#include "topology/read_file.h"

namespace ibemu::topology {
namespace {

constexpr int kMaxBoardDepth = 8;        // boards on boards
constexpr size_t kMaxChips = 4096;       // of one system; also of boards
constexpr uintmax_t kMaxFile = 1 << 22;  // bytes

// Systems of one chip, with their names, type, ports and device.
struct SmallSystem {
  const char *names, *type;
  int ports;
  const char* device;
};
constexpr SmallSystem kSmallSystems[] = {
    {"Cougar,MT23108,MTPB23108", "CA", 2, "MT23108"},
    {"Lion,MT25208,MTLP25208", "CA", 2, "MT25208"},
    {"LionMini,MHEA28-XT,MT25218", "CA", 2, "MT25218"},
    {"Cheetah,MHGS18-XT,MT25204", "CA", 1, "MT25204"},
    {"Eagle,MT25408,MHEH28,MHGH28", "CA", 2, "MT25408"},
    {"MTS400", "SW", 4, "MT43132"},
    {"Buffalo,MTS800", "SW", 8, "MT43132"},
    {"Reindeer,MTS2400,MTS2400-24", "SW", 24, "MT47396"},
    {"IS4,F464M", "SW", 36, "MT48436"},
    {"MTS3600,Shark", "SW", 36, "MT48436"},
};

std::string TextOf(const SmallSystem& system) {
  std::string text =
      absl::StrFormat("TOPSYSTEM %s\nNODE %s %d %s U1\n", system.names,
                      system.type, system.ports, system.device);
  for (int port = 1; port <= system.ports; ++port) {
    absl::StrAppendFormat(&text, "%d -> P%d\n", port, port);
  }
  return text;
}

// A builder of systems from the boards of one file.
class Expander {
 public:
  explicit Expander(const SystemFile& file) : file_(file) {}

  absl::StatusOr<ExpandedSystem> Expand(const Modifiers& modifiers) {
    for (const auto& [board, variant] : modifiers) unused_.insert(board);
    Panel panel;
    IBEMU_RETURN_IF_ERROR(
        AddBoard(file_.boards[file_.top], modifiers, "", 0, panel));
    if (!unused_.empty()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s has no board \"%s\"", file_.top_names.front(), *unused_.begin()));
    }
    system_.panel = std::move(panel);
    return std::move(system_);
  }

 private:
  using ChipPort = ExpandedSystem::ChipPort;
  using Panel = std::map<std::string, ChipPort, std::less<>>;
  using ChipEnd = std::pair<size_t, int>;

  absl::Status AddBoard(const IbnlBoard& board, const Modifiers& modifiers,
                        const std::string& path, int depth, Panel& panel) {
    if (depth > kMaxBoardDepth) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: boards are on boards deeper than %d", file_.name,
                          kMaxBoardDepth));
    }
    if (++boards_ > kMaxChips) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: a system has at most %d boards", file_.name, kMaxChips));
    }
    std::map<std::string, Panel, std::less<>> parts;
    for (const IbnlPart& part : board.parts) {
      IBEMU_RETURN_IF_ERROR(
          AddPart(part, modifiers, path, depth, parts[part.name]));
    }
    for (const IbnlPart& part : board.parts) {
      for (const IbnlConnection& connection : part.connections) {
        AddConnection(parts, parts[part.name], connection, panel);
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddPart(const IbnlPart& part, const Modifiers& modifiers,
                       const std::string& path, int depth, Panel& panel) {
    const std::string name = absl::StrCat(path, part.name);
    if (part.is_chip) return AddChip(part, name, panel);

    std::string kind = part.kind;
    if (const auto variant = modifiers.find(name); variant != modifiers.end()) {
      unused_.erase(name);
      if (variant->second == "R") return absl::OkStatus();
      absl::StrAppend(&kind, ":", variant->second);
    }
    const auto board = file_.board_names.find(kind);
    if (board == file_.board_names.end()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s defines no SYSTEM \"%s\", of which \"%s\" is one",
                          file_.name, kind, name));
    }
    Modifiers all = modifiers;
    for (const auto& [inner, variant] : part.modifiers) {
      all.try_emplace(absl::StrCat(name, "/", inner), variant);
    }
    return AddBoard(file_.boards[board->second], all, absl::StrCat(name, "/"),
                    depth + 1, panel);
  }

  absl::Status AddChip(const IbnlPart& part, const std::string& name,
                       Panel& panel) {
    if (system_.chips.size() >= kMaxChips) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: a system has at most %d chips", file_.name, kMaxChips));
    }
    for (int port = 1; port <= part.port_count; ++port) {
      panel[absl::StrCat(port)] = {system_.chips.size(), port, {}};
    }
    system_.chips.push_back({name, part.type, part.port_count, part.kind});
    return absl::OkStatus();
  }

  // Adds a connection, unless it ends at a board that does not exist or has no
  // such port.  This also leaves out the unused variants of a front panel.
  void AddConnection(const std::map<std::string, Panel, std::less<>>& parts,
                     const Panel& own, const IbnlConnection& connection,
                     Panel& panel) {
    const auto from = own.find(connection.port);
    if (from == own.end()) return;
    ChipPort a = from->second;
    a.rate = a.rate.Within(connection.rate);
    if (connection.part.empty()) {
      panel.try_emplace(connection.part_port, a);
      return;
    }
    const auto part = parts.find(connection.part);
    if (part == parts.end()) return;
    const auto to = part->second.find(connection.part_port);
    if (to == part->second.end()) return;
    const ChipPort& b = to->second;
    // Most connections are described from both ends.
    ChipEnd low(a.chip, a.port);
    ChipEnd high(b.chip, b.port);
    if (high < low) std::swap(low, high);
    if (connections_.insert({low, high}).second) {
      system_.connections.push_back({a, b, connection.rate});
    }
  }

  const SystemFile& file_;
  ExpandedSystem system_;
  size_t boards_ = 0;
  std::set<std::pair<ChipEnd, ChipEnd>> connections_;
  std::set<std::string, std::less<>> unused_;
};

}  // namespace

SystemLibrary::SystemLibrary() = default;
SystemLibrary::~SystemLibrary() = default;
SystemLibrary::SystemLibrary(SystemLibrary&&) noexcept = default;

void SystemLibrary::AddText(std::string_view text, std::string_view file) {
  auto parsed = std::make_shared<SystemFile>(ParseIbnl(text, file));
  for (const std::string& name : parsed->top_names) {
    files_.try_emplace(name, parsed);
  }
}

void SystemLibrary::AddDirectories(
    const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator it(directory, error), end;
         !error && it != end; it.increment(error)) {
      std::error_code unknown;
      if (it->path().extension() == ".ibnl" && it->is_regular_file(unknown) &&
          it->file_size(unknown) <= kMaxFile) {
        names.push_back(it->path().string());
      }
    }
    std::ranges::sort(names);
    for (const std::string& name : names) {
      const absl::StatusOr<std::string> text = ReadFile(name);
      if (text.ok()) AddText(*text, name);
    }
  }
}

void SystemLibrary::AddSmallSystems() {
  for (const SmallSystem& system : kSmallSystems) {
    AddText(TextOf(system), "ibemu's own systems");
  }
}

absl::StatusOr<ExpandedSystem> SystemLibrary::Expand(
    std::string_view type, const Modifiers& modifiers) {
  const auto found = files_.find(type);
  if (found == files_.end()) {
    DidYouMean names(type);
    for (const auto& [name, file] : files_) names.Offer(name);
    return absl::NotFoundError(absl::StrFormat(
        "no system is named \"%s\": an .ibnl file beside this one, in "
        "IBDM_IBNL_PATH or of ibutils defines it%s",
        type, names.Question()));
  }
  IBEMU_RETURN_IF_ERROR(found->second->status);
  return Expander(*found->second).Expand(modifiers);
}

bool SystemLibrary::AreSame(std::string_view a, std::string_view b) const {
  if (a == b) return true;
  const auto first = files_.find(a);
  const auto second = files_.find(b);
  return first != files_.end() && second != files_.end() &&
         first->second == second->second;
}

std::vector<std::string> SystemDirectories(const std::string& directory) {
  std::vector<std::string> all = {directory.empty() ? "." : directory};
  if (const char* path = std::getenv("IBDM_IBNL_PATH")) {
    for (const std::string_view part : SplitWords(path, ":,")) {
      all.emplace_back(part);
    }
  }
  // /usr/lib/x86_64-linux-gnu/ibdm1.5.7/ibnl in Debian.
  std::vector<std::string> installed;
  for (const char* top : {"/usr/lib", "/usr/local/lib"}) {
    std::error_code error;
    for (std::filesystem::directory_iterator it(top, error), end;
         !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      if (name.starts_with("ibdm")) installed.push_back(it->path() / "ibnl");
      if (name.find("-linux-gnu") == name.npos) continue;
      std::error_code inner;
      for (std::filesystem::directory_iterator sub(it->path(), inner);
           !inner && sub != end; sub.increment(inner)) {
        if (sub->path().filename().string().starts_with("ibdm")) {
          installed.push_back(sub->path() / "ibnl");
        }
      }
    }
  }
  std::ranges::sort(installed);
  all.insert(all.end(), installed.begin(), installed.end());
  return all;
}

}  // namespace ibemu::topology
