// The token that gives a page access to the fabric.
#ifndef IBEMU_DAEMON_WEB_VIEW_VIEW_TOKEN_H_
#define IBEMU_DAEMON_WEB_VIEW_VIEW_TOKEN_H_

#include <string>
#include <string_view>

namespace ibemu::daemon {

// 128 random bits, as 32 hexadecimal digits.
std::string MakeViewToken();

// Returns whether the header "Authorization" holds this token as a bearer's
// (RFC 6750 §2.1).  All wrong tokens of the right length take the same time.
bool HasViewToken(std::string_view authorization, std::string_view token);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_VIEW_VIEW_TOKEN_H_
