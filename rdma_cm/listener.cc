#include "rdma_cm/listener.h"

#include <algorithm>
#include <utility>

namespace ibemu::rdma_cm {
namespace {

// Whether the address may be that of a host on one of the interface's networks.
bool IsNeighbour(const ipoib::Interface& interface,
                 const wire::IpAddress& address) {
  if (address.IsUnspecified() || address.IsLoopback() ||
      address.IsMulticast()) {
    return false;
  }
  return std::ranges::any_of(interface.addresses(),
                             [&address](const wire::IpNetwork& network) {
                               return network.Contains(address);
                             });
}

// Returns true if the request came to the interface, which is that of its port
// and partition, and from a neighbour.
bool CameBy(const ipoib::Interface* interface, const cm::Arrived& arrived,
            const RequestAddresses& addresses) {
  return interface != nullptr && interface->up() &&
         (arrived.sidr || interface->gid() == arrived.local_gid) &&
         !addresses.destination.IsLoopback() &&
         IsNeighbour(*interface, addresses.source);
}

}  // namespace

class Listener::Part final : public ServiceListener {
 public:
  Part(Listener& listener, std::shared_ptr<Adapter> adapter)
      : listener_(listener),
        adapter_(std::move(adapter)),
        listed_(adapter_->ids(), listener.id_) {}

  // Returns false if it can't listen there.
  bool Start() {
    entry_ = adapter_->services().Add(listener_.terms_.service_id,
                                      static_cast<ServiceListener&>(*this));
    return entry_ != nullptr;
  }

  const std::shared_ptr<Adapter>& adapter() const { return adapter_; }

  bool IsFor(const cm::Arrived& arrived) const override {
    return listener_.IsFor(*adapter_, arrived,
                           RequestAddresses::Read(arrived.private_data));
  }

  void OnRequest(std::unique_ptr<cm::CmId> id,
                 const cm::Arrived& arrived) override {
    listener_.take_(adapter_, std::move(id), arrived,
                    RequestAddresses::Read(arrived.private_data));
  }

 private:
  Listener& listener_;
  const std::shared_ptr<Adapter> adapter_;
  const IdTable::Entry listed_;
  std::unique_ptr<ServiceTable::Entry> entry_;
};

Listener::Listener(const Id& id, Terms terms, Take take)
    : id_(id), terms_(terms), take_(std::move(take)) {}
Listener::~Listener() = default;

Refusal Listener::Add(const std::shared_ptr<Adapter>& adapter) {
  if (parts_.emplace_back(*this, adapter).Start()) return Refusal::kNone;
  parts_.pop_back();
  return Refusal::kAddressInUse;
}

void Listener::Remove(const std::shared_ptr<Adapter>& adapter) {
  parts_.remove_if(
      [&adapter](const Part& part) { return part.adapter() == adapter; });
}

bool Listener::IsFor(Adapter& adapter, const cm::Arrived& arrived,
                     const RequestAddresses& addresses) const {
  const auto type = arrived.sidr ? verbs::QpType::kUd : arrived.request.qp_type;
  if (terms_.qp_type != 0 && terms_.qp_type != static_cast<uint8_t>(type)) {
    return false;
  }
  if (terms_.port != 0 && terms_.port != arrived.port) return false;
  const bool is_ib = terms_.address.family == Family::kIb;
  switch (addresses.kind) {
    case RequestAddresses::Kind::kInvalid:
      return false;
    case RequestAddresses::Kind::kIb:
      return is_ib;
    case RequestAddresses::Kind::kIp:
      break;
  }
  const ipoib::Interface* const interface =
      adapter.interface(arrived.port, arrived.pkey, addresses.destination);
  if (!CameBy(interface, arrived, addresses)) return false;
  const bool any = terms_.address.IsWildcard();
  if (is_ib || (any && !terms_.only_family)) return true;
  if (terms_.address.ip.version != addresses.destination.version) return false;
  // Bound to an address is bound to its interface (cma_match_net_dev()).
  return any ||
         (terms_.address.ip == addresses.destination &&
          wire::IsOwnAddress(addresses.destination, interface->addresses()));
}

}  // namespace ibemu::rdma_cm
