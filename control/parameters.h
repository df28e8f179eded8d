// Parameters: those of a request on the control socket.
#ifndef IBEMU_CONTROL_PARAMETERS_H_
#define IBEMU_CONTROL_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::control {

// Parameters are those of a request, read one by one.  The first fault stays
// and is what Finish() returns; readers give a default from then on.
class Parameters {
 public:
  explicit Parameters(const nlohmann::json& object);

  std::string Text(std::string_view name, std::string_view otherwise);
  std::vector<std::string> Texts(std::string_view name);
  int64_t Number(std::string_view name, int64_t otherwise, int64_t least,
                 int64_t most);
  bool Flag(std::string_view name, bool otherwise);
  std::vector<nlohmann::json> Objects(std::string_view name);

  // Errors: InvalidArgument, also for a parameter that nobody asked for.
  absl::Status Finish() const;

 private:
  const nlohmann::json* Find(std::string_view name);
  void Fail(std::string_view name, std::string_view rule);

  const nlohmann::json& object_;
  std::vector<std::string> known_;
  absl::Status status_;
};

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_PARAMETERS_H_
