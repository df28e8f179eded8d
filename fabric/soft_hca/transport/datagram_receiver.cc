#include "fabric/soft_hca/transport/datagram_receiver.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "fabric/packet/packet_bytes.h"
#include "fabric/packet/transport.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

constexpr size_t kGrhBytes = wire::kBytes<wire::GlobalRouteHeader>;

verbs::Buffer GrhBytes(const RouteHeader& grh, size_t payload) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  wire::Append(GrhOf(grh, payload), *bytes);
  return bytes;
}

}  // namespace

void DatagramReceiver::OnDatagram(const Packet& packet, uint16_t pkey_index,
                                  uint8_t path_bits) {
  const Transport& datagram = *packet.transport;
  std::optional<verbs::ReceiveRequest> receive =
      link_.TakeReceive(std::nullopt, "datagram");
  if (!receive) {
    ++qp_.counters.out_of_buffer;
    return;
  }
  const auto ranges = qp_.keys.FindAll(receive->sges, qp_.receive_pd(),
                                       verbs::access::kLocalWrite);
  if (!ranges.ok() || verbs::LengthOf(*ranges) < kGrhBytes + datagram.size) {
    qp_.history.Note(
        Incident::Kind::kDenied, std::nullopt,
        ranges.ok() ? absl::StrFormat(
                          "a datagram of %d bytes and 40 for the GRH came, the "
                          "receive request has %d",
                          datagram.size, verbs::LengthOf(*ranges))
                    : std::string(ranges.status().message()));
    return link_.PutBackReceive(*std::move(receive));
  }
  verbs::MemoryTransfer transfer;
  if (packet.grh) {
    transfer.Add(verbs::PartOf(*ranges, 0, kGrhBytes),
                 GrhBytes(*packet.grh, datagram.Bytes() + 4), 0);
  }
  transfer.Add(verbs::PartOf(*ranges, kGrhBytes, datagram.size),
               datagram.message, datagram.offset);
  verbs::WorkCompletion completion{};
  completion.wr_id = receive->id;
  completion.opcode = verbs::wc_opcode::kReceive;
  completion.byte_len = static_cast<uint32_t>(kGrhBytes + datagram.size);
  completion.ex.imm_data = datagram.immediate;
  completion.qp_num = qp_.number;
  completion.src_qp = packet.source_qpn;
  completion.wc_flags =
      (packet.grh ? verbs::wc_flag::kGrh : 0) |
      (datagram.has_immediate ? verbs::wc_flag::kWithImmediate : 0);
  completion.pkey_index = pkey_index;
  completion.slid = static_cast<uint16_t>(packet.slid);
  completion.sl = packet.sl;
  completion.dlid_path_bits = path_bits;
  completion.port_num = qp_.attributes.port_num;
  steps_.Write(std::move(transfer),
               {.completion = completion, .solicited = datagram.solicited});
}

}  // namespace ibemu::fabric
