// The description of an adapter that is driven by MMIO, for `ibemu status` and
// for the page of --http.
#ifndef IBEMU_DAEMON_ADAPTERS_HCA_STATUS_H_
#define IBEMU_DAEMON_ADAPTERS_HCA_STATUS_H_

#include <string>

#include "hca/driver/driven_adapter.h"
#include "mad/wire/port_info.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// One adapter, as HcaAdapters shows it.
struct HcaView {
  const std::string& name;  // as on the command line
  hca::DrivenAdapter& device;
  bool alive;  // if false, its users have been told
};

// Returns the description of an adapter:
//
// {"adapter": "0000:3b:00.0", "device": "ConnectX-3 (15b3:1003)",
//  "board_id": "MT_1100120019", "firmware": "2.42.5000", "hardware": "0",
//  "node": "host-1", "node_guid": "0x...", "alive": true, "error": null,
//  "ports": [{"port": 1, "guid": "0x...", "state": "active",
//             "physical_state": "linkup", "lid": 1, "sm_lid": 1,
//             "rate": "4xFDR"}]}
//
// "error" is the reason why it takes no more commands.  It may be set up to a
// second before "alive" becomes false.
nlohmann::json DescribeHca(const HcaView& adapter);

// Returns the PortInfo of port `number`.  A port of a dead adapter is down,
// whatever its last known state was.
mad::PortInfo InfoOf(const HcaView& adapter, int number);

// Returns the GUID of port `number`, which is in its GID 0.
wire::Guid PortGuidOf(const HcaView& adapter, int number);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADAPTERS_HCA_STATUS_H_
