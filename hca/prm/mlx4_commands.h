// Commands of the mlx4 family and their status.  Numbers as in the Linux driver
// (include/linux/mlx4/cmd.h, mlx4/cmd.c).
#ifndef IBEMU_HCA_PRM_MLX4_COMMANDS_H_
#define IBEMU_HCA_PRM_MLX4_COMMANDS_H_

#include <cstdint>
#include <string_view>

namespace ibemu::hca::prm {

// The opcode of a firmware command.
enum class Opcode : uint16_t {
  // Bring-up.
  kQueryDevCap = 0x003,
  kQueryFw = 0x004,
  kQueryAdapter = 0x006,
  kInitHca = 0x007,
  kCloseHca = 0x008,
  kInitPort = 0x009,
  kClosePort = 0x00a,
  kQueryHca = 0x00b,
  kSetPort = 0x00c,
  kModStatCfg = 0x034,
  kQueryPort = 0x043,
  kSensePort = 0x04d,
  kRunFw = 0xff6,
  kUnmapIcm = 0xff9,
  kMapIcm = 0xffa,
  kUnmapIcmAux = 0xffb,
  kMapIcmAux = 0xffc,
  kSetIcmSize = 0xffd,
  kUnmapFa = 0xffe,
  kMapFa = 0xfff,
  // Protection and translation.
  kSw2HwMpt = 0x00d,
  kQueryMpt = 0x00e,
  kHw2SwMpt = 0x00f,
  kReadMtt = 0x010,
  kWriteMtt = 0x011,
  kSyncTpt = 0x02f,
  // Event queues.
  kMapEq = 0x012,
  kSw2HwEq = 0x013,
  kHw2SwEq = 0x014,
  kQueryEq = 0x015,
  // Completion queues.
  kSw2HwCq = 0x016,
  kHw2SwCq = 0x017,
  kQueryCq = 0x018,
  kModifyCq = 0x02c,
  // Shared receive queues.
  kSw2HwSrq = 0x035,
  kHw2SwSrq = 0x036,
  kQuerySrq = 0x037,
  kArmSrq = 0x040,
  // Queue pairs.
  kRst2InitQp = 0x019,
  kInit2RtrQp = 0x01a,
  kRtr2RtsQp = 0x01b,
  kRts2RtsQp = 0x01c,
  kSqErr2RtsQp = 0x01d,
  k2ErrQp = 0x01e,
  kRts2SqdQp = 0x01f,
  kSqd2RtsQp = 0x020,
  k2RstQp = 0x021,
  kQueryQp = 0x022,
  kInit2InitQp = 0x02d,
  kSqd2SqdQp = 0x038,
  // Management.
  kConfSpecialQp = 0x023,
  kMadIfc = 0x024,
  kReadMcg = 0x025,
  kWriteMcg = 0x026,
  kMgidHash = 0x027,
  kDiagRprt = 0x030,
  kMadDemux = 0x203,
  kNop = 0x031,
};

// Returns the name in the PRM; "?" for a number that has none.
std::string_view Name(Opcode opcode);

// The status with which firmware ends a command (CMD_STAT_*).
enum class CommandStatus : uint8_t {
  kOk = 0x00,
  kInternalError = 0x01,
  kBadOp = 0x02,        // unknown opcode or opcode modifier
  kBadParam = 0x03,     // or parameter out of range
  kBadSysState = 0x04,  // the adapter's state does not allow it
  kBadResource = 0x05,  // reserved, or not allocated
  kResourceBusy = 0x06,
  kExceedLimit = 0x08,
  kBadResourceState = 0x09,  // or bad ownership
  kBadIndex = 0x0a,
  kBadNvmem = 0x0b,
  kIcmError = 0x0c,  // memory not mapped
  kBadQpState = 0x10,
  kBadSegmentParam = 0x20,
  kRegionBound = 0x21,
  kNoLocalMemory = 0x22,
  kBadPacket = 0x30,  // a MAD that is silently dropped
  kBadSize = 0x40,
  kMultiFunctionRequired = 0x50,
};

std::string_view Name(CommandStatus status);

// Input modifier of MAD_IFC: port | receiving LID << 16.
inline constexpr uint32_t kMadIfcPortMask = 0xff;
inline constexpr int kMadIfcLidShift = 16;
// Bits of MAD_IFC's opcode modifier.
inline constexpr uint8_t kMadIfcIgnoreMKey = 1;
inline constexpr uint8_t kMadIfcIgnoreBKey = 2;
// A MadIfcExtension, which tells how the request arrived, follows the request.
inline constexpr uint8_t kMadIfcExtended = 4;
inline constexpr uint8_t kMadIfcNetworkView = 8;

// MAD_DEMUX: the MADs that firmware takes for itself.  The opcode modifier asks
// for those that it does not leave to its host, the input modifier for those of
// the subnet management class.
inline constexpr uint8_t kMadDemuxQueryRestrictions = 2;
inline constexpr uint32_t kMadDemuxSubnet = 1;

// Input modifier of MAP_EQ: EQ | kMapEqUnmap.
inline constexpr uint32_t kMapEqUnmap = 1u << 31;

// Input modifier of NOP: answer as soon as possible.
inline constexpr uint32_t kNopNow = 0x1f;

// Opcode modifier of HW2SW_*: no context is returned.
inline constexpr uint8_t kNoOutbox = 1;
// Opcode modifier of 2RST_QP: valid in any state; no context is returned
// (mlx4/qp.c).
inline constexpr uint8_t kFromAnyState = 2;

}  // namespace ibemu::hca::prm

#endif  // IBEMU_HCA_PRM_MLX4_COMMANDS_H_
