// Packets of adapters outside of the fabric, and the messages that bring them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/format/node_link_splitter.h"
#include "daemon/remote_node/format/packet_train.h"
#include "fabric/packet/packet_bytes.h"
#include "fabric/packet/packet_parser.h"

namespace {

// What was understood can be written down, and is understood again.
void FuzzPacket(std::span<const std::byte> bytes) {
  const auto packet = ibemu::fabric::ParsePacket(bytes);
  if (!packet.ok()) return;
  std::vector<std::byte> written = ibemu::fabric::BytesOf(*packet, 0);
  written.resize(written.size() - 2);  // VCRC
  const auto again = ibemu::fabric::ParsePacket(written);
  if (!again.ok() || again->dlid != packet->dlid) std::abort();
}

// So are several packets of one message.
void FuzzTrain(std::span<const std::byte> bytes) {
  const auto packets = ibemu::daemon::DecodeTrain(bytes);
  if (!packets.ok()) return;
  const auto again =
      ibemu::daemon::DecodeTrain(ibemu::daemon::EncodeTrain(*packets));
  if (!again.ok() || again->Count() != packets->Count() ||
      again->Words() != packets->Words()) {
    std::abort();
  }
}

void FuzzMessages(std::span<const std::byte> bytes) {
  ibemu::daemon::NodeLinkSplitter splitter;
  splitter.Add(bytes);
  ibemu::daemon::NodeLinkSplitter::Message message;
  while (true) {
    const auto there = splitter.Next(message);
    if (!there.ok() || !*there) return;
    ibemu::mad::MadBytes mad;
    std::string address;
    FuzzPacket(message.payload);
    FuzzTrain(message.payload);
    ibemu::daemon::DecodeRequest(message.payload).status().IgnoreError();
    ibemu::daemon::DecodeReply(message.payload, mad).status().IgnoreError();
    ibemu::daemon::DecodeState(message.payload).status().IgnoreError();
    ibemu::daemon::DecodeLease(message.payload, address).status().IgnoreError();
    ibemu::daemon::DecodeLeaseUsage(message.payload).status().IgnoreError();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  FuzzPacket(bytes);
  FuzzTrain(bytes);
  FuzzMessages(bytes);
  return 0;
}
