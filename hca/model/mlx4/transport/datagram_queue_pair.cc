#include "hca/model/mlx4/transport/datagram_queue_pair.h"

#include <algorithm>
#include <array>
#include <vector>

#include "mad/address.h"
#include "wire/opcode.h"
#include "wire/psn.h"

namespace ibemu::hca::model::mlx4 {

using prm::CqeSyndrome;

namespace {

constexpr size_t kImmediateBytes = 4;
constexpr uint32_t kControlledQKey = 1u << 31;

// The MTU in bytes of a code of PortInfo.
constexpr size_t MtuBytes(uint8_t code) { return size_t{128} << code; }

}  // namespace

void DatagramQueuePair::Work() {
  SendWqe wqe;
  while (CanSend()) {
    const ModelSendQueue::Fetched fetched = sends_.Fetch(wqe);
    if (fetched == ModelSendQueue::Fetched::kNone) return;
    if (fetched == ModelSendQueue::Fetched::kFault) {
      EnterError(prm::EqeType::kWqCatastrophicError);
      return;
    }
    CqeSyndrome result = CqeSyndrome::kLocalQpOperation;
    if (fetched == ModelSendQueue::Fetched::kWqe) {
      result = special_ ? SendMlx(wqe) : SendUd(wqe);
    }
    if (result == CqeSyndrome::kNone) {
      CompleteSend(wqe);
      continue;
    }
    FailSend(wqe, result);
    EnterSendError();
  }
}

CqeSyndrome DatagramQueuePair::SendMlx(const SendWqe& wqe) {
  constexpr size_t kLeast = wire::kBytes<wire::LocalRouteHeader> +
                            wire::kBytes<wire::BaseTransportHeader> +
                            kIcrcBytes;
  constexpr size_t kMax = MtuBytes(5) + 128;
  if (wqe.control.opcode != prm::WqeOpcode::kSend || wqe.length < kLeast ||
      wqe.length > kMax) {
    return CqeSyndrome::kLocalQpOperation;
  }
  std::vector<std::byte> packet(wqe.length);
  if (!Gather(environment_.memory(), context_.pd, wqe.sges, 0, packet)) {
    return CqeSyndrome::kLocalProtection;
  }
  if (environment_.core().faults.TakeSendFailure()) {
    return CqeSyndrome::kLocalQpOperation;
  }
  auto lrh = wire::Decode<wire::LocalRouteHeader>(packet);
  if (size_t{lrh.words} * 4 != packet.size() ||
      lrh.dlid != wire::Lid{wqe.mlx.rlid}) {
    return CqeSyndrome::kLocalQpOperation;
  }
  if (!wqe.mlx.source_lid_given) {
    lrh.slid = RouteTo(environment_.ports().cable(port()), 0,
                       static_cast<uint8_t>(lrh.slid), 0)
                   .slid;
  }
  if (wqe.mlx.vl15) lrh.vl = 15;
  wire::Encode(lrh, packet);
  environment_.Send(port(), std::move(packet), wqe.mlx.force_loopback);
  return CqeSyndrome::kNone;
}

CqeSyndrome DatagramQueuePair::SendUd(const SendWqe& wqe) {
  const bool immediate = wqe.control.opcode == prm::WqeOpcode::kSendImmediate;
  if (!immediate && wqe.control.opcode != prm::WqeOpcode::kSend) {
    return CqeSyndrome::kLocalQpOperation;
  }
  const prm::Mlx4Av& to = wqe.datagram.address;
  if (to.pd != context_.pd || to.port != port()) {
    return CqeSyndrome::kLocalQpOperation;
  }
  Cable& cable = environment_.ports().cable(port());
  if (wqe.length > MtuBytes(cable.Info().mtu_cap)) {
    return CqeSyndrome::kLocalLength;
  }
  std::vector<std::byte> payload(wqe.length);
  if (!Gather(environment_.memory(), context_.pd, wqe.sges, 0, payload)) {
    return CqeSyndrome::kLocalProtection;
  }
  std::vector<std::byte> headers;
  const bool controlled = (wqe.datagram.qkey & kControlledQKey) != 0;
  wire::Append(wire::DatagramHeader{.q_key = controlled ? context_.qkey
                                                        : wqe.datagram.qkey,
                                    .source_qpn = qpn()},
               headers);
  if (immediate) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      headers.push_back(static_cast<std::byte>(wqe.control.immediate >> shift));
    }
  }
  std::optional<wire::GlobalRouteHeader> grh;
  if (to.grh) {
    grh = GlobalRouteTo(cable, to.rgid, to.mgid_index, to.hop_limit, to.tclass,
                        to.flow_label);
  }
  const wire::BaseTransportHeader bth{
      .opcode = immediate ? wire::opcode::kUdSendOnlyImmediate
                          : wire::opcode::kUdSendOnly,
      .solicited = wqe.control.solicited,
      .p_key = cable.PKeyAt(context_.primary.pkey_index),
      .destination_qpn = wqe.datagram.remote_qpn,
      .psn = psn_};
  psn_ = (psn_ + 1) & wire::kPsnMask;
  environment_.Send(
      port(),
      BuildPacket(RouteTo(cable, to.rlid, to.my_lid_path_bits, to.sl), grh, bth,
                  headers, payload),
      to.force_loopback || wqe.control.force_loopback);
  return CqeSyndrome::kNone;
}

std::optional<uint16_t> DatagramQueuePair::Admit(
    const ParsedPacket& packet, const wire::DatagramHeader& deth) {
  // QP0 has no keys at all, and QP1 accepts every P_Key in the port's table
  // (IBA vol 1 §10.2.4).
  if (special_ == 0) return 0;
  const auto refuse = [&](mad::TrapNumber trap,
                          uint32_t key) -> std::optional<uint16_t> {
    ReportBadKey(packet, trap, key, deth.source_qpn);
    return std::nullopt;
  };
  if (!special_) {
    if (!PKeyMatches(packet.bth.p_key)) {
      // Members of a group may be in several partitions.
      if (!wire::IsUnicast(packet.lrh.dlid)) return std::nullopt;
      return refuse(mad::TrapNumber::kBadPKey, packet.bth.p_key);
    }
    if (deth.q_key != context_.qkey) {
      return refuse(mad::TrapNumber::kBadQKey, deth.q_key);
    }
    return context_.primary.pkey_index;
  }
  const Cable& cable = environment_.ports().cable(port());
  for (int i = 0; i < cable.PKeyCount(); ++i) {
    if (!wire::MayTalk(cable.PKeyAt(i), packet.bth.p_key)) continue;
    if (deth.q_key == mad::kQp1QKey) return static_cast<uint16_t>(i);
    return refuse(mad::TrapNumber::kBadQKey, deth.q_key);
  }
  return refuse(mad::TrapNumber::kBadPKey, packet.bth.p_key);
}

void DatagramQueuePair::Receive(const ParsedPacket& incoming) {
  if (!CanReceive()) return;
  ParsedPacket packet = incoming;
  const auto deth = packet.Take<wire::DatagramHeader>();
  if (!deth) return;
  uint32_t immediate = 0;
  const bool has_immediate =
      packet.bth.opcode == wire::opcode::kUdSendOnlyImmediate;
  if (has_immediate) {
    if (packet.rest.size() < kImmediateBytes) return;
    for (size_t i = 0; i < kImmediateBytes; ++i) {
      immediate = immediate << 8 | static_cast<uint8_t>(packet.rest[i]);
    }
    packet.rest = packet.rest.subspan(kImmediateBytes);
  } else if (packet.bth.opcode != wire::opcode::kUdSendOnly) {
    return;
  }
  const std::optional<uint16_t> pkey_index = Admit(packet, *deth);
  if (!pkey_index) return;

  ReceiveWqe wqe;
  switch (receives_->Fetch(wqe)) {
    case ReceiveSource::Fetched::kNone:
      return;
    case ReceiveSource::Fetched::kFault:
      EnterError(prm::EqeType::kWqCatastrophicError);
      return;
    case ReceiveSource::Fetched::kWqe:
      break;
  }
  // Room for a GRH comes first, whether the packet has one or not.
  std::vector<std::byte> message(kGrhBytes);
  if (packet.grh) wire::Encode(*packet.grh, message);
  message.insert(message.end(), packet.rest.begin(), packet.rest.end());
  const Scattered scattered =
      Scatter(environment_.memory(), context_.pd, wqe.sges, 0, message);
  if (scattered != Scattered::kOk) {
    FailReceive(wqe.counter, scattered == Scattered::kTooLong
                                 ? CqeSyndrome::kLocalLength
                                 : CqeSyndrome::kLocalProtection);
    EnterError();
    return;
  }
  const mad::PortInfo info = environment_.ports().cable(port()).Info();
  const bool unicast = wire::IsUnicast(packet.lrh.dlid);
  CompleteReceive({.immediate = has_immediate ? immediate : *pkey_index,
                   .grh = packet.grh.has_value(),
                   .path_bits = static_cast<uint8_t>(
                       unicast ? static_cast<uint16_t>(packet.lrh.dlid) -
                                     static_cast<uint16_t>(info.lid)
                               : 0),
                   .remote_qpn = deth->source_qpn,
                   .sl = packet.lrh.sl,
                   .remote_lid = static_cast<uint16_t>(packet.lrh.slid),
                   .byte_count = static_cast<uint32_t>(message.size()),
                   .wqe_counter = wqe.counter,
                   .opcode = has_immediate ? prm::kReceivedSendImmediate
                                           : prm::kReceivedSend},
                  packet.bth.solicited);
}

}  // namespace ibemu::hca::model::mlx4
