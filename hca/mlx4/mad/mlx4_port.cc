#include "hca/mlx4/mad/mlx4_port.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/copy_bytes.h"
#include "base/status_macros.h"
#include "hca/mlx4/mad/mlx_wqe.h"
#include "hca/prm/mlx4_commands.h"
#include "hca/prm/mlx4_completion.h"
#include "mad/mad_class.h"
#include "mad/smi.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/node_info.h"
#include "mad/wire/smp.h"
#include "wire/packet_headers.h"

namespace ibemu::hca::mlx4 {
namespace {

using mad::AttributeId, mad::LocalVerdict, mad::Method, mad::SmiStep;

constexpr size_t kArrivalGrh = wire::kBytes<wire::GlobalRouteHeader>;
constexpr uint32_t kPKeyIndexMask = 0x7f;
constexpr uint8_t kMaxVls = 8;  // that the Linux driver asks for first

// Queue pairs 0 of all ports come first, then queue pairs 1.
uint32_t SpecialNumber(uint32_t first, int qp, int port) {
  return first + 2 * static_cast<uint32_t>(qp) +
         static_cast<uint32_t>(port - 1);
}

}  // namespace

Mlx4Port::Mlx4Port(PortParts parts, int number, const prm::QueryPort& limits)
    : parts_(std::move(parts)),
      number_(number),
      limits_(limits),
      tables_(number, 1 << limits.log_max_gid, 1 << limits.log_max_pkey) {}

Mlx4Port::~Mlx4Port() {
  qps_[1].reset();
  // The port is closed before queue pair 0 goes: from here on nobody asks its
  // agent any more.
  if (initialised_) {
    parts_.resources.adapter().TakeDown(prm::Opcode::kClosePort,
                                        {.in = static_cast<uint32_t>(number_)});
  }
  qps_[0].reset();
}

absl::Status Mlx4Port::Start() {
  IBEMU_RETURN_IF_ERROR(tables_.RefreshAll(parts_.mads));
  IBEMU_RETURN_IF_ERROR(SetLimits());
  IBEMU_RETURN_IF_ERROR(StartQp(0, [this] {
    IBEMU_RETURN_IF_ERROR(
        parts_.resources.commands()
            .Run(prm::Opcode::kInitPort, {.in = static_cast<uint32_t>(number_)})
            .status());
    initialised_ = true;
    return absl::OkStatus();
  }));
  IBEMU_RETURN_IF_ERROR(StartQp(1, [] { return absl::OkStatus(); }));
  return tables_.RefreshAll(parts_.mads);
}

absl::Status Mlx4Port::StartQp(int qp,
                               const std::function<absl::Status()>& between) {
  const SpecialQpInit init{
      .port = number_,
      .qp = qp,
      .number = SpecialNumber(parts_.first_qpn, qp, number_),
      .cqn = parts_.cqn,
      .lkey = parts_.lkey};
  IBEMU_ASSIGN_OR_RETURN(
      qps_[static_cast<size_t>(qp)],
      SpecialQp::Create(
          parts_.resources, init, between,
          [this, qp](const prm::Cqe& entry, std::span<const std::byte> bytes) {
            OnMad(qp, entry, bytes);
          }));
  return absl::OkStatus();
}

// QUERY_PORT tells the largest number of VLs; the number that is possible with
// this MTU shows only when the firmware refuses more (mlx4/port.c:
// mlx4_SET_PORT).
absl::Status Mlx4Port::SetLimits() {
  prm::SetPort limits;
  limits.change_mtu_cap = limits.change_vl_cap = true;
  limits.mtu_cap = limits_.ib_mtu;
  limits.capability_mask = tables_.info().capability_mask;
  for (limits.vl_cap = kMaxVls;; limits.vl_cap /= 2) {
    std::array<std::byte, wire::kBytes<prm::SetPort>> bytes;
    wire::Encode(limits, bytes);
    FirmwareCommand command{
        .opcode = static_cast<uint16_t>(prm::Opcode::kSetPort),
        .in_modifier = static_cast<uint32_t>(number_),
        .in = bytes};
    IBEMU_ASSIGN_OR_RETURN(
        const CommandResult result,
        parts_.resources.commands().channel().Execute(command));
    const auto status = static_cast<prm::CommandStatus>(result.status);
    if (status != prm::CommandStatus::kExceedLimit || limits.vl_cap == 1) {
      return StatusOf(prm::Opcode::kSetPort, result.status);
    }
  }
}

absl::Status Mlx4Port::SetPort(const prm::SetPort& wanted) {
  return parts_.resources.commands().Send(
      prm::Opcode::kSetPort, wanted, {.in = static_cast<uint32_t>(number_)});
}

absl::Status Mlx4Port::Transmit(const mad::Outgoing& packet) {
  if (removed_) return absl::UnavailableError("the device is gone");
  MlxSource source;
  source.qp = packet.qp;
  if (const auto& grh = packet.to.grh) {
    if (grh->gid_index >= GidCount()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("gid_index %d: the table of port %d has %d entries",
                          grh->gid_index, number_, GidCount()));
    }
    source.sgid = GidAt(grh->gid_index);
  }
  // Queue pair 0 belongs to no partition of its own.
  source.p_key = PKeyAt(packet.qp == 0 ? 0 : packet.to.pkey_index);
  source.vl = tables_.VlOf(packet.to.sl);
  qps_[static_cast<size_t>(packet.qp)]->Send(packet.to, source, packet.mad);
  return absl::OkStatus();
}

LocalVerdict Mlx4Port::ProcessLocal(const mad::Arrival& request,
                                    mad::MadBytes& reply) {
  return AskFirmware(request,
                     request.grh ? GidAt(request.grh->gid_index) : wire::Gid{},
                     reply);
}

LocalVerdict Mlx4Port::AskFirmware(const mad::Arrival& request,
                                   const wire::Gid& dgid,
                                   mad::MadBytes& reply) {
  const LocalVerdict verdict =
      parts_.mads.Process(number_, request, dgid, reply);
  if (verdict != LocalVerdict::kReply) return verdict;
  const auto header = wire::Decode<mad::MadHeader>(request.mad);
  if (!mad::IsSmClass(header.mgmt_class)) return verdict;
  if (header.method == Method::kSet) {
    Follow(request.mad);
  } else if (header.attr_id == AttributeId::kNodeDescription) {
    mad::NodeDescription description;
    std::ranges::copy(std::string_view(parts_.node_description).substr(0, 64),
                      description.text.begin());
    wire::Encode(description, std::span(reply).subspan(mad::kSmpDataOffset));
  }
  return verdict;
}

void Mlx4Port::Follow(const mad::MadBytes& request) {
  switch (wire::Get<&mad::Smp::attr_id>(request)) {
    case AttributeId::kPortInfo:
      return Tell(tables_.RefreshInfo(parts_.mads));
    case AttributeId::kGuidInfo:
      return Tell(tables_.RefreshGuids(parts_.mads));
    case AttributeId::kPKeyTable:
      return Tell(tables_.RefreshPKeys(parts_.mads));
    case AttributeId::kSlToVlMappingTable:
      return Tell(tables_.RefreshVls(parts_.mads));
    default:
      return;
  }
}

// An agent that does not answer means that the adapter is dying, which is
// reported elsewhere.
void Mlx4Port::Tell(const absl::Status& refreshed) {
  if (refreshed.ok()) parts_.changed(number_);
}

void Mlx4Port::SetIsSm(bool is_sm) {
  prm::SetPort wanted;
  const uint32_t mask = tables_.info().capability_mask;
  wanted.capability_mask =
      is_sm ? mask | mad::capability::kIsSm : mask & ~mad::capability::kIsSm;
  if (!SetPort(wanted).ok()) return;
  Tell(tables_.RefreshInfo(parts_.mads));
}

bool Mlx4Port::OnCompletion(const Completion& completion) {
  for (const auto& qp : qps_) {
    if (qp && qp->number() == completion.entry.qpn) {
      qp->OnCompletion(completion);
      return true;
    }
  }
  return false;
}

void Mlx4Port::OnEvent(const prm::Eqe& event) {
  if (event.type == prm::EqeType::kPortChange) {
    return Tell(tables_.RefreshInfo(parts_.mads));
  }
  switch (event.subtype) {
    case prm::kGuidInfoChange:
      return Tell(tables_.RefreshGuids(parts_.mads));
    case prm::kPKeyTableChange:
      return Tell(tables_.RefreshPKeys(parts_.mads));
    default:
      return Tell(tables_.RefreshInfo(parts_.mads));
  }
}

void Mlx4Port::OnMad(int qp, const prm::Cqe& entry,
                     std::span<const std::byte> bytes) {
  mad::Arrival arrival;
  arrival.qp = qp;
  arrival.slid = wire::Lid{entry.remote_lid};
  arrival.sl = entry.sl;
  arrival.path_bits = entry.path_bits;
  arrival.source_qpn = entry.remote_qpn;
  wire::Gid dgid{};
  if (qp == 1) {
    arrival.pkey_index =
        static_cast<uint16_t>(entry.immediate & kPKeyIndexMask);
    if (entry.grh) {
      const auto grh = wire::Decode<wire::GlobalRouteHeader>(bytes);
      std::optional<uint8_t> index = tables_.FindGid(grh.dgid);
      if (!index && wire::IsMulticast(grh.dgid)) index = 0;
      if (!index) return;
      dgid = grh.dgid;
      arrival.grh = mad::GlobalRoute{.gid = grh.sgid,
                                     .flow_label = grh.flow_label,
                                     .gid_index = *index,
                                     .hop_limit = grh.hop_limit,
                                     .traffic_class = grh.traffic_class};
    }
  }
  CopyBytes(bytes.subspan(kArrivalGrh), arrival.mad.data());
  Dispatch(arrival, dgid);
}

void Mlx4Port::Dispatch(mad::Arrival& arrival, const wire::Gid& dgid) {
  if (!mad::IsValidMad(arrival.qp, arrival.mad)) return;
  if (arrival.qp == 0 && mad::IsDirectedRoute(arrival.mad)) {
    const mad::SmiVerdict verdict =
        mad::SmiReceive(arrival.mad,
                        {.is_switch = false,
                         .port_count = static_cast<uint8_t>(parts_.port_count)},
                        static_cast<uint8_t>(number_));
    if (verdict.step != SmiStep::kDeliver) return;
  }
  mad::MadBytes reply{};
  switch (AskFirmware(arrival, dgid, reply)) {
    case LocalVerdict::kReply:
      return Answer(arrival, reply);
    case LocalVerdict::kConsumed:
      return;
    case LocalVerdict::kUnhandled:
      if (listener_ != nullptr) listener_->OnReceive(arrival);
      return;
  }
}

void Mlx4Port::Answer(const mad::Arrival& request, mad::MadBytes& reply) {
  mad::Outgoing answer;
  answer.qp = request.qp;
  answer.to = mad::ReplyTo(request);
  if (request.qp == 0 && mad::IsDirectedRoute(reply)) {
    const mad::SmiVerdict verdict =
        mad::SmiAnswer(reply,
                       {.is_switch = false,
                        .port_count = static_cast<uint8_t>(parts_.port_count)},
                       static_cast<uint8_t>(number_));
    if (verdict.step == SmiStep::kDiscard ||
        verdict.step == SmiStep::kDeliver) {
      return;
    }
  }
  answer.mad = reply;
  // The answer is lost if the port was just pulled out.
  Transmit(answer).IgnoreError();
}

}  // namespace ibemu::hca::mlx4
