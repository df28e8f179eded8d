// The messages of a node link, the stream socket between a node and its adapter
// in another process.
#ifndef IBEMU_DAEMON_REMOTE_NODE_FORMAT_NODE_LINK_FORMAT_H_
#define IBEMU_DAEMON_REMOTE_NODE_FORMAT_NODE_LINK_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/secret.h"
#include "fabric/packet/packet.h"
#include "mad/address.h"
#include "mad/port.h"
#include "mad/wire/port_info.h"
#include "wire/layout.h"

namespace ibemu::daemon {

// Whoever changes a message raises peers::kNodeLinkVersions.
enum class NodeLinkMessage : uint8_t {
  kPacket = 1,   // both ways: LRH to ICRC
  kState = 2,    // to the adapter: NodeLinkState and the tables, at first and
                 // then whenever something changed
  kRequest = 3,  // to the node's agents: NodeLinkRequest, a MAD
  kReply = 4,    // their answer: NodeLinkReply, a MAD
  kIsSm = 5,     // to the node: one byte, 0 or 1
  kEnable = 6,   // to the node: one byte, 0 or 1
  kDescription = 7,  // to the node: its NodeDescription, at most 64 bytes
  kReregister = 8,   // to the adapter: its programs are to register again
  // Leases, by which packets go from adapter to adapter (lease_table.h).
  kLease = 9,        // to either adapter: NodeLinkLease, an address
  kLeaseReady = 10,  // to the node, from who receives: NodeLinkNumber
  kLeaseUsed = 11,  // to the node, from who sends, after its last packet by the
                    // node; then to who receives: NodeLinkNumber
  kLeaseUsage = 12,  // to the node, from who sends: NodeLinkLeaseUsage
  kLeaseEnded = 13,  // both ways: NodeLinkNumber
  kTrain = 14,       // where kPacket may be, and several: PacketTrain
  kEcho = 15,        // to the adapter, and at once back as it is: NodeLinkEcho
  kPacketsMoved = 16,  // both ways, a number: what follows of packets goes by a
                       // connection of their own (packet_connection.h)
  kBadKey = 17,        // to the node's agents, if they take it: NodeLinkBadKey
};

// Before each message.
struct NodeLinkHeader {
  static constexpr int kBits = 64;
  // Longer than a packet of the largest MTU, and than all tables.
  static constexpr size_t kLongest = 8192;

  uint32_t length = 0;  // bytes that follow this header
  NodeLinkMessage type{};
  uint8_t port = 0;  // 1 ...

  static constexpr auto Layout() {
    using T = NodeLinkHeader;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::length, "Length", 32, 0),
                       Rw(&T::type, "Type", 8, 32), Rw(&T::port, "Port", 8, 40),
                       Reserved(16, 48));
  }
};
static_assert(wire::Tiles<NodeLinkHeader>());

// A port; its GIDs and P_Keys follow.
struct NodeLinkState {
  static constexpr int kBits = 64 * 8 + 128;

  mad::PortInfo info{};
  wire::Guid node_guid{};
  uint16_t gids = 0, p_keys = 0;
  uint8_t ports = 0;  // of the node
  // The node's daemon knows kBadKey; one of an older version does not.
  bool takes_bad_keys = false;

  static constexpr auto Layout() {
    using T = NodeLinkState;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::info, "PortInfo", 512, 0),
        Rw(&T::node_guid, "NodeGUID", 64, 512),
        Rw(&T::gids, "GidCount", 16, 576), Rw(&T::p_keys, "PKeyCount", 16, 592),
        Rw(&T::ports, "PortCount", 8, 608),
        Rw(&T::takes_bad_keys, "TakesBadKeys", 1, 616), Reserved(23, 617));
  }
};
static_assert(wire::Tiles<NodeLinkState>());

// A mad::Arrival but for its MAD, which follows.
struct NodeLinkRequest {
  static constexpr int kBits = 320;

  uint8_t qp = 0, sl = 0, path_bits = 0;
  bool has_grh = false;
  wire::Lid slid{};
  uint16_t pkey_index = 0;
  uint32_t source_qpn = 0;
  wire::Gid sgid{};
  uint32_t flow_label = 0;
  uint8_t gid_index = 0, hop_limit = 0, traffic_class = 0;

  static constexpr auto Layout() {
    using T = NodeLinkRequest;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::qp, "QP", 8, 0), Rw(&T::sl, "SL", 8, 8),
        Rw(&T::path_bits, "PathBits", 8, 16), Reserved(7, 24),
        Rw(&T::has_grh, "HasGRH", 1, 31), Rw(&T::slid, "SLID", 16, 32),
        Rw(&T::pkey_index, "PKeyIndex", 16, 48),
        Rw(&T::source_qpn, "SrcQP", 32, 64), Rw(&T::sgid, "SGID", 128, 96),
        Rw(&T::flow_label, "FlowLabel", 32, 224),
        Rw(&T::gid_index, "GidIndex", 8, 256),
        Rw(&T::hop_limit, "HopLmt", 8, 264),
        Rw(&T::traffic_class, "TClass", 8, 272), Reserved(40, 280));
  }
};
static_assert(wire::Tiles<NodeLinkRequest>());

// The MAD follows; it is the answer if the verdict is kReply.
struct NodeLinkReply {
  static constexpr int kBits = 32;

  mad::LocalVerdict verdict{};

  static constexpr auto Layout() {
    return wire::Table(wire::Reserved(24, 0),
                       wire::Rw(&NodeLinkReply::verdict, "Verdict", 8, 24));
  }
};
static_assert(wire::Tiles<NodeLinkReply>());

// A NodeLinkLease is what an adapter may send to another, without the node.
// The address follows at which the other machine waits for a connection that
// begins with the token.  It is empty to the adapter that receives, and between
// adapters of one machine.
struct NodeLinkLease {
  static constexpr int kBits = 256;
  static constexpr size_t kLongestAddress = 64;

  uint32_t number = 0;
  bool receives = false;
  uint8_t sl = 0;
  wire::Lid dlid{};
  uint16_t p_key = 0;
  uint16_t mtu = 0;  // bytes of payload of a packet at most
  Secret token{};

  static constexpr auto Layout() {
    using T = NodeLinkLease;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::number, "Lease", 32, 0), Reserved(7, 32),
                       Rw(&T::receives, "Receives", 1, 39),
                       Rw(&T::sl, "SL", 8, 40), Rw(&T::dlid, "DLID", 16, 48),
                       Rw(&T::p_key, "P_Key", 16, 64),
                       Rw(&T::mtu, "MTU", 16, 80), Reserved(32, 96),
                       Rw(&T::token, "Token", 128, 128));
  }
};
static_assert(wire::Tiles<NodeLinkLease>());

// A NodeLinkNumber is the whole of a message that only says which lease, or
// which connection of packets.
struct NodeLinkNumber {
  static constexpr int kBits = 32;

  uint32_t number = 0;

  static constexpr auto Layout() {
    return wire::Table(wire::Rw(&NodeLinkNumber::number, "Number", 32, 0));
  }
};
static_assert(wire::Tiles<NodeLinkNumber>());

// A NodeLinkLeaseUsage is what was sent by a lease since the last one.
struct NodeLinkLeaseUsage {
  static constexpr int kBits = 192;

  uint32_t number = 0;
  uint64_t packets = 0;
  uint64_t words = 0;  // of 4 bytes, from LRH to ICRC

  static constexpr auto Layout() {
    using T = NodeLinkLeaseUsage;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::number, "Lease", 32, 0), Reserved(32, 32),
                       Rw(&T::packets, "Packets", 64, 64),
                       Rw(&T::words, "Words", 64, 128));
  }
};
static_assert(wire::Tiles<NodeLinkLeaseUsage>());

// A NodeLinkEcho is the whole of a message whose way there and back is timed.
struct NodeLinkEcho {
  static constexpr int kBits = 64;

  uint64_t number = 0;

  static constexpr auto Layout() {
    return wire::Table(wire::Rw(&NodeLinkEcho::number, "Echo", 64, 0));
  }
};
static_assert(wire::Tiles<NodeLinkEcho>());

// A NodeLinkBadKey is a mad::BadKey.
struct NodeLinkBadKey {
  static constexpr int kBits = 496;

  uint32_t packets = 0;
  mad::TrapNumber trap{};
  mad::BadKeyDetails details{};

  static constexpr auto Layout() {
    using T = NodeLinkBadKey;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::packets, "Packets", 32, 0),
                       Rw(&T::trap, "TrapNumber", 16, 32), Reserved(16, 48),
                       Rw(&T::details, "DataDetails", 432, 64));
  }
};
static_assert(wire::Tiles<NodeLinkBadKey>());

// A packet from LRH to ICRC, which is 0: the stream carries bytes unharmed.
// REQUIRES: a single one.
std::vector<std::byte> EncodePacket(const fabric::Packet& packet);

// The header of a message whose payload has `length` bytes, at the end of
// `bytes`.
void AppendHeader(NodeLinkMessage type, int port, size_t length,
                  std::vector<std::byte>& bytes);
// One message at the end of `bytes`.
void AppendMessage(NodeLinkMessage type, int port,
                   std::span<const std::byte> payload,
                   std::vector<std::byte>& bytes);

std::vector<std::byte> EncodeRequest(const mad::Arrival& arrival);
// Errors: InvalidArgument.
absl::StatusOr<mad::Arrival> DecodeRequest(std::span<const std::byte> payload);

std::vector<std::byte> EncodeReply(mad::LocalVerdict verdict,
                                   const mad::MadBytes& mad);
// Errors: InvalidArgument.
absl::StatusOr<mad::LocalVerdict> DecodeReply(
    std::span<const std::byte> payload, mad::MadBytes& mad);

// A NodeLinkPortState is the payload of kState, a NodeLinkState with its
// tables, as values.
struct NodeLinkPortState {
  mad::PortInfo info{};
  wire::Guid node_guid{};
  int ports = 0;  // of the node
  bool takes_bad_keys = false;
  std::vector<wire::Gid> gids{};
  std::vector<uint16_t> p_keys{};
};
std::vector<std::byte> EncodeState(const NodeLinkPortState& state);
// Errors: InvalidArgument.
absl::StatusOr<NodeLinkPortState> DecodeState(
    std::span<const std::byte> payload);

std::vector<std::byte> EncodeLease(const NodeLinkLease& lease,
                                   std::string_view address);
// Errors: InvalidArgument.
absl::StatusOr<NodeLinkLease> DecodeLease(std::span<const std::byte> payload,
                                          std::string& address);
std::vector<std::byte> EncodeNumber(uint32_t number);
// Errors: InvalidArgument.
absl::StatusOr<uint32_t> DecodeNumber(std::span<const std::byte> payload);
// Errors: InvalidArgument.
absl::StatusOr<NodeLinkLeaseUsage> DecodeLeaseUsage(
    std::span<const std::byte> payload);

std::vector<std::byte> EncodeEcho(uint64_t number);
// Errors: InvalidArgument.
absl::StatusOr<uint64_t> DecodeEcho(std::span<const std::byte> payload);

std::vector<std::byte> EncodeBadKey(const mad::BadKey& bad);
// Errors: InvalidArgument.
absl::StatusOr<mad::BadKey> DecodeBadKey(std::span<const std::byte> payload);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_FORMAT_NODE_LINK_FORMAT_H_
