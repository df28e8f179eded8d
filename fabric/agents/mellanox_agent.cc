#include "fabric/agents/mellanox_agent.h"

#include <algorithm>
#include <string_view>

#include "fabric/agents/pma_counters.h"
#include "mad/wire/class_port_info.h"
#include "mad/wire/mellanox.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::LocalVerdict, mad::MadHeader, mad::MadStatus,
    mad::Method;

// Mellanox's OUIs, as found in dumps of real fabrics.
constexpr uint32_t kMellanoxOuis[] = {
    0x0002c9, 0x00258b, 0x043f72, 0x08c0eb, 0x0c42a1, 0x1070fd,
    0x1c34da, 0x248a07, 0x506b4b, 0x7cfe90, 0x900a84, 0x9440c9,
    0x98039b, 0xa088c2, 0xb83fd2, 0xb8599f, 0xb8cef6, 0xe41d2d,
    0xe8ebd3, 0xec0d9a, 0xf45214, 0xfc6a1c};

// The device id of InfiniScale III.  Its firmware version is in the old place
// only, and its PortXmitWait is a register.
constexpr uint16_t kInfiniScale3 = 47396;
constexpr uint32_t kXmitWaitRegister = 0x10013c;
constexpr uint32_t kRegisterStep = 0x1000;

constexpr uint8_t kFirmwareMajor = 28, kFirmwareMinor = 39;
constexpr uint32_t kFirmwareSubMinor = 2048;
constexpr std::string_view kPsid = "IBEMU_0000000001";

// The group selects of InfiniScale IV: PortXmitDataSL and PortRcvDataSL, in
// halves.
constexpr uint32_t kGroupMasks[] = {0x7, 0x106};

// Returns the port whose PortXmitWait is at `address`, or 0 if there is none.
// The registers are in the order in which vendstat prints the ports, from port
// 4 on.
int XmitWaitPort(uint32_t address) {
  const uint32_t offset = address - kXmitWaitRegister;
  if (address < kXmitWaitRegister || offset % kRegisterStep != 0) return 0;
  const auto index = static_cast<int>(offset / kRegisterStep);
  if (index >= 1 && index <= 16) return index + 3;
  if (index >= 17 && index <= 20) return index + 4;
  if (index >= 21 && index <= 24) return index - 20;
  return 0;
}

bool HasMellanoxOui(const Node& node) {
  return std::ranges::find(kMellanoxOuis, node.vendor_id) !=
         std::end(kMellanoxOuis);
}

}  // namespace

LocalVerdict MellanoxAgent::Handle(PortId port, const mad::Arrival& request,
                                   mad::MadBytes& reply) {
  const auto header = wire::Decode<MadHeader>(request.mad);
  const Node& node = subnet_.NodeOf(port);
  if (!HasMellanoxOui(node) ||
      (header.method != Method::kGet && header.method != Method::kSet)) {
    return LocalVerdict::kUnhandled;
  }
  reply = request.mad;
  const MadStatus status =
      Answer(node, header, std::span(reply).subspan(mad::kMellanoxDataOffset));
  wire::Put<&MadHeader::method>(reply, Method::kGetResp);
  wire::Put<&MadHeader::status>(reply, status);
  return LocalVerdict::kReply;
}

MadStatus MellanoxAgent::Answer(const Node& node, const MadHeader& header,
                                std::span<std::byte> data) {
  const bool set = header.method == Method::kSet;
  switch (header.attr_id) {
    case AttributeId::kClassPortInfo:
      if (set) break;
      wire::Encode(mad::ClassPortInfo{}, data);
      return MadStatus::kOk;
    case AttributeId::kMellanoxVendorInfo:
      if (set) break;
      ShowGeneralInfo(node, data);
      return MadStatus::kOk;
    case AttributeId::kMellanoxConfigSpace:
      if (set || node.device_id != kInfiniScale3) break;
      ReadConfigSpace(node, header.attr_mod, data);
      return MadStatus::kOk;
    case AttributeId::kMellanoxCounterGroupInfo:
    case AttributeId::kMellanoxCounterGroups: {
      if (!node.is_switch()) break;
      if (header.attr_mod == 0 || header.attr_mod > node.port_count) {
        return MadStatus::kInvalidField;
      }
      const PortId port =
          subnet_.port_id(node, static_cast<int>(header.attr_mod));
      if (header.attr_id == AttributeId::kMellanoxCounterGroupInfo) {
        if (set) break;
        mad::MellanoxCounterGroupInfo info;
        info.group_count = std::size(kGroupMasks);
        std::ranges::copy(kGroupMasks, info.group_masks.begin());
        wire::Encode(info, data);
        return MadStatus::kOk;
      }
      auto groups = wire::Decode<mad::MellanoxCounterGroups>(data);
      if (set) groups_[port] = groups.group_selects;
      groups.group_selects = groups_[port];
      wire::Encode(groups, data);
      return MadStatus::kOk;
    }
    default:
      break;
  }
  return MadStatus::kUnsupportedAttribute;
}

void MellanoxAgent::ShowGeneralInfo(const Node& node,
                                    std::span<std::byte> data) const {
  mad::MellanoxVendorInfo all;
  mad::MellanoxGeneralInfo& info = all.info;
  info.hardware_revision = static_cast<uint16_t>(node.revision);
  info.device_id = node.device_id;
  info.uptime =
      static_cast<uint32_t>(absl::ToInt64Seconds(timers_.Now() - start_));
  info.firmware_major = kFirmwareMajor;
  info.firmware_minor = kFirmwareMinor;
  info.firmware_sub_minor = static_cast<uint8_t>(kFirmwareSubMinor);
  std::ranges::copy(kPsid, info.psid.begin());
  if (node.device_id != kInfiniScale3) {
    all.firmware_major = kFirmwareMajor;
    all.firmware_minor = kFirmwareMinor;
    all.firmware_sub_minor = kFirmwareSubMinor;
  }
  wire::Encode(all, data);
}

void MellanoxAgent::ReadConfigSpace(const Node& node, uint32_t modifier,
                                    std::span<std::byte> data) const {
  constexpr int kCountShift = 16;
  constexpr uint32_t kCountMask = 0x3f;
  auto space = wire::Decode<mad::MellanoxConfigSpace>(data);
  const size_t count = std::min<size_t>(modifier >> kCountShift & kCountMask,
                                        space.records.size());
  for (mad::MellanoxConfigRecord& record :
       std::span(space.records).first(count)) {
    const int port = XmitWaitPort(record.address);
    record.data = 0;
    if (port == 0 || port > node.port_count) continue;
    record.data = static_cast<uint32_t>(std::min<uint64_t>(
        ReadCounter(subnet_.port(subnet_.port_id(node, port)),
                    Counter::kXmitWait),
        ~uint32_t{0}));
  }
  wire::Encode(space, data);
}

}  // namespace ibemu::fabric
