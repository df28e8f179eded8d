// The method of the control socket that captures packets.
#ifndef IBEMU_DAEMON_CAPTURE_CAPTURE_METHODS_H_
#define IBEMU_DAEMON_CAPTURE_CAPTURE_METHODS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "control/method_table.h"
#include "daemon/adapters/host_table.h"
#include "daemon/capture/link_capture.h"
#include "fabric/fabric.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A CaptureMethods has capture.start, of links or of the MADs of one host.
// kMaxCaptures may run at a time.
class CaptureMethods {
 public:
  static constexpr size_t kMaxCaptures = 8;

  // All must outlive this object, which must outlive every Caller that it has
  // served.  `fabric` is null if there are no links.
  CaptureMethods(Loop& loop, HostTable& hosts, fabric::Fabric* fabric)
      : loop_(loop), hosts_(hosts), fabric_(fabric) {}

  // Adds capture.start: {"ports": ["sw1/3"], "tell_ports": false}, where no
  // ports means all links, or {"host": "node-1", "tell_ports": false}.  One end
  // of a pair of stream sockets comes with the request.  The other end gets the
  // stream that daemon/capture/capture_stream.h describes, until the caller's
  // connection ends at the latest.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Start(control::Parameters& parameters,
                                       control::Caller& caller);
  absl::StatusOr<AdapterId> FindHost(const std::string& name) const;
  absl::StatusOr<LinkCapture::Ports> FindPorts(
      const std::vector<std::string>& names) const;
  // Starts `capture`, which lasts as long as the caller's connection.
  template <class Capture>
  absl::Status Keep(std::shared_ptr<Capture> capture, control::Caller& caller);

  Loop& loop_;
  HostTable& hosts_;
  fabric::Fabric* const fabric_;
  std::vector<std::weak_ptr<void>> captures_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_CAPTURE_METHODS_H_
