// PacketTrain: consecutive packets of one message, on a node link or a
// connection of packets.
#ifndef IBEMU_DAEMON_REMOTE_NODE_FORMAT_PACKET_TRAIN_H_
#define IBEMU_DAEMON_REMOTE_NODE_FORMAT_PACKET_TRAIN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/format/node_link_splitter.h"
#include "fabric/packet/packet.h"
#include "wire/layout.h"

namespace ibemu::daemon {

// A PacketTrain is the header of several packets that are sent as one.  The
// first and the last packet follow, from LRH to ICRC, then the payload of those
// between them, each as long as the first one's.
struct PacketTrain {
  static constexpr int kBits = 96;
  // The most packets, and the most bytes of the whole.
  static constexpr uint32_t kMaxPackets = 512;
  static constexpr size_t kLongest = size_t{4} << 20;

  uint32_t packets = 0;
  uint32_t first_bytes = 0, last_bytes = 0;

  static constexpr auto Layout() {
    using T = PacketTrain;
    using wire::Rw;
    return wire::Table(Rw(&T::packets, "Packets", 32, 0),
                       Rw(&T::first_bytes, "FirstLength", 32, 32),
                       Rw(&T::last_bytes, "LastLength", 32, 64));
  }
};
static_assert(wire::Tiles<PacketTrain>());

// Returns the payload of a message kTrain.  REQUIRES: 2 to
// PacketTrain::kMaxPackets packets.
std::vector<std::byte> EncodeTrain(const fabric::Packet& packets);
// Errors: InvalidArgument, they are no consecutive packets of one message.
absl::StatusOr<fabric::Packet> DecodeTrain(std::span<const std::byte> payload);

// Returns true if packets may go by a connection of packets: those of queue
// pairs, but no MADs, and no datagrams to queue pair 0 or 1, which
// ParsePacket() takes for MADs.
bool GoesByConnection(const fabric::Packet& packets);
// Appends the messages of packets, as few as may be.
void AppendPackets(int port, const fabric::Packet& packets,
                   std::vector<std::byte>& bytes);
// The packets of a message kPacket or kTrain from a connection of packets.
//
// Errors: InvalidArgument, it is another message, they make no sense, or one is
// a MAD.
absl::StatusOr<fabric::Packet> DecodePackets(
    const NodeLinkSplitter::Message& message);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_FORMAT_PACKET_TRAIN_H_
