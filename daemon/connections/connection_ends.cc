#include "daemon/connections/connection_ends.h"

#include "nlohmann/json.hpp"
#include "wire/ip_text.h"

namespace ibemu::daemon {

using nlohmann::json;

std::optional<AdapterId> ConnectionEnds::OwnerOf(
    const rdma_cm::LocalPort& port) const {
  const wire::Gid first = port.port().GidAt(0);
  return table_.adapters().WithPortGuid(wire::Guid{first.interface_id});
}

// A GID that is not the first of its port leads to nobody: the plan may know.
std::optional<AdapterId> ConnectionEnds::PeerOf(const rdma_cm::Id& id) const {
  const wire::Gid& gid = id.remote_gid();
  if (const auto adapter =
          table_.adapters().WithPortGuid(wire::Guid{gid.interface_id})) {
    return adapter;
  }
  const rdma_cm::SocketAddress& peer = id.destination();
  if (peer.family == rdma_cm::Family::kIb) return std::nullopt;
  const auto port = table_.plan().PortWith(peer.ip);
  if (!port) return std::nullopt;
  return port->adapter;
}

json ConnectionEnds::NameOf(std::optional<AdapterId> adapter) const {
  if (!adapter) return nullptr;
  return table_.adapters().description(*adapter);
}

json ConnectionEnds::Local(const rdma_cm::Id& id) const {
  const auto owner = id.port() ? OwnerOf(*id.port()) : std::nullopt;
  return {{"node", NameOf(owner)},
          {"address", AddressOf(id.source())},
          {"port", id.source().port()}};
}

json ConnectionEnds::Remote(const rdma_cm::Id& id) const {
  return {{"node", NameOf(PeerOf(id))},
          {"address", AddressOf(id.destination())},
          {"port", id.destination().port()}};
}

bool ConnectionEnds::PeerIsHere(const rdma_cm::Id& id) const {
  const std::optional<AdapterId> peer = PeerOf(id);
  return peer && table_.Find(*peer) != nullptr;
}

uint64_t ServiceIdOf(const rdma_cm::Id& id) {
  const bool is_own =
      id.was_asked() || id.state() == rdma_cm::Id::State::kListen;
  return id.ServiceIdOf(is_own ? id.source() : id.destination());
}

std::string AddressOf(const rdma_cm::SocketAddress& address) {
  return address.family == rdma_cm::Family::kIb ? wire::GidText(address.gid)
                                                : AddressText(address.ip);
}

}  // namespace ibemu::daemon
