#include "rdma_cm/port_binding.h"

#include <algorithm>

namespace ibemu::rdma_cm {

Outcome<PortBinding> PortBinding::Make(
    PortClaim claim, const std::vector<std::shared_ptr<Adapter>>& adapters,
    PortChooser& chooser) {
  if (claim.address.port() == 0) {
    const uint16_t port = chooser.Choose([&claim, &adapters](uint16_t number) {
      PortClaim with = claim;
      with.address.SetPort(number);
      return std::ranges::all_of(adapters, [&with](const auto& adapter) {
        return adapter->services().ports().MayGive(with);
      });
    });
    if (port == 0) return Refusal::kNoSuchAddress;
    claim.address.SetPort(port);
  } else {
    for (const std::shared_ptr<Adapter>& adapter : adapters) {
      const Refusal refusal = adapter->services().ports().Check(claim);
      if (refusal != Refusal::kNone) return refusal;
    }
  }
  PortBinding binding(claim);
  for (const std::shared_ptr<Adapter>& adapter : adapters) {
    binding.claimed_.push_back(
        {adapter, adapter->services().ports().Add(binding.claim_)});
  }
  return binding;
}

void PortBinding::SetAddress(const SocketAddress& address) {
  claim_.address = address;
  for (const Claimed& claimed : claimed_) claimed.place->claim() = claim_;
}

void PortBinding::SetOptions(bool reuse_address, bool only_family) {
  claim_.reuse_address = reuse_address;
  claim_.only_family = only_family;
  for (const Claimed& claimed : claimed_) claimed.place->claim() = claim_;
}

Refusal PortBinding::CheckAlone() const {
  PortClaim alone = claim_;
  alone.reuse_address = false;
  for (const Claimed& claimed : claimed_) {
    const Refusal refusal =
        claimed.adapter->services().ports().Check(alone, claimed.place.get());
    if (refusal != Refusal::kNone) return refusal;
  }
  return Refusal::kNone;
}

void PortBinding::Extend(const std::shared_ptr<Adapter>& adapter) {
  PortTable& ports = adapter->services().ports();
  if (ports.Check(claim_) != Refusal::kNone) return;
  claimed_.push_back({adapter, ports.Add(claim_)});
}

void PortBinding::Shrink(const std::shared_ptr<Adapter>& adapter) {
  std::erase_if(claimed_, [&adapter](const Claimed& claimed) {
    return claimed.adapter == adapter;
  });
}

}  // namespace ibemu::rdma_cm
