// HostCapture: a capture of the MADs that a host sends and receives.
#ifndef IBEMU_DAEMON_CAPTURE_HOST_CAPTURE_H_
#define IBEMU_DAEMON_CAPTURE_HOST_CAPTURE_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "base/unique_fd.h"
#include "daemon/adapters/host_table.h"
#include "daemon/capture/capture_stream.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A HostCapture sends each MAD that a mad::Snooper of the host's ports sees, as
// the packet that carries it.  It changes nothing for the host, which may come
// and go during the capture.
class HostCapture final : private HostTable::Watcher {
 public:
  // `loop` and `hosts` must outlive this object.
  HostCapture(Loop& loop, HostTable& hosts, AdapterId adapter, UniqueFd socket,
              CaptureStream::Options options);
  HostCapture(const HostCapture&) = delete;
  HostCapture& operator=(const HostCapture&) = delete;
  ~HostCapture();

  absl::Status Start();

 private:
  class PortSnooper;

  void OnHost(AdapterId adapter, mad::Host& host) override;
  void StopListening();

  HostTable& hosts_;
  const AdapterId adapter_;
  CaptureStream stream_;
  std::vector<std::unique_ptr<PortSnooper>> snoopers_;
  bool listening_ = false;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_HOST_CAPTURE_H_
