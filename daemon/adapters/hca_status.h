// What `ibemu status` and the page of --http tell of an adapter by MMIO.
#ifndef IBEMU_DAEMON_ADAPTERS_HCA_STATUS_H_
#define IBEMU_DAEMON_ADAPTERS_HCA_STATUS_H_

#include <string>

#include "hca/driver/device.h"
#include "mad/wire/port_info.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

struct HcaView {
  const std::string& name;  // the command line's
  hca::Device& device;
  bool alive;  // else its users have been told
};

// {"adapter": "0000:3b:00.0", "device": "ConnectX-3 (15b3:1003)",
//  "board_id": "MT_1100120019", "firmware": "2.42.5000", "hardware": "0",
//  "node": "host-1", "node_guid": "0x...", "alive": true, "error": null,
//  "ports": [{"port": 1, "guid": "0x...", "state": "active",
//             "physical_state": "linkup", "lid": 1, "sm_lid": 1,
//             "rate": "4xFDR"}]}
//
// "error" says why it takes no commands any more, which may be a second before
// it is not alive.
nlohmann::json DescribeHca(const HcaView& adapter);

// Of port `number`: that of a dead adapter is down, whatever was heard last.
mad::PortInfo InfoOf(const HcaView& adapter, int number);

// Of port `number`, from its GID 0.
wire::Guid PortGuidOf(const HcaView& adapter, int number);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADAPTERS_HCA_STATUS_H_
