// Firmware, part 2: commands about ports, MADs and multicast.
#include <algorithm>
#include <array>

#include "hca/model/mlx4/firmware/firmware.h"
#include "mad/wire/attribute_id.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/smp.h"

namespace ibemu::hca::model::mlx4 {

using prm::Opcode;
using Status = prm::CommandStatus;

Status Firmware::Port(const CommandRequest& request) {
  if (!parts_.ports.Has(request.in_modifier)) return Status::kBadParam;
  const int port = static_cast<int>(request.in_modifier);
  switch (request.opcode) {
    case Opcode::kInitPort:
      return parts_.ports.Initialise(port);
    case Opcode::kClosePort:
      parts_.ports.Close(port);
      return Status::kOk;
    default: {
      prm::SetPort wanted;
      const Status status = Take(request, wanted);
      return status == Status::kOk ? parts_.ports.Set(port, wanted) : status;
    }
  }
}

namespace {

bool IsSubnetManagement(const mad::MadHeader& header) {
  return header.mgmt_class == mad::MgmtClass::kSubnetLidRouted ||
         header.mgmt_class == mad::MgmtClass::kSubnetDirectedRoute;
}

}  // namespace

// kMadIfcIgnoreBKey has no effect, as there is no baseboard manager.
Status Firmware::MadIfc(const CommandRequest& request) {
  const uint32_t number = request.in_modifier & prm::kMadIfcPortMask;
  if (!parts_.ports.Has(number)) return Status::kBadParam;
  const int port = static_cast<int>(number);
  mad::Arrival arrival;
  if (!parts_.core.host.Read(request.in_param, arrival.mad)) {
    return Status::kInternalError;
  }
  const auto header = wire::Decode<mad::MadHeader>(arrival.mad);
  arrival.qp = IsSubnetManagement(header) ? 0 : 1;
  arrival.slid = wire::Lid{
      static_cast<uint16_t>(request.in_modifier >> prm::kMadIfcLidShift)};
  if ((request.op_modifier & prm::kMadIfcExtended) != 0) {
    const auto how = In<prm::MadIfcExtension>(request, arrival.mad.size());
    if (!how) return Status::kInternalError;
    arrival.sl = how->sl;
    arrival.path_bits = how->path_bits;
    arrival.pkey_index = how->pkey_index;
    arrival.source_qpn = how->remote_qpn;
  }
  Cable& agents = parts_.ports.cable(port);
  const bool ignore_m_key =
      arrival.qp == 0 && (request.op_modifier & prm::kMadIfcIgnoreMKey) != 0;
  const auto m_key = wire::Get<&mad::Smp::m_key>(arrival.mad);
  // To ignore the M_Key, the agents are given the right one.
  if (ignore_m_key) {
    wire::Put<&mad::Smp::m_key>(arrival.mad, agents.Info().m_key);
  }
  mad::MadBytes reply{};
  const mad::LocalVerdict verdict = agents.ProcessLocal(arrival, reply);
  if (verdict == mad::LocalVerdict::kUnhandled) return Status::kBadPacket;
  if (ignore_m_key) wire::Put<&mad::Smp::m_key>(reply, m_key);
  if (header.method == mad::Method::kSet) {
    const bool reregister =
        arrival.qp == 0 &&
        wire::Get<&mad::Smp::attr_id>(arrival.mad) ==
            mad::AttributeId::kPortInfo &&
        wire::Get<&mad::PortInfo::client_reregister>(
            std::span(arrival.mad).subspan(mad::kSmpDataOffset));
    parts_.ports.TellChanges(port, reregister);
  }
  if (verdict == mad::LocalVerdict::kConsumed) {
    // A MAD that needs an answer was dropped: its M_Key is wrong.
    return header.method == mad::Method::kTrapRepress ? Status::kOk
                                                      : Status::kBadPacket;
  }
  return parts_.core.host.Write(request.out_param, reply)
             ? Status::kOk
             : Status::kInternalError;
}

// Supports only the query, which is all that drivers use.
Status Firmware::MadDemux(const CommandRequest& request) {
  if (!parts_.core.cap.mad_demux ||
      request.op_modifier != prm::kMadDemuxQueryRestrictions) {
    return Status::kBadOp;
  }
  if (request.in_modifier != prm::kMadDemuxSubnet) return Status::kBadParam;
  const uint32_t all = parts_.core.faults.secure_host() ? ~uint32_t{0} : 0;
  return Out(
      request,
      prm::MadDemuxRestrictions{
          .set = all, .get_response = all, .trap = all, .trap_repress = all});
}

Status Firmware::Mcg(const CommandRequest& request) {
  std::vector<std::byte> entry(parts_.multicast.entry_bytes());
  if (request.opcode == Opcode::kReadMcg) {
    const Status status = parts_.multicast.Read(request.in_modifier, entry);
    if (status != Status::kOk) return status;
    return parts_.core.host.Write(request.out_param, entry)
               ? Status::kOk
               : Status::kInternalError;
  }
  if (!parts_.core.host.Read(request.in_param, entry)) {
    return Status::kInternalError;
  }
  return parts_.multicast.Write(request.in_modifier, entry);
}

CommandReply Firmware::MgidHash(const CommandRequest& request) {
  std::array<uint8_t, 16> gid;
  if (!parts_.core.host.Read(request.in_param,
                             std::as_writable_bytes(std::span(gid)))) {
    return {Status::kInternalError};
  }
  return {Status::kOk, parts_.multicast.Hash(gid)};
}

}  // namespace ibemu::hca::model::mlx4
