// TimedStream: a stream of whichever version of the HTTP library.
#ifndef IBEMU_DAEMON_WEB_HTTP_TIMED_STREAM_H_
#define IBEMU_DAEMON_WEB_HTTP_TIMED_STREAM_H_

#include <httplib.h>

#include <ctime>

namespace ibemu::daemon {

// A TimedStream has what version 0.18 asks of a stream and 0.11 does not know,
// so that it can't be called an override.
class TimedStream : public httplib::Stream {
 public:
  // Milliseconds of use, which count for clients of servers alone.
  time_t duration() const { return 0; }
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_HTTP_TIMED_STREAM_H_
