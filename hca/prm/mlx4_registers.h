// Registers of the mlx4 family (ConnectX to ConnectX-3).  BAR 0 holds the
// device's control registers, BAR 2 a page of doorbells (UAR) for each user.
// All are big-endian dwords.  Offsets as in the Linux driver (mlx4/cmd.c,
// reset.c, eq.c; include/linux/mlx4/doorbell.h).
#ifndef IBEMU_HCA_PRM_MLX4_REGISTERS_H_
#define IBEMU_HCA_PRM_MLX4_REGISTERS_H_

#include <cstddef>
#include <cstdint>

namespace ibemu::hca::prm {

inline constexpr uint16_t kMellanoxVendor = 0x15b3;
inline constexpr uint16_t kConnectX3 = 0x1003;

inline constexpr int kControlBar = 0;
inline constexpr int kUarBar = 2;

// The command register, HCR (hca_command_register in the PRM).
inline constexpr size_t kHcr = 0x80680;
inline constexpr size_t kHcrInParam = 0x00;  // 64 bits
inline constexpr size_t kHcrInModifier = 0x08;
inline constexpr size_t kHcrOutParam = 0x0c;  // 64 bits
inline constexpr size_t kHcrToken = 0x14;     // in bits 31:16
inline constexpr size_t kHcrStatus = 0x18;
inline constexpr size_t kHcrBytes = 0x1c;
// Bits of the dword at kHcrStatus.  The status is in bits 31:24.
inline constexpr uint32_t kHcrGo = 1u << 23;     // hardware owns the HCR
inline constexpr uint32_t kHcrEvent = 1u << 22;  // report the end by an event
inline constexpr uint32_t kHcrToggle =
    1u << 21;  // returned when the command is done
inline constexpr int kHcrStatusShift = 24;
inline constexpr int kHcrOpModifierShift = 12;
inline constexpr uint32_t kHcrOpcodeMask = 0xfff;

// The owner semaphore.  A reader that gets 0 owns the function, and gives it up
// by writing 0.
inline constexpr size_t kOwner = 0x8069c;

// Registers of the software reset: take the semaphore (it reads 0), write
// kResetValue, wait 1 s.
inline constexpr size_t kReset = 0xf0010;
inline constexpr uint32_t kResetValue = 1;
inline constexpr size_t kResetSemaphore = 0xf03fc;

// Doorbells in a UAR page.
inline constexpr size_t kUarPageSize = 4096;
inline constexpr size_t kSendDoorbell = 0x14;  // queue pair << 8
inline constexpr size_t kCqDoorbell = 0x20;    // 64 bits: CqDoorbell
// The doorbell of EQ n is in page n / 4, at kEqDoorbell + 8 * (n % 4).  Its
// value is kEqArm | consumer index.
inline constexpr size_t kEqDoorbell = 0x800;
inline constexpr int kEqsPerUar = 4;
inline constexpr uint32_t kEqArm = 1u << 31;
inline constexpr uint32_t kEqIndexMask = 0xffffff;
// The bits that the consumer and producer indices of a CQ have in its doorbells
// and its context.
inline constexpr uint32_t kCqIndexMask = 0xffffff;

// A mailbox is aligned to 256 bytes and has 4,096.
inline constexpr uint64_t kMailboxAlignment = 256;
inline constexpr size_t kMailboxBytes = 4096;

// The adapter's memory in the host's (ICM) comes in pages of 4 KiB.
inline constexpr int kIcmPageShift = 12;
inline constexpr uint64_t kIcmPageBytes = uint64_t{1} << kIcmPageShift;

}  // namespace ibemu::hca::prm

#endif  // IBEMU_HCA_PRM_MLX4_REGISTERS_H_
