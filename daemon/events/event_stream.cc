#include "daemon/events/event_stream.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace ibemu::daemon {

EventStream::EventStream(Loop& loop, EventLog& events, UniqueFd socket,
                         std::vector<std::string> kinds)
    : events_(events),
      stream_(loop, std::move(socket)),
      kinds_(std::move(kinds)) {}

EventStream::~EventStream() { StopListening(); }

absl::Status EventStream::Start() {
  IBEMU_RETURN_IF_ERROR(
      stream_.Start([this] { Finish(); }, [this] { StopListening(); }));
  events_.Add(*this);
  listening_ = true;
  return absl::OkStatus();
}

bool EventStream::Wants(std::string_view kind) const {
  return kinds_.empty() || std::ranges::find(kinds_, kind) != kinds_.end();
}

void EventStream::OnEvent(std::string_view kind, std::string_view line) {
  if (!Wants(kind)) return;
  if (stream_.full()) {
    ++lost_;
    return;
  }
  TellLost();
  Append(line);
  stream_.SendSoon();
}

void EventStream::Append(std::string_view line) {
  const auto bytes = std::as_bytes(std::span(line));
  std::vector<std::byte>& buffer = stream_.buffer();
  buffer.insert(buffer.end(), bytes.begin(), bytes.end());
  buffer.push_back(std::byte{'\n'});
}

void EventStream::TellLost() {
  if (lost_ == 0) return;
  Append(absl::StrFormat(R"({"event":"lost","events":%d})", lost_));
  lost_ = 0;
}

void EventStream::Finish() {
  StopListening();
  TellLost();
  stream_.Finish();
}

void EventStream::StopListening() {
  if (std::exchange(listening_, false)) events_.Remove(*this);
}

}  // namespace ibemu::daemon
