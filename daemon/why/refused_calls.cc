#include "daemon/why/refused_calls.h"

#include <string.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "cuse/errno.h"
#include "daemon/words/queue_pair_text.h"
#include "verbs/uverbs/command_names.h"

namespace ibemu::daemon {
namespace {

std::string WhyRefused(uint32_t command, const absl::Status& status) {
  const std::string_view name = verbs::NameOfCommand(command);
  return absl::StrCat(
      name.empty() ? absl::StrCat("command ", command) : std::string(name),
      " was refused with ",
      strerrorname_np(static_cast<int>(cuse::VerbsErrno(status))), ": ",
      status.message());
}

}  // namespace

RefusedCalls::RefusedCalls(Timers& timers, cuse::UverbsFiles& files)
    : timers_(timers) {
  files.SetRefusalListener(
      [this](const cuse::UverbsFile& file, uint32_t command,
             const absl::Status& status) { OnRefusal(file, command, status); });
}

const std::deque<RefusedCalls::Call>& RefusedCalls::Of(
    wire::Guid node_guid) const {
  static const std::deque<Call> none;
  const auto found = calls_.find(node_guid);
  return found == calls_.end() ? none : found->second;
}

std::string RefusedCalls::Sentence(std::string_view node, const Call& call) {
  const auto process = ProcessNumber(call.process);
  return absl::StrCat(Absl(node),
                      process ? absl::StrCat(" process ", *process) : "", ": ",
                      call.why);
}

void RefusedCalls::OnRefusal(const cuse::UverbsFile& file, uint32_t command,
                             const absl::Status& status) {
  const uint64_t process = file.context().process();
  const absl::Time now = timers_.Now();
  std::string why = WhyRefused(command, status);
  std::deque<Call>& calls = calls_[file.host().device().node_guid()];
  const auto same = std::ranges::find_if(calls, [&](const Call& call) {
    return call.process == process && call.why == why;
  });
  Call call{.process = process, .why = std::move(why), .first = now};
  const bool is_new = same == calls.end();
  if (!is_new) {
    call = std::move(*same);
    ++call.count;
    calls.erase(same);
  }
  call.last = now;
  calls.push_back(std::move(call));
  if (calls.size() > kMax) calls.pop_front();
  if (is_new && listener_ != nullptr) {
    listener_(file.host().device().node_guid(), calls.back());
  }
}

}  // namespace ibemu::daemon
