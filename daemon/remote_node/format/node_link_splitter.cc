#include "daemon/remote_node/format/node_link_splitter.h"

#include "absl/strings/str_format.h"
#include "wire/layout.h"

namespace ibemu::daemon {

void NodeLinkSplitter::Add(std::span<const std::byte> bytes) {
  bytes_.erase(bytes_.begin(),
               bytes_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

absl::StatusOr<bool> NodeLinkSplitter::Next(Message& message) {
  const auto left = std::span<const std::byte>(bytes_).subspan(taken_);
  if (left.size() < wire::kBytes<NodeLinkHeader>) return false;
  const auto header = wire::Decode<NodeLinkHeader>(left);
  if (header.length > longest_) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a message of %d bytes: the longest has %d", header.length, longest_));
  }
  const size_t whole = wire::kBytes<NodeLinkHeader> + header.length;
  if (left.size() < whole) return false;
  const auto payload =
      left.subspan(wire::kBytes<NodeLinkHeader>, header.length);
  message = {.type = header.type,
             .port = header.port,
             .payload = {payload.begin(), payload.end()}};
  taken_ += whole;
  return true;
}

}  // namespace ibemu::daemon
