// MethodTable: the methods of the control socket, and who calls them.
#ifndef IBEMU_CONTROL_METHOD_TABLE_H_
#define IBEMU_CONTROL_METHOD_TABLE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "control/parameters.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::control {

// A Caller is the connection that calls a method.
class Caller {
 public:
  virtual ~Caller() = default;

  // The descriptor that came with the request; -1 when none did.
  virtual UniqueFd TakeDescriptor() = 0;

  // The caller's process, as the kernel saw it connect.
  virtual int pid() const = 0;

  // Destroys `thing` when the connection ends.
  virtual void Keep(std::shared_ptr<void> thing) = 0;
};

// A MethodTable is the methods of a control socket.
class MethodTable {
 public:
  using Method = std::function<absl::StatusOr<nlohmann::json>(
      Parameters& parameters, Caller& caller)>;

  void Add(std::string_view name, Method method);
  // Why others have methods that this one has not: what errors begin with.
  void ExplainMissing(std::string why) { why_missing_ = std::move(why); }
  std::vector<std::string> names() const;

  // Calls `called` after each method, before anybody hears its result.
  void AfterEachCall(std::function<void()> called) {
    called_ = std::move(called);
  }

  // Calls a method that was added.
  absl::StatusOr<nlohmann::json> Call(std::string_view name,
                                      const nlohmann::json& parameters,
                                      Caller& caller) const;

  // Carries out the request in `line`.  Returns the response as one line
  // without its newline; empty for a notification.  Whatever `line` holds,
  // there is an answer or silence, never an exception.
  std::string Handle(std::string_view line, Caller& caller) const;

 private:
  std::map<std::string, Method, std::less<>> methods_;
  std::string why_missing_;
  std::function<void()> called_ = [] {};
};

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_METHOD_TABLE_H_
