#include "launch/host_identity.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/absl_text.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "launch/mounts.h"

namespace ibemu::launch {
namespace {

constexpr size_t kLongestName = 63;  // of a label; Linux takes 64

std::optional<std::string> ReadText(const char* path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The names that a hosts file knows.
std::set<std::string> HostNamesIn(std::string_view hosts) {
  std::set<std::string> names;
  for (const absl::string_view line : absl::StrSplit(Absl(hosts), '\n')) {
    const std::vector<std::string> words =
        absl::StrSplit(line.substr(0, line.find('#')), absl::ByAnyChar(" \t"),
                       absl::SkipEmpty());
    if (!words.empty()) names.insert(words.begin() + 1, words.end());
  }
  return names;
}

}  // namespace

std::string HostName(std::string_view description) {
  std::string name;
  for (const char c : description) {
    if (absl::ascii_isspace(static_cast<unsigned char>(c))) {
      if (name.empty()) continue;
      break;
    }
    const bool fits = absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                      c == '.' || c == '-';
    name += fits ? c : '-';
  }
  name.resize(std::min(name.size(), kLongestName));
  // It begins and ends with a letter or a digit.
  const auto alone = [](char c) { return c == '.' || c == '-'; };
  while (!name.empty() && alone(name.back())) name.pop_back();
  name.erase(name.begin(), std::ranges::find_if_not(name, alone));
  return name;
}

std::string BootId(std::string_view machine, std::string_view fabric,
                   std::string_view node) {
  Random random = Random::ForStream(
      0, absl::StrCat(Absl(machine), "\n", Absl(fabric), "\n", Absl(node)));
  const uint64_t high = random.Next();
  const uint64_t low = random.Next();
  // Version 4, variant 1, as the kernel makes them.
  return absl::StrFormat("%08x-%04x-4%03x-%04x-%012x", high >> 32,
                         high >> 16 & 0xffff, high & 0xfff,
                         (low >> 48 & 0x3fff) | 0x8000, low & 0xffffffffffff);
}

std::string AddToHosts(std::string_view hosts, const HostIdentity& host) {
  std::set<std::string> known = HostNamesIn(hosts);
  std::string text(hosts);
  const auto add = [&](const std::string& address, const std::string& name) {
    if (name.empty() || !known.insert(name).second) return;
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    absl::StrAppend(&text, address, "\t", name, "\n");
  };
  add(host.address, host.name);
  for (const HostIdentity::Other& other : host.others) {
    add(other.address, other.name);
  }
  return text;
}

absl::Status BecomeHost(const HostIdentity& host) {
  // The name comes last: whatever fails, it is the machine's.
  const auto fails = [&host](int error) {
    return absl::ErrnoToStatus(
        error, absl::StrCat("taking the host name ", host.name));
  };
  const bool named = !host.name.empty();
  if (named && unshare(CLONE_NEWUTS) != 0) return fails(errno);
  std::optional<std::string> hosts = ReadText(kHosts);
  if (hosts) hosts = AddToHosts(*hosts, host);
  IBEMU_RETURN_IF_ERROR(CarryOut(PlanHost(host.boot_id, hosts)));
  if (named && sethostname(host.name.data(), host.name.size()) != 0) {
    return fails(errno);
  }
  return absl::OkStatus();
}

}  // namespace ibemu::launch
