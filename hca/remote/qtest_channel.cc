#include "hca/remote/qtest_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace ibemu::hca::remote {
namespace {

constexpr int kPatience = 2000;                  // ms
constexpr size_t kMaxUnsent = size_t{64} << 10;  // bytes: 2000 interrupts
constexpr size_t kLongestLine = 4096;            // bytes; answers have 25

absl::Status Gone() { return absl::UnavailableError("QEMU has gone"); }

bool WouldBlock() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

QtestChannel::QtestChannel(UniqueFd socket) : socket_(std::move(socket)) {}

absl::Status QtestChannel::Write32(uint64_t address, uint32_t value) {
  if (out_.size() > kMaxUnsent) {
    return absl::ResourceExhaustedError("QEMU takes no interrupts any more");
  }
  unanswered_.push_back(false);
  return Send(absl::StrFormat("writel %#x %#x\n", address, value));
}

absl::StatusOr<uint64_t> QtestChannel::Read64(uint64_t address) {
  return Read("readq", address);
}

absl::StatusOr<uint32_t> QtestChannel::Read32(uint64_t address) {
  IBEMU_ASSIGN_OR_RETURN(const uint64_t value, Read("readl", address));
  return static_cast<uint32_t>(value);
}

absl::Status QtestChannel::OnReadable() {
  IBEMU_RETURN_IF_ERROR(Flush());
  while (true) {
    IBEMU_ASSIGN_OR_RETURN(const bool received, Receive());
    if (!received) return absl::OkStatus();
  }
}

absl::StatusOr<uint64_t> QtestChannel::Read(const char* command,
                                            uint64_t address) {
  answer_.clear();
  unanswered_.push_back(true);
  IBEMU_RETURN_IF_ERROR(Send(absl::StrFormat("%s %#x\n", command, address)));
  while (answer_.empty()) {
    pollfd ready = {socket_.get(), POLLIN, 0};
    if (!out_.empty()) ready.events |= POLLOUT;
    const int count = poll(&ready, 1, kPatience);
    if (count == 0) {
      unanswered_.assign(unanswered_.size(),
                         false);  // the answer may still come
      return absl::DeadlineExceededError("QEMU does not answer qtest");
    }
    IBEMU_RETURN_IF_ERROR(OnReadable());
  }
  uint64_t value = 0;
  if (!absl::SimpleHexAtoi(answer_, &value)) {
    return absl::InvalidArgumentError(
        absl::StrCat("qtest: \"", answer_, "\" is no value"));
  }
  return value;
}

absl::Status QtestChannel::Send(const std::string& line) {
  out_ += line;
  return Flush();
}

absl::Status QtestChannel::Flush() {
  while (!out_.empty()) {
    const ssize_t size = send(socket_.get(), out_.data(), out_.size(),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && WouldBlock()) return absl::OkStatus();
    if (size < 0) return Gone();
    out_.erase(0, static_cast<size_t>(size));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> QtestChannel::Receive() {
  std::array<char, 4096> buffer;
  const ssize_t size =
      recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && WouldBlock()) return false;
  if (size <= 0) return Gone();
  in_.append(buffer.data(), static_cast<size_t>(size));
  size_t start = 0;
  for (size_t end = 0; (end = in_.find('\n', start)) != std::string::npos;
       start = end + 1) {
    IBEMU_RETURN_IF_ERROR(OnLine(in_.substr(start, end - start)));
  }
  in_.erase(0, start);
  if (in_.size() > kLongestLine) {
    return absl::InvalidArgumentError("qtest: a line has no end");
  }
  return true;
}

absl::Status QtestChannel::OnLine(const std::string& line) {
  absl::string_view rest = line;
  if (!absl::ConsumePrefix(&rest, "OK") || unanswered_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("qtest: QEMU says \"", line.substr(0, 80), "\""));
  }
  const bool wanted = unanswered_.front();
  unanswered_.pop_front();
  if (wanted) answer_ = rest.empty() ? "?" : std::string(rest.substr(1));
  return absl::OkStatus();
}

}  // namespace ibemu::hca::remote
