// StationTable: the queue pairs behind which the stations of an Ethernet are.
#ifndef IBEMU_IPOIB_ETHERNET_STATION_TABLE_H_
#define IBEMU_IPOIB_ETHERNET_STATION_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "absl/time/time.h"
#include "base/timers.h"
#include "ipoib/wire/ethernet_header.h"

namespace ibemu::ipoib {

// A StationTable is what a bridge learns from the frames that it sees.
class StationTable {
 public:
  static constexpr size_t kMax = 1024;
  static constexpr absl::Duration kAge = absl::Seconds(300);

  // Where the frames of a station came from.
  struct Place {
    uint16_t lid = 0;
    uint8_t sl = 0;
    uint8_t path_bits = 0;  // of the port here
    uint32_t qpn = 0;

    bool operator==(const Place&) const = default;
  };
  struct Station {
    Place place;
    absl::Time heard;  // when it sent last
  };

  // `timers` must outlive this.
  explicit StationTable(Timers& timers) : timers_(timers) {}

  // A frame of `station` came from `place`.  If the table is full it learns
  // nothing of a new one.
  void Learn(const MacAddress& station, const Place& place);

  // Returns where a station is; null if that is not known, or was kAge ago.
  const Place* Find(const MacAddress& station) const;

  void Forget() { stations_.clear(); }

  // Those that were heard of, also longer ago.
  const std::map<MacAddress, Station>& stations() const { return stations_; }

 private:
  bool IsOld(const Station& station) const;

  Timers& timers_;
  std::map<MacAddress, Station> stations_;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_ETHERNET_STATION_TABLE_H_
