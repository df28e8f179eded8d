#include "sysfs/counters.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "mad/wire/port_counters.h"
#include "sysfs/live.h"
#include "sysfs/local_mad.h"

namespace ibemu::sysfs {
namespace {

using mad::PortCounters, mad::PortCountersExtended;

struct Counter {
  std::string_view name;
  mad::AttributeId attribute;
  uint64_t (*read)(const mad::MadBytes&);
};

// The widths are those of the attribute, so sysfs shows the values at which
// PortCounters saturates.
template <class Attribute, auto kMember>
constexpr Counter Of(std::string_view name) {
  return {name, Attribute::kId, [](const mad::MadBytes& reply) -> uint64_t {
            return wire::Get<kMember>(
                std::span(reply).subspan(mad::kPerfDataOffset));
          }};
}

constexpr Counter kErrors[] = {
    Of<PortCounters, &PortCounters::symbol_error_counter>("symbol_error"),
    Of<PortCounters, &PortCounters::link_error_recovery_counter>(
        "link_error_recovery"),
    Of<PortCounters, &PortCounters::link_downed_counter>("link_downed"),
    Of<PortCounters, &PortCounters::port_rcv_errors>("port_rcv_errors"),
    Of<PortCounters, &PortCounters::port_rcv_remote_physical_errors>(
        "port_rcv_remote_physical_errors"),
    Of<PortCounters, &PortCounters::port_rcv_switch_relay_errors>(
        "port_rcv_switch_relay_errors"),
    Of<PortCounters, &PortCounters::port_xmit_discards>("port_xmit_discards"),
    Of<PortCounters, &PortCounters::port_xmit_constraint_errors>(
        "port_xmit_constraint_errors"),
    Of<PortCounters, &PortCounters::port_rcv_constraint_errors>(
        "port_rcv_constraint_errors"),
    Of<PortCounters, &PortCounters::local_link_integrity_errors>(
        "local_link_integrity_errors"),
    Of<PortCounters, &PortCounters::excessive_buffer_overrun_errors>(
        "excessive_buffer_overrun_errors"),
    Of<PortCounters, &PortCounters::vl15_dropped>("VL15_dropped"),
    Of<PortCounters, &PortCounters::port_xmit_wait>("port_xmit_wait"),
};

constexpr Counter kTraffic[] = {
    Of<PortCounters, &PortCounters::port_xmit_data>("port_xmit_data"),
    Of<PortCounters, &PortCounters::port_rcv_data>("port_rcv_data"),
    Of<PortCounters, &PortCounters::port_xmit_pkts>("port_xmit_packets"),
    Of<PortCounters, &PortCounters::port_rcv_pkts>("port_rcv_packets"),
};

constexpr Counter kExtendedTraffic[] = {
    Of<PortCountersExtended, &PortCountersExtended::port_xmit_data>(
        "port_xmit_data"),
    Of<PortCountersExtended, &PortCountersExtended::port_rcv_data>(
        "port_rcv_data"),
    Of<PortCountersExtended, &PortCountersExtended::port_xmit_pkts>(
        "port_xmit_packets"),
    Of<PortCountersExtended, &PortCountersExtended::port_rcv_pkts>(
        "port_rcv_packets"),
    Of<PortCountersExtended, &PortCountersExtended::port_unicast_xmit_pkts>(
        "unicast_xmit_packets"),
    Of<PortCountersExtended, &PortCountersExtended::port_unicast_rcv_pkts>(
        "unicast_rcv_packets"),
    Of<PortCountersExtended, &PortCountersExtended::port_multicast_xmit_pkts>(
        "multicast_xmit_packets"),
    Of<PortCountersExtended, &PortCountersExtended::port_multicast_rcv_pkts>(
        "multicast_rcv_packets"),
};

}  // namespace

void AddCounters(Entry& directory, const ViewDevice& device, int number) {
  mad::Port& port = device.host->device().port(number);
  const auto add = [&](const Counter& counter) {
    AddLive(directory, counter.name, device,
            [&port, &counter, number]() -> absl::StatusOr<std::string> {
              const absl::StatusOr<mad::MadBytes> reply =
                  GetPerformance(port, number, counter.attribute);
              if (!reply.ok()) return reply.status();
              return absl::StrCat(counter.read(*reply));
            });
  };

  const bool extended =
      GetPerformance(port, number, PortCountersExtended::kId).ok();
  for (const Counter& counter : kErrors) add(counter);
  if (extended) {
    for (const Counter& counter : kExtendedTraffic) add(counter);
  } else {
    for (const Counter& counter : kTraffic) add(counter);
  }
}

}  // namespace ibemu::sysfs
