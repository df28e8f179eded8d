#include "sysfs/cm_counters.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "sysfs/entries.h"
#include "sysfs/live.h"

namespace ibemu::sysfs {
namespace {

using Group = uint64_t (cm::CmCounters::*)[cm::CmCounters::kMessages];

constexpr struct {
  std::string_view name;
  Group counters;
} kGroups[] = {
    {"cm_tx_msgs", &cm::CmCounters::tx_msgs},
    {"cm_tx_retries", &cm::CmCounters::tx_retries},
    {"cm_rx_msgs", &cm::CmCounters::rx_msgs},
    {"cm_rx_duplicates", &cm::CmCounters::rx_duplicates},
};

// In the order of cm::CmCounters.
constexpr std::string_view kMessages[cm::CmCounters::kMessages] = {
    "req",  "mra",      "rej",      "rep", "rtu", "dreq",
    "drep", "sidr_req", "sidr_rep", "lap", "apr"};

}  // namespace

void AddCmCounters(Entry& directory, const View& view, const ViewDevice& device,
                   int number) {
  for (const auto& group : kGroups) {
    Entry& files = Directory(directory, group.name);
    for (size_t message = 0; message < std::size(kMessages); ++message) {
      AddLive(files, kMessages[message], device,
              [&host = *device.host, number, read = view.cm_counters,
               counters = group.counters,
               message]() -> absl::StatusOr<std::string> {
                const cm::CmCounters all =
                    read ? read(host, number) : cm::CmCounters();
                return absl::StrCat((all.*counters)[message]);
              });
    }
  }
}

}  // namespace ibemu::sysfs
