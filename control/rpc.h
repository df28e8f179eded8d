// JSON-RPC 2.0, as far as one line of text goes: no descriptors, no buffers.
#ifndef IBEMU_CONTROL_RPC_H_
#define IBEMU_CONTROL_RPC_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::control {

// The notification that a daemon sends to each client when it was asked to end.
inline constexpr std::string_view kEndingLine =
    R"({"jsonrpc":"2.0","method":"ending"})";

// The name of the protocol, in a daemon's greeting.
inline constexpr std::string_view kProtocol = "ibemu";
// The greeting, a daemon's first line: `greeting` is what it says beside its
// protocol, version and process.
std::string GreetingLine(nlohmann::json greeting);

// The connection that calls a method.
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

// The parameters of a request, read one by one.  The first fault stays and is
// what Finish() returns; readers give a default from then on.
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

// The methods of the control socket.
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

// The response that says what is wrong with a request that can't be read.
std::string RefuseRequest(const absl::Status& status);

// Returns the result of a response, or its error with code and message.
//
// Errors: Unavailable when `line` is no response.
absl::StatusOr<nlohmann::json> ReadResponse(std::string_view line);

// JSON text on one line; bytes that are not UTF-8 become U+FFFD.
std::string Dump(const nlohmann::json& value);

// The same, indented, and with a line end.
std::string DumpForPeople(const nlohmann::json& value);

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_RPC_H_
