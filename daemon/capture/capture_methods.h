// The control socket's method that captures packets.
#ifndef IBEMU_DAEMON_CAPTURE_CAPTURE_METHODS_H_
#define IBEMU_DAEMON_CAPTURE_CAPTURE_METHODS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "control/rpc.h"
#include "daemon/capture/capture.h"
#include "fabric/fabric.h"
#include "loop/loop.h"

namespace ibemu::daemon {

class CaptureMethods {
 public:
  static constexpr size_t kMaxCaptures = 8;

  // Both must outlive this, and every Caller that it served.
  CaptureMethods(Loop& loop, fabric::Fabric& fabric);

  // Adds capture.start: {"ports": ["sw1/3"]}, none for all, and with it one end
  // of a pair of stream sockets.  The other end gets what
  // daemon/capture/capture.h says, at most as long as the caller's connection
  // is open.
  void AddTo(control::Dispatcher& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Start(control::Parameters& parameters,
                                       control::Caller& caller);

  Loop& loop_;
  fabric::Fabric& fabric_;
  std::vector<std::weak_ptr<Capture>> captures_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_CAPTURE_METHODS_H_
