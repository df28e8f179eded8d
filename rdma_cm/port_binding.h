// PortBinding: the port of an id, in the tables of all hosts that it is for.
#ifndef IBEMU_RDMA_CM_PORT_BINDING_H_
#define IBEMU_RDMA_CM_PORT_BINDING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "rdma_cm/host/adapter.h"
#include "rdma_cm/host/port_table.h"
#include "rdma_cm/values/outcome.h"

namespace ibemu::rdma_cm {

// A PortChooser chooses the port of an id that asks for none: net.ipv4's
// ip_local_port_range, and never the same twice running.
class PortChooser {
 public:
  explicit PortChooser(Random random) : random_(random) {}

  static constexpr uint16_t kFirst = 32768;
  static constexpr uint16_t kLast = 60999;

  // Returns a port for which may_give(port) holds, or 0.
  template <class MayGive>
  uint16_t Choose(MayGive&& may_give) {
    constexpr uint64_t kCount = kLast - kFirst + 1;
    const uint64_t start = random_.Below(kCount);
    for (uint64_t i = 0; i < kCount; ++i) {
      const auto port = static_cast<uint16_t>(kFirst + (start + i) % kCount);
      if (port != last_ && may_give(port)) return last_ = port;
    }
    return 0;
  }

 private:
  Random random_;
  uint16_t last_ = 0;
};

// A PortBinding holds the same claim in the table of each adapter that it was
// given.
class PortBinding {
 public:
  // Claims the address' port, or one of the chooser's if that is 0.
  // Errors: kNoSuchAddress, kAddressInUse.
  static Outcome<PortBinding> Make(
      PortClaim claim, const std::vector<std::shared_ptr<Adapter>>& adapters,
      PortChooser& chooser);

  const PortClaim& claim() const { return claim_; }

  // Change what others have to fit in with.
  void SetAddress(const SocketAddress& address);
  void SetOptions(bool reuse_address, bool only_family);

  // Whether nobody shares the port by reuse_address.
  Refusal CheckAlone() const;

  // Claims the port of an adapter that came later, unless somebody has it.
  void Extend(const std::shared_ptr<Adapter>& adapter);
  // Gives up the claim at an adapter that was removed.
  void Shrink(const std::shared_ptr<Adapter>& adapter);

 private:
  struct Claimed {
    std::shared_ptr<Adapter> adapter;
    std::unique_ptr<PortTable::Place> place;
  };

  explicit PortBinding(const PortClaim& claim) : claim_(claim) {}

  PortClaim claim_;
  std::vector<Claimed> claimed_;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_PORT_BINDING_H_
