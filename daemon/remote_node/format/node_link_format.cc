#include "daemon/remote_node/format/node_link_format.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_format.h"
#include "fabric/packet/packet_bytes.h"

namespace ibemu::daemon {
namespace {

// The `follows` bytes after the table at the start of `payload`, which has no
// others.
template <class T>
absl::StatusOr<std::span<const std::byte>> After(
    std::span<const std::byte> payload, size_t follows, const char* name) {
  if (payload.size() != wire::kBytes<T> + follows) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s has %d bytes, not %d", name,
                        wire::kBytes<T> + follows, payload.size()));
  }
  return payload.subspan(wire::kBytes<T>);
}

}  // namespace

std::vector<std::byte> EncodePacket(const fabric::Packet& packet) {
  return fabric::UncheckedBytesOf(packet);
}

void AppendHeader(NodeLinkMessage type, int port, size_t length,
                  std::vector<std::byte>& bytes) {
  wire::Append(NodeLinkHeader{.length = static_cast<uint32_t>(length),
                              .type = type,
                              .port = static_cast<uint8_t>(port)},
               bytes);
}

void AppendMessage(NodeLinkMessage type, int port,
                   std::span<const std::byte> payload,
                   std::vector<std::byte>& bytes) {
  AppendHeader(type, port, payload.size(), bytes);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
}

std::vector<std::byte> EncodeRequest(const mad::Arrival& arrival) {
  NodeLinkRequest request{.qp = static_cast<uint8_t>(arrival.qp),
                          .sl = arrival.sl,
                          .path_bits = arrival.path_bits,
                          .has_grh = arrival.grh.has_value(),
                          .slid = arrival.slid,
                          .pkey_index = arrival.pkey_index,
                          .source_qpn = arrival.source_qpn};
  if (arrival.grh) {
    request.sgid = arrival.grh->gid;
    request.flow_label = arrival.grh->flow_label;
    request.gid_index = arrival.grh->gid_index;
    request.hop_limit = arrival.grh->hop_limit;
    request.traffic_class = arrival.grh->traffic_class;
  }
  std::vector<std::byte> bytes;
  wire::Append(request, bytes);
  bytes.insert(bytes.end(), arrival.mad.begin(), arrival.mad.end());
  return bytes;
}

absl::StatusOr<mad::Arrival> DecodeRequest(std::span<const std::byte> payload) {
  mad::Arrival arrival;
  const auto mad =
      After<NodeLinkRequest>(payload, arrival.mad.size(), "a request");
  if (!mad.ok()) return mad.status();
  const auto request = wire::Decode<NodeLinkRequest>(payload);
  if (request.qp > 1) {
    return absl::InvalidArgumentError(
        absl::StrFormat("queue pair %d has no agents", request.qp));
  }
  arrival.qp = request.qp;
  arrival.slid = request.slid;
  arrival.sl = request.sl;
  arrival.path_bits = request.path_bits;
  arrival.pkey_index = request.pkey_index;
  arrival.source_qpn = request.source_qpn;
  if (request.has_grh) {
    arrival.grh = mad::GlobalRoute{.gid = request.sgid,
                                   .flow_label = request.flow_label,
                                   .gid_index = request.gid_index,
                                   .hop_limit = request.hop_limit,
                                   .traffic_class = request.traffic_class};
  }
  std::copy(mad->begin(), mad->end(), arrival.mad.begin());
  return arrival;
}

std::vector<std::byte> EncodeReply(mad::LocalVerdict verdict,
                                   const mad::MadBytes& mad) {
  std::vector<std::byte> bytes;
  wire::Append(NodeLinkReply{.verdict = verdict}, bytes);
  bytes.insert(bytes.end(), mad.begin(), mad.end());
  return bytes;
}

absl::StatusOr<mad::LocalVerdict> DecodeReply(
    std::span<const std::byte> payload, mad::MadBytes& mad) {
  const auto answer = After<NodeLinkReply>(payload, mad.size(), "a reply");
  if (!answer.ok()) return answer.status();
  const mad::LocalVerdict verdict =
      wire::Decode<NodeLinkReply>(payload).verdict;
  if (verdict > mad::LocalVerdict::kUnhandled) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d is no verdict", static_cast<int>(verdict)));
  }
  std::copy(answer->begin(), answer->end(), mad.begin());
  return verdict;
}

std::vector<std::byte> EncodeState(const NodeLinkPortState& state) {
  std::vector<std::byte> bytes;
  wire::Append(
      NodeLinkState{.info = state.info,
                    .node_guid = state.node_guid,
                    .gids = static_cast<uint16_t>(state.gids.size()),
                    .p_keys = static_cast<uint16_t>(state.p_keys.size()),
                    .ports = static_cast<uint8_t>(state.ports),
                    .takes_bad_keys = state.takes_bad_keys},
      bytes);
  for (const wire::Gid& gid : state.gids) wire::Append(gid, bytes);
  for (const uint16_t p_key : state.p_keys) {
    bytes.push_back(static_cast<std::byte>(p_key >> 8));
    bytes.push_back(static_cast<std::byte>(p_key));
  }
  return bytes;
}

absl::StatusOr<NodeLinkPortState> DecodeState(
    std::span<const std::byte> payload) {
  if (payload.size() < wire::kBytes<NodeLinkState>) {
    return absl::InvalidArgumentError("a port's state is too short");
  }
  const auto header = wire::Decode<NodeLinkState>(payload);
  const size_t tables =
      header.gids * wire::kBytes<wire::Gid> + header.p_keys * size_t{2};
  const auto after = After<NodeLinkState>(payload, tables, "a port's state");
  if (!after.ok()) return after.status();
  std::span<const std::byte> left = *after;
  NodeLinkPortState state{.info = header.info,
                          .node_guid = header.node_guid,
                          .ports = header.ports,
                          .takes_bad_keys = header.takes_bad_keys};
  for (int i = 0; i < header.gids; ++i) {
    state.gids.push_back(wire::Decode<wire::Gid>(left));
    left = left.subspan(wire::kBytes<wire::Gid>);
  }
  for (; !left.empty(); left = left.subspan(2)) {
    state.p_keys.push_back(
        static_cast<uint16_t>(std::to_integer<unsigned>(left[0]) << 8 |
                              std::to_integer<unsigned>(left[1])));
  }
  return state;
}

std::vector<std::byte> EncodeLease(const NodeLinkLease& lease,
                                   std::string_view address) {
  std::vector<std::byte> bytes;
  wire::Append(lease, bytes);
  std::ranges::transform(address, std::back_inserter(bytes),
                         [](char letter) { return std::byte(letter); });
  return bytes;
}

absl::StatusOr<NodeLinkLease> DecodeLease(std::span<const std::byte> payload,
                                          std::string& address) {
  if (payload.size() < wire::kBytes<NodeLinkLease> ||
      payload.size() >
          wire::kBytes<NodeLinkLease> + NodeLinkLease::kLongestAddress) {
    return absl::InvalidArgumentError(
        absl::StrFormat("no lease has %d bytes", payload.size()));
  }
  address.clear();
  std::ranges::transform(
      payload.subspan(wire::kBytes<NodeLinkLease>), std::back_inserter(address),
      [](std::byte letter) { return static_cast<char>(letter); });
  return wire::Decode<NodeLinkLease>(payload);
}

std::vector<std::byte> EncodeNumber(uint32_t number) {
  std::vector<std::byte> bytes;
  wire::Append(NodeLinkNumber{.number = number}, bytes);
  return bytes;
}

absl::StatusOr<uint32_t> DecodeNumber(std::span<const std::byte> payload) {
  const auto after = After<NodeLinkNumber>(payload, 0, "a number");
  if (!after.ok()) return after.status();
  return wire::Decode<NodeLinkNumber>(payload).number;
}

absl::StatusOr<NodeLinkLeaseUsage> DecodeLeaseUsage(
    std::span<const std::byte> payload) {
  const auto after =
      After<NodeLinkLeaseUsage>(payload, 0, "the usage of a lease");
  if (!after.ok()) return after.status();
  return wire::Decode<NodeLinkLeaseUsage>(payload);
}

std::vector<std::byte> EncodeEcho(uint64_t number) {
  std::vector<std::byte> bytes;
  wire::Append(NodeLinkEcho{.number = number}, bytes);
  return bytes;
}

absl::StatusOr<uint64_t> DecodeEcho(std::span<const std::byte> payload) {
  const auto after = After<NodeLinkEcho>(payload, 0, "an echo");
  if (!after.ok()) return after.status();
  return wire::Decode<NodeLinkEcho>(payload).number;
}

std::vector<std::byte> EncodeBadKey(const mad::BadKey& bad) {
  std::vector<std::byte> bytes;
  wire::Append(
      NodeLinkBadKey{
          .packets = bad.packets, .trap = bad.trap, .details = bad.details},
      bytes);
  return bytes;
}

absl::StatusOr<mad::BadKey> DecodeBadKey(std::span<const std::byte> payload) {
  const auto after = After<NodeLinkBadKey>(payload, 0, "a bad key");
  if (!after.ok()) return after.status();
  const auto told = wire::Decode<NodeLinkBadKey>(payload);
  if (told.trap != mad::TrapNumber::kBadPKey &&
      told.trap != mad::TrapNumber::kBadQKey) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "trap %d is not about a P_Key or Q_Key", static_cast<int>(told.trap)));
  }
  if (told.packets == 0) {
    return absl::InvalidArgumentError("no packet has a bad key");
  }
  return mad::BadKey{
      .trap = told.trap, .details = told.details, .packets = told.packets};
}

}  // namespace ibemu::daemon
