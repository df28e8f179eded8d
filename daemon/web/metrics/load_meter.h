// LoadMeter: the load of links, measured by their counters.
#ifndef IBEMU_DAEMON_WEB_METRICS_LOAD_METER_H_
#define IBEMU_DAEMON_WEB_METRICS_LOAD_METER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::daemon {

// The load of one link.  `sent` and `received` are bytes per second; `share` is
// the part of its bandwidth that the busier direction uses, from 0 to 1.
struct LinkLoad {
  fabric::PortId port{};  // the end with the lower id
  double sent = 0, received = 0, share = 0;
  double sent_packets = 0, received_packets = 0;  // per second
  uint64_t errors = 0;  // that either end has counted since the last look
};

// A LoadMeter compares the counters of ports with their earlier values.  A
// fabric has up to 200,000 ports, so they are looked at in slices, and only the
// busiest links are reported.
class LoadMeter {
 public:
  static constexpr size_t kSlice = 4096;
  static constexpr size_t kMaxLinks = 2000;

  // Compares the counters of slice `index` with those of its last look; the
  // first look finds nothing.  Returns false if it was the last slice.
  bool Look(const fabric::Subnet& subnet, size_t index, absl::Time now);

  // Returns the links that were found to carry something, or to count errors,
  // since the last call, the busiest first, at most kMaxLinks.
  struct Found {
    std::vector<LinkLoad> links;
    size_t others = 0;  // links beyond kMaxLinks
  };
  Found Take();

 private:
  struct Seen {
    uint64_t sent = 0, received = 0;  // units of 4 bytes
    uint64_t sent_packets = 0, received_packets = 0;
    uint64_t errors = 0;  // of both ends
  };

  std::vector<Seen> seen_;         // by port
  std::vector<absl::Time> times_;  // of the last look, by slice
  std::vector<LinkLoad> loads_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_METRICS_LOAD_METER_H_
