#include "fabric/sa/path_records.h"

#include <optional>
#include <utility>
#include <vector>

#include "fabric/routing/path_rate.h"
#include "fabric/routing/path_walk.h"
#include "fabric/sa/partitions.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/sa_component_mask.h"
#include "mad/wire/sa_paths.h"

namespace ibemu::fabric {
namespace {

using mad::kComponentBit, wire::Lid, mad::MadStatus, mad::MultiPathRecord,
    mad::PathRecord, mad::Selector;

constexpr uint8_t kHopLimitMax = 255;

constexpr uint64_t kMtuBits =
    kComponentBit<&PathRecord::mtu> | kComponentBit<&PathRecord::mtu_selector>;
constexpr uint64_t kRateBits = kComponentBit<&PathRecord::rate> |
                               kComponentBit<&PathRecord::rate_selector>;
constexpr uint64_t kLifeTime =
    kComponentBit<&PathRecord::packet_life_time> |
    kComponentBit<&PathRecord::packet_life_time_selector>;
constexpr uint64_t kService = kComponentBit<&PathRecord::service_id_msb> |
                              kComponentBit<&PathRecord::service_id_lsb>;

// The requirements on each path.
struct Wish {
  PathRecord path;
  uint64_t mask = 0;

  bool Has(uint64_t bits) const { return (mask & bits) == bits; }
};

// Fits an MTU or a life time to a selector, as opensm does: a path may be used
// with a smaller value than its own.  Returns false if that is impossible.
bool FitNumber(Selector selector, uint8_t wanted, uint8_t& value) {
  switch (selector) {
    case Selector::kGreaterThan:
      return value > wanted;
    case Selector::kLessThan:
      if (value >= wanted) value = static_cast<uint8_t>(wanted - 1);
      return wanted > 1;
    case Selector::kExactly:
      if (value < wanted) return false;
      value = wanted;
      return true;
    default:
      return true;
  }
}

// The same for a rate, whose codes are not in order.  Unlike an MTU, a rate is
// not lowered to meet kExactly.
bool FitRate(const Wish& wish, uint8_t& value) {
  if (!wish.Has(kRateBits)) return true;
  const int order = ComparePathRates(value, wish.path.rate);
  switch (wish.path.rate_selector) {
    case Selector::kGreaterThan:
      return order > 0;
    case Selector::kLessThan:
      if (order >= 0) value = SlowerPathRate(wish.path.rate);
      return value != 0;
    case Selector::kExactly:
      return order == 0;
    default:
      return true;
  }
}

// One end of a path as it was requested.
struct End {
  PortId port = kNoPort;
  std::optional<wire::Gid> gid{};  // as in the request, perhaps with an alias
  std::optional<Lid> lid{};        // only this one
};

std::optional<PathRecord> FindPath(const Directory& directory, const Wish& wish,
                                   const End& from, Lid slid, const End& to,
                                   Lid dlid) {
  const Subnet& subnet = directory.subnet();
  const std::optional<Path> path = WalkPath(subnet, from.port, dlid, to.port);
  if (!path) return std::nullopt;
  PathRecord record;
  record.mtu = path->mtu;
  record.rate = path->rate;
  record.packet_life_time = from.port == to.port ? 0 : kPacketLifeTime;
  const bool fits =
      (!wish.Has(kMtuBits) ||
       FitNumber(wish.path.mtu_selector, wish.path.mtu, record.mtu)) &&
      FitRate(wish, record.rate) &&
      (!wish.Has(kLifeTime) ||
       FitNumber(wish.path.packet_life_time_selector,
                 wish.path.packet_life_time, record.packet_life_time));
  if (!fits) return std::nullopt;
  if (from.port == to.port) record.packet_life_time = 0;

  record.reversible = WalkPath(subnet, to.port, slid, from.port).has_value();
  if (wish.Has(kComponentBit<&PathRecord::reversible>) &&
      wish.path.reversible && !record.reversible) {
    return std::nullopt;
  }
  const NodePort& source = subnet.port(from.port);
  const NodePort& destination = subnet.port(to.port);
  record.raw_traffic = wish.Has(kComponentBit<&PathRecord::raw_traffic>) &&
                       wish.path.raw_traffic;
  if (record.raw_traffic) {
    record.p_key = 0;
  } else if (wish.Has(kComponentBit<&PathRecord::p_key>)) {
    if (!ShareThisPKey(source, destination, wish.path.p_key)) {
      return std::nullopt;
    }
    record.p_key = wish.path.p_key;
  } else {
    record.p_key = CommonPKey(source, destination);
    // A limited member's port to itself.
    if (record.p_key == 0) return std::nullopt;
  }
  if (wish.Has(kComponentBit<&PathRecord::sl>)) record.sl = wish.path.sl;
  record.sgid = from.gid.value_or(directory.GidOf(from.port));
  record.dgid = to.gid.value_or(directory.GidOf(to.port));
  record.slid = slid;
  record.dlid = dlid;
  record.mtu_selector = record.rate_selector =
      record.packet_life_time_selector = Selector::kExactly;
  return record;
}

// Returns the range of the LIDs of an end, or the single LID that was
// requested.
std::pair<unsigned, unsigned> LidRange(const Subnet& subnet, const End& end) {
  if (end.lid) {
    const auto lid = static_cast<unsigned>(*end.lid);
    return {lid, lid};
  }
  const mad::PortInfo& info = subnet.port(end.port).info;
  const auto base = static_cast<unsigned>(info.lid);
  return {base, base + (1u << info.lmc) - 1};
}

// Calls `add` for paths between two ports, at most `most`.  Paths between LIDs
// with the same offset come first, because they share the fewest links
// (preference 0), then all others (preference 2).
template <class Add>
void PathsBetween(const Directory& directory, const Wish& wish, const End& from,
                  const End& to, size_t most, Add add) {
  const auto [slid, last_slid] = LidRange(directory.subnet(), from);
  const auto [dlid, last_dlid] = LidRange(directory.subnet(), to);
  const auto visit = [&](unsigned s, unsigned d, uint8_t preference) {
    auto path = FindPath(directory, wish, from, Lid(s), to, Lid(d));
    if (!path) return;
    path->preference = preference;
    add(*path);
    --most;
  };
  for (unsigned i = 0;
       most > 0 && slid + i <= last_slid && dlid + i <= last_dlid; ++i) {
    visit(slid + i, dlid + i, 0);
  }
  for (unsigned s = slid; s <= last_slid; ++s) {
    for (unsigned d = dlid; most > 0 && d <= last_dlid; ++d) {
      if (s - slid != d - dlid) visit(s, d, 2);
    }
  }
}

bool MayReach(const Directory& directory, PortId requester, PortId from,
              PortId to) {
  const Subnet& subnet = directory.subnet();
  const NodePort& who = subnet.port(requester);
  return ShareAPKey(who, subnet.port(from)) &&
         ShareAPKey(who, subnet.port(to)) &&
         ShareAPKey(subnet.port(from), subnet.port(to));
}

// The paths between all pairs of two lists of ends.
class PairScan : public RecordSource {
 public:
  PairScan(const Directory& directory, const SaRequest& request,
           const Wish& wish, std::vector<End> from, std::vector<End> to)
      : directory_(directory),
        requester_(request.requester),
        wish_(wish),
        from_(std::move(from)),
        to_(std::move(to)) {
    if (request.WantsOne()) {
      most_ = 1;
    } else if (wish_.Has(kComponentBit<&PathRecord::num_path>)) {
      most_for_pair_ = wish_.path.num_path;
    }
  }

  // Applies the limit of the request to the total instead of to each pair.
  void LimitTotal() { most_ = std::exchange(most_for_pair_, most_); }

  bool Next(SaRecords& records) override {
    constexpr int kPairsAtOnce = 32;
    for (int i = 0; i < kPairsAtOnce; ++i) {
      if (next_ == from_.size() * to_.size() || most_ == 0) return false;
      const End& from = from_[next_ / to_.size()];
      const End& to = to_[next_ % to_.size()];
      ++next_;
      if (!MayReach(directory_, requester_, from.port, to.port)) continue;
      PathsBetween(directory_, wish_, from, to, std::min(most_, most_for_pair_),
                   [&](const PathRecord& path) {
                     records.Add(path);
                     --most_;
                   });
    }
    return true;
  }

 private:
  const Directory& directory_;
  const PortId requester_;
  const Wish wish_;
  const std::vector<End> from_, to_;
  size_t most_ = SIZE_MAX;
  size_t most_for_pair_ = SIZE_MAX;
  size_t next_ = 0;
};

// Returns the ends with the given GID and LID, or all known ones if both are
// null.  Returns nullopt if there is no such port.
std::optional<std::vector<End>> FindEnds(const Directory& directory,
                                         const wire::Gid* gid, const Lid* lid) {
  std::vector<End> ends;
  if (gid == nullptr && lid == nullptr) {
    for (const PortId port : directory.end_ports()) {
      ends.push_back({.port = port});
    }
    return ends;
  }
  End end;
  if (gid != nullptr) {
    const std::optional<PortId> port = directory.FindGid(*gid);
    if (!port) return std::nullopt;
    end.port = *port;
    end.gid = *gid;
  }
  if (lid != nullptr) {
    const std::optional<PortId> port = directory.FindLid(*lid);
    if (!port || (gid != nullptr && *port != end.port)) return std::nullopt;
    end.port = *port;
    end.lid = *lid;
  }
  ends.push_back(end);
  return ends;
}

Wish WishOf(const SaRequest& request) {
  return {.path = request.Record<PathRecord>(),
          .mask = request.header.component_mask};
}

std::unique_ptr<PairScan> Pairs(const Directory& directory,
                                const SaRequest& request) {
  const Wish wish = WishOf(request);
  const auto if_asked = [&](uint64_t bit, const auto& value) {
    return wish.Has(bit) ? &value : nullptr;
  };
  auto from = FindEnds(
      directory, if_asked(kComponentBit<&PathRecord::sgid>, wish.path.sgid),
      if_asked(kComponentBit<&PathRecord::slid>, wish.path.slid));
  auto to = FindEnds(
      directory, if_asked(kComponentBit<&PathRecord::dgid>, wish.path.dgid),
      if_asked(kComponentBit<&PathRecord::dlid>, wish.path.dlid));
  // As in opensm, a port that does not exist has no paths, which is not an
  // error.
  if (!from) from.emplace();
  if (!to) to.emplace();
  return std::make_unique<PairScan>(directory, request, wish, *std::move(from),
                                    *std::move(to));
}

Wish WishOf(const MultiPathRecord& wanted, uint64_t mask) {
  Wish wish;
  const auto take = [&](uint64_t theirs, uint64_t ours) {
    if ((mask & theirs) == theirs) wish.mask |= ours;
  };
  wish.path.raw_traffic = wanted.raw_traffic;
  take(kComponentBit<&MultiPathRecord::raw_traffic>,
       kComponentBit<&PathRecord::raw_traffic>);
  wish.path.reversible = wanted.reversible;
  take(kComponentBit<&MultiPathRecord::reversible>,
       kComponentBit<&PathRecord::reversible>);
  wish.path.num_path = wanted.num_path;
  take(kComponentBit<&MultiPathRecord::num_path>,
       kComponentBit<&PathRecord::num_path>);
  wish.path.p_key = wanted.p_key;
  take(kComponentBit<&MultiPathRecord::p_key>,
       kComponentBit<&PathRecord::p_key>);
  wish.path.sl = wanted.sl;
  take(kComponentBit<&MultiPathRecord::sl>, kComponentBit<&PathRecord::sl>);
  wish.path.mtu = wanted.mtu;
  wish.path.mtu_selector = wanted.mtu_selector;
  take(kComponentBit<&MultiPathRecord::mtu> |
           kComponentBit<&MultiPathRecord::mtu_selector>,
       kMtuBits);
  wish.path.rate = wanted.rate;
  wish.path.rate_selector = wanted.rate_selector;
  take(kComponentBit<&MultiPathRecord::rate> |
           kComponentBit<&MultiPathRecord::rate_selector>,
       kRateBits);
  wish.path.packet_life_time = wanted.packet_life_time;
  wish.path.packet_life_time_selector = wanted.packet_life_time_selector;
  take(kComponentBit<&MultiPathRecord::packet_life_time> |
           kComponentBit<&MultiPathRecord::packet_life_time_selector>,
       kLifeTime);
  wish.path.service_id_msb = wanted.service_id_msb;
  take(kComponentBit<&MultiPathRecord::service_id_msb>,
       kComponentBit<&PathRecord::service_id_msb>);
  take(kComponentBit<&MultiPathRecord::service_id_lsb>,
       kComponentBit<&PathRecord::service_id_lsb>);
  return wish;
}

MadStatus Check(const Wish& wish) {
  if (wish.Has(kRateBits) && !IsPathRate(wish.path.rate)) {
    return MadStatus::kSaRequestInvalid;
  }
  if (wish.Has(kMtuBits) && !IsPathMtu(wish.path.mtu)) {
    return MadStatus::kSaRequestInvalid;
  }
  const uint64_t service = wish.mask & kService;
  if (service != 0 && service != kService) {
    return MadStatus::kSaInsufficientComponents;
  }
  return MadStatus::kOk;
}

class TraceScan : public RecordSource {
 public:
  TraceScan(const Directory& directory, const SaRequest& request)
      : directory_(directory), pairs_(Pairs(directory, request)) {}

  bool Next(SaRecords& records) override {
    SaRecords paths(mad::kAttributeOffset<PathRecord>);
    const bool more = pairs_->Next(paths);
    if (paths.count() == 0) return more;
    const auto path = wire::Decode<PathRecord>(paths.at(0));
    const auto from = directory_.FindLid(path.slid);
    const auto to = directory_.FindLid(path.dlid);
    std::vector<PathHop> hops;
    if (from && to) {
      WalkPath(directory_.subnet(), *from, path.dlid, *to, &hops);
    }
    for (const PathHop& hop : hops) AddHop(hop, records);
    return false;
  }

 private:
  void AddHop(const PathHop& hop, SaRecords& records) const {
    const Subnet& subnet = directory_.subnet();
    const PortId known = hop.entry != kNoPort ? hop.entry : hop.exit;
    const Node& node = subnet.NodeOf(known);
    mad::TraceRecord record;
    record.gid_prefix = directory_.GidOf(known).prefix;
    record.node_type = static_cast<uint8_t>(node.type);
    record.node_id = static_cast<uint64_t>(node.node_guid);
    record.chassis_id = static_cast<uint64_t>(node.system_image_guid);
    if (hop.entry != kNoPort) {
      record.entry_port_id = subnet.port(hop.entry).GuidAt(0);
      record.entry_port = subnet.port(hop.entry).number;
    }
    if (hop.exit != kNoPort) {
      record.exit_port_id = subnet.port(hop.exit).GuidAt(0);
      record.exit_port = subnet.port(hop.exit).number;
    }
    records.Add(record);
  }

  const Directory& directory_;
  const std::unique_ptr<PairScan> pairs_;
};

}  // namespace

MadStatus CheckPathRequest(const SaRequest& request) {
  return Check(WishOf(request));
}

// As in opensm, both counts are required (§15.2.5.19).
MadStatus CheckMultiPathRequest(const Directory& directory,
                                const SaRequest& request) {
  if (!request.Has(kComponentBit<&MultiPathRecord::sgid_count> |
                   kComponentBit<&MultiPathRecord::dgid_count>)) {
    return MadStatus::kSaInsufficientComponents;
  }
  const auto wanted = request.Record<MultiPathRecord>();
  const size_t count = size_t{wanted.sgid_count} + wanted.dgid_count;
  if (wanted.sgid_count == 0 || wanted.dgid_count == 0 ||
      count > wanted.gids.size()) {
    return MadStatus::kSaRequestInvalid;
  }
  for (size_t i = 0; i < count; ++i) {
    if (!directory.FindGid(wanted.gids[i])) return MadStatus::kSaInvalidGid;
  }
  return Check(WishOf(wanted, request.header.component_mask));
}

std::unique_ptr<RecordSource> PathRecords(const Directory& directory,
                                          const SaRequest& request) {
  return Pairs(directory, request);
}

std::unique_ptr<RecordSource> MultiPathRecords(const Directory& directory,
                                               const SaRequest& request) {
  constexpr uint8_t kMaxPaths = 127;
  const auto wanted = request.Record<MultiPathRecord>();
  std::vector<End> from, to;
  for (size_t i = 0; i < size_t{wanted.sgid_count} + wanted.dgid_count; ++i) {
    (i < wanted.sgid_count ? from : to)
        .push_back({.port = *directory.FindGid(wanted.gids[i]),
                    .gid = wanted.gids[i]});
  }
  Wish wish = WishOf(wanted, request.header.component_mask);
  if (!wish.Has(kComponentBit<&PathRecord::num_path>)) {
    wish.mask |= kComponentBit<&PathRecord::num_path>;
    wish.path.num_path = kMaxPaths;
  }
  auto pairs = std::make_unique<PairScan>(directory, request, wish,
                                          std::move(from), std::move(to));
  pairs->LimitTotal();
  return pairs;
}

std::unique_ptr<RecordSource> TraceRecords(const Directory& directory,
                                           const SaRequest& request) {
  return std::make_unique<TraceScan>(directory, request);
}

bool GroupPath(const SaRequest& request, const mad::McMemberRecord& group,
               PathRecord& path) {
  const PathRecord wanted = request.Record<PathRecord>();
  path = wanted;
  path.dgid = group.mgid;
  path.dlid = group.mlid;
  path.traffic_class = group.traffic_class;
  path.p_key = group.p_key;
  path.sl = group.sl;
  path.flow_label = group.flow_label;
  path.hop_limit = group.hop_limit;
  constexpr uint64_t kOfTheGroup =
      kComponentBit<&PathRecord::dgid> | kComponentBit<&PathRecord::dlid> |
      kComponentBit<&PathRecord::traffic_class> |
      kComponentBit<&PathRecord::p_key> | kComponentBit<&PathRecord::sl> |
      kComponentBit<&PathRecord::flow_label> |
      kComponentBit<&PathRecord::hop_limit>;
  if (!mad::MatchesComponents(wanted, path,
                              request.header.component_mask & kOfTheGroup)) {
    return false;
  }
  constexpr uint8_t kLinkLocal = 2;
  if ((group.mgid.prefix >> 48 & 15) != kLinkLocal) {
    path.hop_limit = kHopLimitMax;
  }
  path.qos_class = 0;
  path.num_path = 1;
  path.mtu = group.mtu;
  path.rate = group.rate;
  path.packet_life_time = group.packet_life_time;
  path.mtu_selector = path.rate_selector = path.packet_life_time_selector =
      Selector::kExactly;
  return true;
}

}  // namespace ibemu::fabric
