// The lines of JSON-RPC 2.0: greetings, requests, responses, errors.
#ifndef IBEMU_CONTROL_RPC_H_
#define IBEMU_CONTROL_RPC_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

// The codes of errors, JSON-RPC 2.0, section 5.1.
enum class RpcError {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParameters = -32602,
  kServerError = -32000,
};

// The responses to a request with this id.  The second has the code that fits
// the status.
std::string ErrorResponse(RpcError code, std::string_view message,
                          const nlohmann::json& id, absl::StatusCode status);
std::string ErrorResponse(const absl::Status& status, const nlohmann::json& id);
std::string ResultResponse(const nlohmann::json& result,
                           const nlohmann::json& id);

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
