#include "daemon/words/fault_counts.h"

#include "nlohmann/json.hpp"

namespace ibemu::daemon {

using nlohmann::json;

uint64_t FaultPackets(const json& fault, const char* count) {
  uint64_t sum = 0;
  for (const char* const direction : {"tx", "rx"}) {
    if (fault.contains(direction)) {
      sum += fault[direction][count].get<uint64_t>();
    }
  }
  return sum;
}

uint64_t FaultActs(const json& fault) {
  uint64_t acts = fault.value("cuts", uint64_t{0});
  if (fault.contains("acts")) acts += fault["acts"]["acted"].get<uint64_t>();
  for (const char* const count :
       {"lost", "corrupted", "duplicated", "reordered", "delayed"}) {
    acts += FaultPackets(fault, count);
  }
  return acts;
}

}  // namespace ibemu::daemon
