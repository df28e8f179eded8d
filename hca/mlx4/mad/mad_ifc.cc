#include "hca/mlx4/mad/mad_ifc.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "absl/strings/str_format.h"
#include "hca/prm/mlx4_commands.h"
#include "hca/prm/mlx4_management.h"
#include "mad/mad_class.h"
#include "mad/smi.h"
#include "mad/wire/mad_header.h"
#include "wire/packet_headers.h"

namespace ibemu::hca::mlx4 {
namespace {

using mad::AttributeId, mad::LocalVerdict, mad::MadHeader, mad::Method,
    mad::MgmtClass;

constexpr size_t kMad = mad::kMadBytes;
constexpr size_t kExtension = wire::kBytes<prm::MadIfcExtension>;

prm::MadIfcExtension HowItCame(const mad::Arrival& request,
                               const wire::Gid& dgid) {
  prm::MadIfcExtension extension;
  extension.my_qpn = static_cast<uint32_t>(request.qp);
  extension.remote_qpn = request.source_qpn;
  extension.sl = request.sl;
  extension.path_bits = request.path_bits;
  extension.pkey_index = request.pkey_index;
  if (request.grh) {
    const mad::GlobalRoute& route = *request.grh;
    wire::GlobalRouteHeader grh;
    grh.traffic_class = route.traffic_class;
    grh.flow_label = route.flow_label;
    grh.hop_limit = route.hop_limit;
    grh.sgid = route.gid;
    grh.dgid = dgid;
    extension.grh_valid = true;
    wire::Encode(grh, std::as_writable_bytes(std::span(extension.grh)));
  }
  return extension;
}

}  // namespace

bool IsForFirmware(const mad::MadBytes& request) {
  const auto header = wire::Decode<MadHeader>(request);
  switch (header.mgmt_class) {
    case MgmtClass::kSubnetLidRouted:
    case MgmtClass::kSubnetDirectedRoute:
      return header.attr_id != AttributeId::kSmInfo &&
             (header.method == Method::kGet || header.method == Method::kSet ||
              header.method == Method::kTrapRepress);
    case MgmtClass::kPerformance:
    case MgmtClass::kVendorFirst:
    case MgmtClass::kMellanox:
    case MgmtClass::kCongestionControl:
      return header.method == Method::kGet || header.method == Method::kSet;
    default:
      return false;
  }
}

LocalVerdict MadIfc::Process(int port, const mad::Arrival& request,
                             const wire::Gid& dgid, mad::MadBytes& reply) {
  if (!IsForFirmware(request.mad)) return LocalVerdict::kUnhandled;
  std::array<std::byte, kMad + kExtension> in;
  std::ranges::copy(request.mad, in.begin());
  wire::Encode(HowItCame(request, dgid), std::span(in).subspan(kMad));

  FirmwareCommand command;
  command.opcode = static_cast<uint16_t>(prm::Opcode::kMadIfc);
  command.op_modifier = prm::kMadIfcExtended;
  command.in_modifier =
      static_cast<uint32_t>(port) | static_cast<uint32_t>(request.slid)
                                        << prm::kMadIfcLidShift;
  command.in = in;
  command.out = reply;
  const auto result = commands_.channel().Execute(command);
  // A MAD can be lost anywhere, and so also in an adapter that just died.
  if (!result.ok()) return LocalVerdict::kConsumed;
  if (result->status != 0) {
    return static_cast<prm::CommandStatus>(result->status) ==
                   prm::CommandStatus::kBadPacket
               ? LocalVerdict::kConsumed
               : LocalVerdict::kUnhandled;
  }
  if (wire::Get<&MadHeader::method>(request.mad) == Method::kTrapRepress) {
    return LocalVerdict::kConsumed;
  }
  if (mad::IsDirectedRoute(reply)) {
    wire::Put<&mad::Smp::direction>(reply, true);
  }
  return LocalVerdict::kReply;
}

absl::Status MadIfc::GetSmp(int port, AttributeId id, uint32_t modifier,
                            mad::Smp& answer) {
  mad::Smp request;
  request.method = Method::kGet;
  request.tid = ++last_tid_;
  request.attr_id = id;
  request.attr_mod = modifier;
  std::array<std::byte, kMad> in;
  std::array<std::byte, kMad> out{};
  wire::Encode(request, in);

  FirmwareCommand command;
  command.opcode = static_cast<uint16_t>(prm::Opcode::kMadIfc);
  command.op_modifier = prm::kMadIfcIgnoreMKey | prm::kMadIfcIgnoreBKey;
  command.in_modifier = static_cast<uint32_t>(port);
  command.in = in;
  command.out = out;
  IBEMU_ASSIGN_OR_RETURN(const CommandResult result,
                         commands_.channel().Execute(command));
  IBEMU_RETURN_IF_ERROR(StatusOf(prm::Opcode::kMadIfc, result.status));
  answer = wire::Decode<mad::Smp>(out);
  if (answer.status == mad::MadStatus::kOk) return absl::OkStatus();
  return absl::InternalError(absl::StrFormat(
      "port %d: the adapter's agent refuses Get of attribute 0x%04x, modifier "
      "%d: status 0x%04x",
      port, static_cast<int>(id), modifier, static_cast<int>(answer.status)));
}

}  // namespace ibemu::hca::mlx4
