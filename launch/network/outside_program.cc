#include "launch/network/outside_program.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/absl_text.h"

namespace ibemu::launch {
namespace {

constexpr std::string_view kPasta = "pasta";

// slirp4netns answers at a fixed place of its network; of pasta's it is what
// OutsideCommand() asks for, the one that podman takes.
constexpr std::array kPrograms = {
    OutsideProgram{kPasta, "passt", "169.254.1.1", false},
    OutsideProgram{"slirp4netns", "slirp4netns", "10.0.2.3", true},
};

std::vector<std::string> WordsOf(absl::string_view line) {
  return absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
}

bool IsDefaultOfIpv4(const std::vector<std::string>& words) {
  // Iface Destination Gateway Flags RefCnt Use Metric Mask ...
  return words.size() > 7 && words[1] == "00000000" && words[7] == "00000000";
}

// Each namespace has one of "lo", which refuses.
bool IsDefaultOfIpv6(const std::vector<std::string>& words) {
  return words.size() > 9 && words[0] == std::string(32, '0') &&
         words[1] == "00" && words.back() != "lo";
}

}  // namespace

std::span<const OutsideProgram> OutsidePrograms() { return kPrograms; }

const OutsideProgram* FindOutsideProgram(std::string_view name) {
  const auto* const found =
      std::ranges::find(kPrograms, name, &OutsideProgram::name);
  return found == kPrograms.end() ? nullptr : found;
}

bool IsInstalled(const OutsideProgram& program, std::string_view path) {
  const std::vector<std::string> directories =
      absl::StrSplit(Absl(path), ':', absl::SkipEmpty());
  return std::ranges::any_of(directories, [&](const std::string& directory) {
    const std::string file = absl::StrCat(directory, "/", Absl(program.name));
    return access(file.c_str(), X_OK) == 0;
  });
}

std::vector<std::string> OutsideCommand(const OutsideProgram& program,
                                        pid_t process) {
  std::vector<std::string> command = {std::string(program.name)};
  const std::string joined = absl::StrCat(process);
  if (program.name != kPasta) {
    command.insert(command.end(),
                   {"--configure", "--mtu=65520", joined, "tap0"});
    return command;
  }
  command.insert(command.end(),
                 {"--config-net", "--foreground", "--quiet", "--ns-ifname",
                  "tap0", "--dns-forward", std::string(program.name_server)});
  // Ports of the run are those of its host, not of the machine: two hosts may
  // have the same.
  for (const char* ports : {"-t", "-u", "-T", "-U"}) {
    command.insert(command.end(), {ports, "none"});
  }
  command.push_back(joined);
  return command;
}

std::string WithNameServer(std::string_view resolver,
                           std::string_view name_server) {
  std::string text;
  for (const absl::string_view line :
       absl::StrSplit(Absl(resolver), '\n', absl::SkipEmpty())) {
    const std::vector<std::string> words = WordsOf(line);
    if (words.empty() || words.front() == "nameserver") continue;
    absl::StrAppend(&text, line, "\n");
  }
  absl::StrAppend(&text, "nameserver ", Absl(name_server), "\n");
  return text;
}

bool HasDefaultRoute(std::string_view ipv4, std::string_view ipv6) {
  const auto has = [](std::string_view text, auto is_default) {
    const std::vector<std::string> lines = absl::StrSplit(Absl(text), '\n');
    return std::ranges::any_of(lines, [&](const std::string& line) {
      return is_default(WordsOf(line));
    });
  };
  return has(ipv4, IsDefaultOfIpv4) || has(ipv6, IsDefaultOfIpv6);
}

}  // namespace ibemu::launch
