#include "ipoib/ethernet/station_table.h"

namespace ibemu::ipoib {

bool StationTable::IsOld(const Station& station) const {
  return timers_.Now() - station.heard >= kAge;
}

void StationTable::Learn(const MacAddress& station, const Place& place) {
  const auto known = stations_.find(station);
  if (known != stations_.end()) {
    known->second = {place, timers_.Now()};
    return;
  }
  if (stations_.size() == kMax) {
    std::erase_if(stations_,
                  [this](const auto& entry) { return IsOld(entry.second); });
  }
  if (stations_.size() == kMax) return;
  stations_[station] = {place, timers_.Now()};
}

const StationTable::Place* StationTable::Find(const MacAddress& station) const {
  const auto known = stations_.find(station);
  if (known == stations_.end() || IsOld(known->second)) return nullptr;
  return &known->second.place;
}

}  // namespace ibemu::ipoib
