// Lines of the control socket, whatever they hold: an answer or silence, and
// the answer is one line of JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "daemon/rpc.h"
#include "nlohmann/json.hpp"

namespace {

using ibemu::UniqueFd;
using ibemu::daemon::Caller;
using ibemu::daemon::Dispatcher;
using ibemu::daemon::Parameters;

class NobodyInParticular : public Caller {
 public:
  UniqueFd TakeDescriptor() override { return UniqueFd(); }
  int pid() const override { return 1; }
  void Keep(std::shared_ptr<void>) override {}
};

Dispatcher MakeDispatcher() {
  Dispatcher dispatcher;
  dispatcher.Add(
      "echo",
      [](Parameters& parameters, Caller&) -> absl::StatusOr<nlohmann::json> {
        nlohmann::json result = {
            {"text", parameters.Text("text", "")},
            {"texts", parameters.Texts("texts")},
            {"number", parameters.Number("number", 0, -5, 5)},
            {"flag", parameters.Flag("flag", false)}};
        const absl::Status status = parameters.Finish();
        if (!status.ok()) return status;
        return result;
      });
  return dispatcher;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Dispatcher dispatcher = MakeDispatcher();
  NobodyInParticular caller;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const std::string answer = dispatcher.Handle(line, caller);
  if (answer.find('\n') != std::string::npos) std::abort();
  if (!answer.empty() && !nlohmann::json::accept(answer)) std::abort();
  ibemu::daemon::ReadResponse(line).status().IgnoreError();
  return 0;
}
