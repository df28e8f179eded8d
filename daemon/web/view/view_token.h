// What a page must show to look at the fabric and to change it.
#ifndef IBEMU_DAEMON_WEB_VIEW_VIEW_TOKEN_H_
#define IBEMU_DAEMON_WEB_VIEW_VIEW_TOKEN_H_

#include <string>
#include <string_view>

namespace ibemu::daemon {

// 128 random bits, as 32 hexadecimal digits.
std::string MakeViewToken();

// Whether the header "Authorization" holds this token as a bearer's (RFC 6750
// §2.1).  Takes as long for each wrong token of the right length.
bool HasViewToken(std::string_view authorization, std::string_view token);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_VIEW_VIEW_TOKEN_H_
