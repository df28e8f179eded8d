#include "cuse/client/pinned_pages.h"

#include <linux/capability.h>
#include <sys/resource.h>

#include <charconv>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "cuse/client/process_life.h"

namespace ibemu::cuse {
namespace {

constexpr uint64_t kPinnedPage = 4096;
constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// Returns the text after `name` and blanks in a file of /proc/PID.
std::string Line(pid_t process, const char* file, std::string_view name) {
  std::ifstream lines(absl::StrCat("/proc/", process, "/", file));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    const size_t value = line.find_first_not_of(" \t", name.size());
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

// Returns 0 if there is no number.
uint64_t Number(const std::string& text, int base) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

class CountedPin final : public verbs::Memory::Pin {
 public:
  CountedPin(std::shared_ptr<PinnedPages::Account> account, uint64_t pages)
      : account_(std::move(account)), pages_(pages) {
    account_->pages += pages_;
  }
  ~CountedPin() override { account_->pages -= pages_; }
  CountedPin(const CountedPin&) = delete;
  CountedPin& operator=(const CountedPin&) = delete;

 private:
  const std::shared_ptr<PinnedPages::Account> account_;
  const uint64_t pages_;
};

}  // namespace

LockLimit LockLimitOf(pid_t process) {
  const std::string bytes = Line(process, "limits", "Max locked memory");
  const uint64_t capabilities = Number(Line(process, "status", "CapEff:"), 16);
  return {
      .bytes = bytes.starts_with("unlimited") ? kUnlimited : Number(bytes, 10),
      .exempt = (capabilities >> CAP_IPC_LOCK & 1) != 0};
}

std::shared_ptr<PinnedPages> PinnedPages::OfThisMachine() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return std::make_shared<PinnedPages>(
      limit.rlim_cur == RLIM_INFINITY ? kUnlimited : limit.rlim_cur);
}

std::shared_ptr<PinnedPages::Account> PinnedPages::AccountOf(
    pid_t id, std::shared_ptr<UniqueFd> process) {
  absl::erase_if(accounts_,
                 [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Account>& known = accounts_[id];
  std::shared_ptr<Account> account = known.lock();
  if (account == nullptr || !IsAlive(*account->process)) {
    account = std::make_shared<Account>(Account{std::move(process)});
    known = account;
  }
  return account;
}

absl::StatusOr<std::unique_ptr<verbs::Memory::Pin>> PinnedPages::Charge(
    std::shared_ptr<Account> account, const LockLimit& limit, uint64_t start,
    uint64_t length) const {
  const uint64_t first = start / kPinnedPage;
  const uint64_t pages = (start + length - 1) / kPinnedPage - first + 1;
  if (!limit.exempt && limit.bytes < usual_) {
    if (limit.bytes == 0) {
      return absl::PermissionDeniedError("it may lock no memory");
    }
    const uint64_t most = limit.bytes / kPinnedPage;
    if (account->pages > most || pages > most - account->pages) {
      return absl::ResourceExhaustedError("beyond RLIMIT_MEMLOCK");
    }
  }
  return std::make_unique<CountedPin>(std::move(account), pages);
}

}  // namespace ibemu::cuse
