// The seam between uverbs objects and the adapter behind them.
#ifndef IBEMU_VERBS_PROVIDER_H_
#define IBEMU_VERBS_PROVIDER_H_

#include <rdma/ib_user_verbs.h>

#include "absl/status/statusor.h"

namespace ibemu::verbs {

// What QUERY_DEVICE and QUERY_PORT say, reserved bytes zero; GUIDs are in
// network order.
using DeviceAttributes = ib_uverbs_query_device_resp;
using PortAttributes = ib_uverbs_query_port_resp;

// One adapter, as its Linux driver would offer it to the InfiniBand core
// (struct ib_device_ops; "InfiniBand core software", OLS 2005, §5).  A back end
// (fabric/, hca/) implements it.  Everything runs on the loop thread.
class Provider {
 public:
  virtual ~Provider() = default;

  virtual DeviceAttributes QueryDevice() const = 0;

  // Errors: InvalidArgument, no such port.
  virtual absl::StatusOr<PortAttributes> QueryPort(int port) const = 0;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PROVIDER_H_
