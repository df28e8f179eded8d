#include "daemon/web/metrics/load_meter.h"

#include <algorithm>
#include <utility>

#include "daemon/subnet/port_errors.h"
#include "fabric/routing/path_rate.h"

namespace ibemu::daemon {
namespace {

// The unit of LinkBandwidth(), 100 Mb/s.
constexpr double kBytesPerSecond = 1e8 / 8;
constexpr double kBytesPerWord = 4;  // the counters' unit

// Counters only grow; whatever else they do is no load.
uint64_t Growth(uint64_t before, uint64_t now) {
  return now > before ? now - before : 0;
}

}  // namespace

bool LoadMeter::Look(const fabric::Subnet& subnet, size_t index,
                     absl::Time now) {
  const auto ports = subnet.ports();
  seen_.resize(ports.size());
  times_.resize(ports.size() / kSlice + 1, absl::InfinitePast());
  const double seconds = absl::ToDoubleSeconds(now - times_[index]);
  const bool first = times_[index] == absl::InfinitePast();
  times_[index] = now;
  const size_t end = std::min(ports.size(), (index + 1) * kSlice);
  for (size_t i = index * kSlice; i < end; ++i) {
    const fabric::NodePort& port = ports[i];
    const fabric::PortId id{static_cast<uint32_t>(i)};
    if (port.peer == fabric::kNoPort || id > port.peer) continue;
    const Seen counted{
        .sent = port.traffic.xmit_data,
        .received = port.traffic.rcv_data,
        .sent_packets = port.traffic.xmit_packets,
        .received_packets = port.traffic.rcv_packets,
        .errors = SumOfErrors(port) + SumOfErrors(subnet.port(port.peer))};
    const Seen before = std::exchange(seen_[i], counted);
    if (first || seconds <= 0) continue;
    const uint64_t sent = Growth(before.sent, counted.sent);
    const uint64_t received = Growth(before.received, counted.received);
    const uint64_t errors = Growth(before.errors, counted.errors);
    if (sent == 0 && received == 0 && errors == 0) continue;
    const auto rate = [seconds](uint64_t count) {
      return static_cast<double>(count) / seconds;
    };
    LinkLoad load{
        .port = id,
        .sent = rate(sent) * kBytesPerWord,
        .received = rate(received) * kBytesPerWord,
        .sent_packets = rate(Growth(before.sent_packets, counted.sent_packets)),
        .received_packets =
            rate(Growth(before.received_packets, counted.received_packets)),
        .errors = errors};
    const double limit = fabric::LinkBandwidth(port.info) * kBytesPerSecond;
    load.share = limit > 0 ? std::max(load.sent, load.received) / limit : 0;
    loads_.push_back(load);
  }
  return end < ports.size();
}

LoadMeter::Found LoadMeter::Take() {
  Found found{.links = std::exchange(loads_, {})};
  // Links that are as busy keep one order, so that a page does not flicker.
  const auto busier = [](const LinkLoad& a, const LinkLoad& b) {
    return std::pair(b.share, a.port) < std::pair(a.share, b.port);
  };
  if (found.links.size() > kMaxLinks) {
    found.others = found.links.size() - kMaxLinks;
    std::ranges::nth_element(found.links, found.links.begin() + kMaxLinks,
                             busier);
    found.links.resize(kMaxLinks);
  }
  std::ranges::sort(found.links, busier);
  return found;
}

}  // namespace ibemu::daemon
