// How busy links are.
#ifndef IBEMU_DAEMON_WEB_METRICS_LOAD_METER_H_
#define IBEMU_DAEMON_WEB_METRICS_LOAD_METER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::daemon {

// Of a link, by the end that comes first.  Bytes in a second, and what the
// busier direction takes of what the link can carry: 1 is all.
struct LinkLoad {
  fabric::PortId port{};
  double sent = 0, received = 0, share = 0;
};

// Differences of what ports count.  A fabric has up to 200,000 ports, so one
// looks at a slice after the other, and only the busiest links are told.
class LoadMeter {
 public:
  static constexpr size_t kSlice = 4096;
  static constexpr size_t kMaxLinks = 2000;

  // Compares the ports of slice `index` with what they had counted when it was
  // looked at before; the first look finds nothing.  False: it was the last.
  bool Look(const fabric::Subnet& subnet, size_t index, absl::Time now);

  // What the slices had since the last call: the links that carried something,
  // the busiest first, at most kMaxLinks.
  struct Found {
    std::vector<LinkLoad> links;
    size_t others = 0;  // that carried something, too
  };
  Found Take();

 private:
  struct Seen {
    uint64_t sent = 0, received = 0;  // units of 4 bytes
  };

  std::vector<Seen> seen_;         // by port
  std::vector<absl::Time> times_;  // of the last look, by slice
  std::vector<LinkLoad> loads_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_METRICS_LOAD_METER_H_
