#include "hca/model/mlx4/transport/connected_queue_pair.h"

#include <optional>
#include <utility>

#include "wire/opcode.h"

namespace ibemu::hca::model::mlx4 {

void ConnectedQueuePair::Receive(const ParsedPacket& packet) {
  // Packets of other services are dropped (IBA vol 1 §9.6.1).
  if (!CanReceive() || packet.bth.opcode >> wire::opcode::kServiceShift !=
                           static_cast<int>(context_.service)) {
    return;
  }
  if (!PKeyMatches(packet.bth.p_key)) {
    return ReportBadKey(packet, mad::TrapNumber::kBadPKey, packet.bth.p_key);
  }
  if (packet.lrh.slid != wire::Lid{context_.primary.rlid}) return;
  if (!std::exchange(established_, true) &&
      state() == prm::QpContextState::kRtr) {
    environment_.events().Report(prm::EqeType::kCommunicationEstablished, 0,
                                 prm::QueueEvent{.number = qpn()});
  }
  OnPacket(packet);
}

void ConnectedQueuePair::Send(const Outgoing& packet,
                              std::span<const std::byte> headers,
                              std::span<const std::byte> payload) {
  const prm::AddressPath& path = context_.primary;
  Cable& cable = environment_.ports().cable(port());
  std::optional<wire::GlobalRouteHeader> grh;
  if (path.grh) {
    grh = GlobalRouteTo(cable, path.rgid, path.mgid_index, path.hop_limit,
                        path.tclass, path.flow_label);
  }
  const auto service = static_cast<unsigned>(context_.service);
  const wire::BaseTransportHeader bth{
      .opcode = static_cast<uint8_t>(service << wire::opcode::kServiceShift |
                                     packet.operation),
      .solicited = packet.solicited,
      .migrated = true,
      .p_key = cable.PKeyAt(path.pkey_index),
      .destination_qpn = context_.remote_qpn,
      .ack_request = packet.ack_request,
      .psn = packet.psn};
  environment_.Send(port(),
                    BuildPacket(RouteTo(cable, path.rlid, path.my_lid_path_bits,
                                        prm::SlOfSchedQueue(path.sched_queue)),
                                grh, bth, headers, payload),
                    false);
}

}  // namespace ibemu::hca::model::mlx4
