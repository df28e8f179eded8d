#include "control/rpc.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/did_you_mean.h"
#include "base/version.h"
#include "control/json_text.h"
#include "nlohmann/json.hpp"

namespace ibemu::control {
namespace {

using nlohmann::json;

// JSON-RPC 2.0, section 5.1.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParameters = -32602;
constexpr int kServerError = -32000;

std::string Error(int code, std::string_view message, const json& id,
                  absl::StatusCode status) {
  return Dump({{"jsonrpc", "2.0"},
               {"id", id},
               {"error",
                {{"code", code},
                 {"message", message},
                 {"data", {{"status", static_cast<int>(status)}}}}}});
}

std::string Error(const absl::Status& status, const json& id) {
  const bool caller = status.code() == absl::StatusCode::kInvalidArgument;
  return Error(caller ? kInvalidParameters : kServerError,
               std::string(status.message()), id, status.code());
}

// Requests without an id ask for no response.  An id of another type is a
// fault: echoed, it would let a client choose how deep a response nests.
bool IsId(const json& id) {
  return id.is_string() || id.is_number() || id.is_null();
}

}  // namespace

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

Parameters::Parameters(const json& object) : object_(object) {}

const json* Parameters::Find(std::string_view name) {
  known_.emplace_back(name);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

void Parameters::Fail(std::string_view name, std::string_view rule) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrFormat("parameter \"%s\" must be %s", name, rule));
}

std::string Parameters::Text(std::string_view name,
                             std::string_view otherwise) {
  const json* value = Find(name);
  if (value == nullptr) return std::string(otherwise);
  if (value->is_string()) return value->get<std::string>();
  Fail(name, "a string");
  return std::string(otherwise);
}

std::vector<std::string> Parameters::Texts(std::string_view name) {
  const json* value = Find(name);
  if (value == nullptr) return {};
  const bool fits =
      value->is_array() &&
      std::all_of(value->begin(), value->end(),
                  [](const json& item) { return item.is_string(); });
  if (fits) return value->get<std::vector<std::string>>();
  Fail(name, "an array of strings");
  return {};
}

int64_t Parameters::Number(std::string_view name, int64_t otherwise,
                           int64_t least, int64_t most) {
  const json* value = Find(name);
  if (value == nullptr) return otherwise;
  // An unsigned number beyond int64_t reads as a negative one.
  if (value->is_number_integer()) {
    const auto number = value->get<int64_t>();
    if (number >= least && number <= most) return number;
  }
  Fail(name, absl::StrFormat("a whole number from %d to %d", least, most));
  return otherwise;
}

bool Parameters::Flag(std::string_view name, bool otherwise) {
  const json* value = Find(name);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  Fail(name, "true or false");
  return otherwise;
}

std::vector<json> Parameters::Objects(std::string_view name) {
  const json* value = Find(name);
  if (value == nullptr) return {};
  const bool fits =
      value->is_array() &&
      std::all_of(value->begin(), value->end(),
                  [](const json& item) { return item.is_object(); });
  if (fits) return value->get<std::vector<json>>();
  Fail(name, "an array of objects");
  return {};
}

absl::Status Parameters::Finish() const {
  if (!status_.ok() || !object_.is_object()) return status_;
  for (const auto& [name, value] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    DidYouMean guess(name);
    for (const std::string& known : known_) guess.Offer(known);
    return absl::InvalidArgumentError(
        absl::StrCat("there is no parameter \"", name, "\"", guess.Question()));
  }
  return absl::OkStatus();
}

void MethodTable::Add(std::string_view name, Method method) {
  methods_.emplace(name, std::move(method));
}

std::vector<std::string> MethodTable::names() const {
  std::vector<std::string> names;
  for (const auto& [name, method] : methods_) names.push_back(name);
  return names;
}

absl::StatusOr<json> MethodTable::Call(std::string_view name,
                                       const json& parameters_json,
                                       Caller& caller) const {
  Parameters parameters(parameters_json);
  absl::StatusOr<json> result = methods_.find(name)->second(parameters, caller);
  called_();
  return result;
}

std::string MethodTable::Handle(std::string_view line, Caller& caller) const {
  const absl::StatusOr<json> parsed = ParseJson(line);
  if (!parsed.ok()) {
    return Error(kParseError, std::string(parsed.status().message()), nullptr,
                 parsed.status().code());
  }
  const json& request = *parsed;
  const auto invalid = [](std::string_view rule) {
    return Error(kInvalidRequest, rule, nullptr,
                 absl::StatusCode::kInvalidArgument);
  };
  if (!request.is_object()) return invalid("a request is a JSON object");
  const auto method_name = request.find("method");
  if (method_name == request.end() || !method_name->is_string()) {
    return invalid("a request has a \"method\", a string");
  }
  const auto id = request.find("id");
  if (id != request.end() && !IsId(*id)) {
    return invalid("an \"id\" is a string or a number");
  }
  const json answer_id = id == request.end() ? json() : *id;
  const auto given = request.find("params");
  const json parameters_json = given == request.end() ? json::object() : *given;

  std::string response;
  const auto& name = method_name->get_ref<const std::string&>();
  const auto method = methods_.find(name);
  if (method == methods_.end()) {
    DidYouMean guess(name);
    for (const auto& [known, function] : methods_) guess.Offer(known);
    response = Error(
        kMethodNotFound,
        absl::StrCat(why_missing_, why_missing_.empty() ? "" : ": ",
                     "there is no method \"", name, "\"", guess.Question()),
        answer_id, absl::StatusCode::kUnimplemented);
  } else if (!parameters_json.is_object()) {
    response = Error(kInvalidParameters, "\"params\" is a JSON object",
                     answer_id, absl::StatusCode::kInvalidArgument);
  } else {
    const absl::StatusOr<json> result = Call(name, parameters_json, caller);
    response =
        result.ok()
            ? Dump({{"jsonrpc", "2.0"}, {"id", answer_id}, {"result", *result}})
            : Error(result.status(), answer_id);
  }
  return id == request.end() ? "" : response;
}

std::string RefuseRequest(const absl::Status& status) {
  return Error(status, nullptr);
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
