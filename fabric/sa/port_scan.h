// PortScan: the source of the records of ports, of all of them or of those with
// one LID.
#ifndef IBEMU_FABRIC_SA_PORT_SCAN_H_
#define IBEMU_FABRIC_SA_PORT_SCAN_H_

#include <algorithm>
#include <cstddef>
#include <memory>

#include "fabric/sa/directory.h"
#include "fabric/sa/partitions.h"
#include "fabric/sa/sa_request.h"
#include "mad/wire/sa_component_mask.h"

namespace ibemu::fabric {

// The arguments of a function that produces records for a port.
template <class T>
struct PortQuery {
  const Directory& directory;
  const Subnet& subnet;
  const Node& node;
  const NodePort& port;
  wire::Lid lid;  // base LID of the end port
  const T& wanted;
  uint64_t mask;
  uint32_t modifier;
  bool trusted;
  SaRecords& records;

  bool Asks(uint64_t component) const { return (mask & component) != 0; }
  // Adds `record` if it fits the request.  `ignored`: components that are
  // compared on switches only, as in opensm.
  void Offer(const T& record, uint64_t ignored = 0) const {
    if (mad::MatchesComponents(wanted, record, mask & ~ignored)) {
      records.Add(record);
    }
  }
};

// A source of records that calls kProduce(PortQuery) for each port that is
// known and in a partition of the requester; on a channel adapter only for
// ports with a LID.
template <class T, auto kProduce>
class PortScan : public RecordSource {
 public:
  PortScan(const Directory& directory, const SaRequest& request)
      : directory_(directory),
        subnet_(directory.subnet()),
        requester_(request.requester),
        modifier_(request.header.mad.attr_mod),
        trusted_(request.trusted),
        wanted_(request.Record<T>()),
        mask_(request.header.component_mask),
        end_(subnet_.ports().size()) {
    if constexpr (requires { wanted_.lid; }) {
      if (!request.Has(mad::kComponentBit<&T::lid>)) return;
      const std::optional<PortId> owner = directory.FindLid(wanted_.lid);
      if (!owner) {
        end_ = 0;
        return;
      }
      // Any LID of a port stands for its base LID.
      wanted_.lid = directory.LidOf(*owner);
      const Node& node = subnet_.NodeOf(*owner);
      next_ = static_cast<size_t>(*owner);
      end_ = next_ + (node.is_switch() ? size_t{node.port_count} + 1 : 1);
    }
  }

  bool Next(SaRecords& records) override {
    constexpr size_t kPortsAtOnce = 64;
    const size_t end = std::min(next_ + kPortsAtOnce, end_);
    for (; next_ < end; ++next_) {
      const NodePort& port = subnet_.ports()[next_];
      const PortId end_port = subnet_.management_port(subnet_.id_of(port));
      if (!directory_.Knows(end_port) ||
          !ShareAPKey(subnet_.port(requester_), port)) {
        continue;
      }
      kProduce(PortQuery<T>{.directory = directory_,
                            .subnet = subnet_,
                            .node = subnet_.node(port.node),
                            .port = port,
                            .lid = directory_.LidOf(end_port),
                            .wanted = wanted_,
                            .mask = mask_,
                            .modifier = modifier_,
                            .trusted = trusted_,
                            .records = records});
    }
    return next_ < end_;
  }

 private:
  const Directory& directory_;
  const Subnet& subnet_;
  const PortId requester_;
  const uint32_t modifier_;
  const bool trusted_;
  T wanted_;
  const uint64_t mask_;
  size_t next_ = 0;
  size_t end_;
};

// Returns true for port 0 of a switch, for records that describe whole
// switches.
template <class T>
bool IsSwitchPort0(const PortQuery<T>& query) {
  return query.node.is_switch() && query.port.number == 0;
}

// Returns the source of the records that kProduce makes of ports.
template <class T, auto kProduce>
std::unique_ptr<RecordSource> Scan(const Directory& directory,
                                   const SaRequest& request) {
  return std::make_unique<PortScan<T, kProduce>>(directory, request);
}

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_PORT_SCAN_H_
