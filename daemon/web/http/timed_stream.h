// TimedStream: a stream for either version of the HTTP library.
#ifndef IBEMU_DAEMON_WEB_HTTP_TIMED_STREAM_H_
#define IBEMU_DAEMON_WEB_HTTP_TIMED_STREAM_H_

#include <httplib.h>

#include <ctime>

namespace ibemu::daemon {

// A TimedStream has the one function that a stream of version 0.18 must have
// and one of 0.11 does not know.  It can't be marked as an override, because
// with 0.11 it is none.
class TimedStream : public httplib::Stream {
 public:
  // Milliseconds of use, which count for clients of servers alone.
  time_t duration() const { return 0; }
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_HTTP_TIMED_STREAM_H_
