// Firmware: ports, MADs, multicast.
#include <algorithm>
#include <array>

#include "hca/model/mlx4/firmware.h"
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
      const auto wanted = In<prm::SetPort>(request);
      return wanted ? parts_.ports.Set(port, *wanted) : Status::kInternalError;
    }
  }
}

namespace {

bool IsSubnetManagement(const mad::MadHeader& header) {
  return header.mgmt_class == mad::MgmtClass::kSubnetLidRouted ||
         header.mgmt_class == mad::MgmtClass::kSubnetDirectedRoute;
}

}  // namespace

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
  arrival.slid = mad::Lid{
      static_cast<uint16_t>(request.in_modifier >> prm::kMadIfcLidShift)};
  if ((request.op_modifier & prm::kMadIfcExtended) != 0) {
    const auto how = In<prm::MadIfcExtension>(request, arrival.mad.size());
    if (!how) return Status::kInternalError;
    arrival.sl = how->sl;
    arrival.path_bits = how->path_bits;
    arrival.pkey_index = how->pkey_index;
    arrival.source_qpn = how->remote_qpn;
  }
  mad::MadBytes reply{};
  const mad::LocalVerdict verdict =
      parts_.ports.wire(port).ProcessLocal(arrival, reply);
  if (verdict == mad::LocalVerdict::kUnhandled) return Status::kBadPacket;
  if (header.method == mad::Method::kSet) {
    const bool reregister =
        arrival.qp == 0 &&
        wire::Get<&mad::Smp::attr_id>(arrival.mad) ==
            mad::AttributeId::kPortInfo &&
        wire::Get<&mad::PortInfo::client_reregister>(
            std::span(arrival.mad).subspan(mad::kSmpDataOffset));
    parts_.ports.TellChanges(port, reregister);
  }
  if (verdict == mad::LocalVerdict::kConsumed) return Status::kOk;
  return parts_.core.host.Write(request.out_param, reply)
             ? Status::kOk
             : Status::kInternalError;
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
