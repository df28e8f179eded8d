#include "topology/formats/spec/spec_addresses.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/did_you_mean.h"
#include "wire/ip_text.h"

namespace ibemu::topology {

void SpecAddresses::Take(const std::vector<PortAddresses>& base, Place at) {
  for (const PortAddresses& port : base) {
    for (const wire::IpNetwork& network : port.networks) {
      all_.push_back({at, static_cast<size_t>(port.node), port.port,
                      NetworkText(network)});
    }
  }
}

void SpecAddresses::Read(const SpecValue& root) {
  const SpecEntry* const addresses = root.Find("addresses");
  if (addresses == nullptr) return;
  if (addresses->value.kind != SpecValue::Kind::kMap) {
    return checks_.BadValue(*addresses,
                            "it is a map, as in {node-1: 10.1.0.1/16}");
  }
  for (const SpecEntry& entry : addresses->value.entries) ReadPort(entry);
}

void SpecAddresses::ReadPort(const SpecEntry& entry) {
  const std::optional<Port> port = Find(entry);
  if (!port) return;
  std::erase_if(all_, [&port](const SpecAddress& address) {
    return Port(address.node, address.port) == *port;
  });
  const auto add = [&](const SpecValue& value) {
    if (value.kind == SpecValue::Kind::kScalar) {
      all_.push_back({value.at, port->first, port->second, value.text});
    } else {
      checks_.BadValue(entry, "it is an address or a list of them");
    }
  };
  if (entry.value.kind != SpecValue::Kind::kList) return add(entry.value);
  for (const SpecValue& item : entry.value.items) add(item);
}

std::optional<SpecAddresses::Port> SpecAddresses::Find(const SpecEntry& entry) {
  if (const auto node = draft_.Find(entry.key)) return Port(*node, 1);
  const size_t slash = entry.key.rfind('/');
  int port = 0;
  std::string name = entry.key.substr(0, slash);
  if (slash != entry.key.npos &&
      absl::SimpleAtoi(entry.key.substr(slash + 1), &port)) {
    if (const auto node = draft_.Find(name)) return Port(*node, port);
  } else {
    name = entry.key;
  }
  DidYouMean names(name);
  for (const SpecNode& known : draft_.nodes()) {
    names.Offer(known.spec.name);
    names.Offer(known.spec.description);
  }
  checks_.Fault(entry.at, absl::StrCat("no node is named \"", name, "\"",
                                       names.Question()));
  return std::nullopt;
}

}  // namespace ibemu::topology
