#include "control/method_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/did_you_mean.h"
#include "control/json_text.h"
#include "control/rpc.h"
#include "nlohmann/json.hpp"

namespace ibemu::control {
namespace {

using nlohmann::json;

// Requests without an id ask for no response.  An id of another type is a
// fault: echoed, it would let a client choose how deep a response nests.
bool IsId(const json& id) {
  return id.is_string() || id.is_number() || id.is_null();
}

}  // namespace

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
    return ErrorResponse(RpcError::kParseError,
                         std::string(parsed.status().message()), nullptr,
                         parsed.status().code());
  }
  const json& request = *parsed;
  const auto invalid = [](std::string_view rule) {
    return ErrorResponse(RpcError::kInvalidRequest, rule, nullptr,
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
    response = ErrorResponse(
        RpcError::kMethodNotFound,
        absl::StrCat(why_missing_, why_missing_.empty() ? "" : ": ",
                     "there is no method \"", name, "\"", guess.Question()),
        answer_id, absl::StatusCode::kUnimplemented);
  } else if (!parameters_json.is_object()) {
    response = ErrorResponse(RpcError::kInvalidParameters,
                             "\"params\" is a JSON object", answer_id,
                             absl::StatusCode::kInvalidArgument);
  } else {
    const absl::StatusOr<json> result = Call(name, parameters_json, caller);
    response = result.ok() ? ResultResponse(*result, answer_id)
                           : ErrorResponse(result.status(), answer_id);
  }
  return id == request.end() ? "" : response;
}

}  // namespace ibemu::control
