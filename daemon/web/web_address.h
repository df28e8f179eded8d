// WebAddress: the address on which ibemud's web server listens.
#ifndef IBEMU_DAEMON_WEB_WEB_ADDRESS_H_
#define IBEMU_DAEMON_WEB_WEB_ADDRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace ibemu::daemon {

// A WebAddress is the value of --http.  It is always of the loopback interface,
// for who opens the pages may change the fabric.
struct WebAddress {
  std::string host;   // 127.0.0.1 or ::1
  uint16_t port = 0;  // 0: the kernel chooses

  // "127.0.0.1:8080", "[::1]:8080"
  std::string Text() const;

  // From the same, or from "localhost:8080".
  //
  // Errors: InvalidArgument, naming the rule.
  static absl::StatusOr<WebAddress> Parse(std::string_view text);
};

// Returns whether `host`, the Host header of a request, names this machine.  A
// page of another site whose name was made to point here sends its own name
// (DNS rebinding).
bool IsThisMachine(std::string_view host);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_WEB_ADDRESS_H_
