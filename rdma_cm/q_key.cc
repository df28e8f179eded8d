#include "rdma_cm/q_key.h"

namespace ibemu::rdma_cm {
namespace {

constexpr uint32_t kUdpQKey = 0x01234567;  // RDMA_UDP_QKEY

}  // namespace

Refusal QKey::Set(uint32_t value) {
  if (value == 0 || (value_ != 0 && value_ != value)) return Refusal::kInvalid;
  value_ = value;
  return Refusal::kNone;
}

Refusal QKey::SetDefault(PortSpace space, const LocalPort& port) {
  if (value_ != 0) return Refusal::kNone;
  if (space != PortSpace::kIpoib) return Set(kUdpQKey);
  const ipoib::Interface* const interface = port.interface;
  if (interface == nullptr || interface->broadcast_group() == nullptr) {
    return Refusal::kNoSuchAddress;
  }
  value_ = interface->broadcast_group()->q_key;
  return Refusal::kNone;
}

}  // namespace ibemu::rdma_cm
