// The method of the control socket that captures packets.
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

  // Both must outlive this object, which must outlive every Caller that it has
  // served.
  CaptureMethods(Loop& loop, fabric::Fabric& fabric);

  // Adds capture.start: {"ports": ["sw1/3"], "tell_ports": false}, where no
  // ports means all links.  One end of a pair of stream sockets comes with the
  // request.  The other end gets the stream that daemon/capture/capture.h
  // describes, until the caller's connection ends at the latest.
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
