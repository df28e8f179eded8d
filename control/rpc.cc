#include "control/rpc.h"

#include <unistd.h>

#include <utility>

#include "base/version.h"
#include "control/json_text.h"
#include "nlohmann/json.hpp"

namespace ibemu::control {

using nlohmann::json;

std::string GreetingLine(json greeting) {
  greeting["protocol"] = kProtocol;
  greeting["version"] = Version();
  greeting["pid"] = getpid();
  return Dump({{"jsonrpc", "2.0"},
               {"method", "greeting"},
               {"params", std::move(greeting)}});
}

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string DumpForPeople(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string ErrorResponse(RpcError code, std::string_view message,
                          const json& id, absl::StatusCode status) {
  return Dump({{"jsonrpc", "2.0"},
               {"id", id},
               {"error",
                {{"code", static_cast<int>(code)},
                 {"message", message},
                 {"data", {{"status", static_cast<int>(status)}}}}}});
}

std::string ErrorResponse(const absl::Status& status, const json& id) {
  const bool caller = status.code() == absl::StatusCode::kInvalidArgument;
  return ErrorResponse(
      caller ? RpcError::kInvalidParameters : RpcError::kServerError,
      std::string(status.message()), id, status.code());
}

std::string RefuseRequest(const absl::Status& status) {
  return ErrorResponse(status, nullptr);
}

std::string ResultResponse(const json& result, const json& id) {
  return Dump({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

absl::StatusOr<json> ReadResponse(std::string_view line) {
  const absl::Status foreign = absl::UnavailableError(
      "the daemon's answer is no JSON-RPC response: is it another program?");
  absl::StatusOr<json> response = ParseJson(line);
  if (!response.ok() || !response->is_object()) return foreign;
  if (const auto result = response->find("result"); result != response->end()) {
    return std::move(*result);
  }
  const auto error = response->find("error");
  if (error == response->end() || !error->is_object()) return foreign;
  const json data = error->value("data", json());
  const json status = data.is_object() ? data.value("status", json()) : json();
  const json message = error->value("message", json());
  if (!status.is_number_integer() || !message.is_string()) return foreign;
  const auto code = status.get<int64_t>();
  if (code < static_cast<int64_t>(absl::StatusCode::kCancelled) ||
      code > static_cast<int64_t>(absl::StatusCode::kUnauthenticated)) {
    return foreign;
  }
  return absl::Status(static_cast<absl::StatusCode>(code),
                      message.get<std::string>());
}

}  // namespace ibemu::control
