// Tells, case by case, what the umad and issm devices of this machine do.
// umad0 and umad1 must be cabled to each other and ACTIVE.
//
//   umad_abi [CASE...]    all cases, or those whose names begin so
//
// UMAD_ABI_REMOVE and UMAD_ABI_ADD are shell commands that take umad1's adapter
// out and put it back; without them the cases of removal are left out.
#include <cstdio>
#include <string_view>

#include "cases.h"

namespace umad_abi {
namespace {

bool IsWanted(std::string_view name, int count, char** prefixes) {
  for (int i = 1; i < count; ++i) {
    if (name.starts_with(prefixes[i])) return true;
  }
  return count < 2;
}

}  // namespace

Line& Line::Say(std::string_view what) {
  if (!text_.empty()) text_ += ", ";
  text_ += what;
  return *this;
}

}  // namespace umad_abi

int main(int argc, char** argv) {
  using namespace umad_abi;
  for (const auto cases :
       {DeviceCases, RegistrationCases, ReceiveCases, RoutingCases, SendCases,
        TimeoutCases, DirectedRouteCases, RmppSendCases, RmppReceiveCases,
        ManyCases, IssmCases, RemovalCases}) {
    for (const Case& one : cases()) {
      if (!IsWanted(one.name, argc, argv)) continue;
      Line line;
      Settle();
      one.run(line);
      std::printf("%.*s: %s\n", static_cast<int>(one.name.size()),
                  one.name.data(), line.text().c_str());
      std::fflush(stdout);
    }
  }
  return 0;
}
