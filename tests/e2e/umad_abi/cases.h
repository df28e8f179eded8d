// The cases and what they tell.
#ifndef IBEMU_TESTS_E2E_UMAD_ABI_CASES_H_
#define IBEMU_TESTS_E2E_UMAD_ABI_CASES_H_

#include <string>
#include <string_view>
#include <vector>

#include "umad.h"

namespace umad_abi {

// One line of the transcript: "name: observed, observed, ...".
class Line {
 public:
  // Something observed, in words.
  Line& Say(std::string_view what);
  // The result of a system call, with what was tried.
  Line& Say(std::string_view what, long result) {
    return Say(std::string(what) + " " + Outcome(result));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A behaviour of the reference, by its name there.
struct Case {
  std::string_view name;
  void (*run)(Line& line);
};

// One list a file, in the order of the transcript.
std::vector<Case> DeviceCases();
std::vector<Case> RegistrationCases();
std::vector<Case> ReceiveCases();
std::vector<Case> RoutingCases();
std::vector<Case> SendCases();
std::vector<Case> TimeoutCases();
std::vector<Case> DirectedRouteCases();
std::vector<Case> RmppSendCases();
std::vector<Case> RmppReceiveCases();
std::vector<Case> ManyCases();
std::vector<Case> IssmCases();
std::vector<Case> RemovalCases();

}  // namespace umad_abi

#endif  // IBEMU_TESTS_E2E_UMAD_ABI_CASES_H_
