#include "cli/run/explanation.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "control/client.h"
#include "control/rpc.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

absl::StatusOr<json> Ask(control::Client& client, const std::string& host) {
  return client.Call("queue_pair.why", {{"node", host}});
}

}  // namespace

absl::StatusOr<Explanation> Explanation::Begin(const std::string& socket,
                                               std::vector<std::string> hosts) {
  Explanation explanation(socket, std::move(hosts));
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(socket));
  for (const std::string& host : explanation.hosts_) {
    IBEMU_ASSIGN_OR_RETURN(const json answer, Ask(client, host));
    explanation.begin_ns_ = answer["now_ns"].get<int64_t>();
  }
  return explanation;
}

std::string Explanation::Text() const {
  absl::StatusOr<control::Client> client = control::Client::Connect(socket_);
  if (!client.ok()) return "";
  std::string text;
  size_t failures = 0;
  for (const std::string& host : hosts_) {
    const absl::StatusOr<json> answer = Ask(*client, host);
    if (!answer.ok()) continue;
    for (const json& queue_pair : (*answer)["queue_pairs"]) {
      if (queue_pair["why"].is_null() ||
          queue_pair["failed_ns"].get<int64_t>() < begin_ns_) {
        continue;
      }
      if (++failures > kMost) continue;
      absl::StrAppend(
          &text, "ibemu run: ", queue_pair["why"].get<std::string>(), "\n");
    }
  }
  if (failures > kMost) {
    absl::StrAppend(&text, "ibemu run: and ", failures - kMost,
                    " more queue pairs in which work requests failed\n");
  }
  return text;
}

}  // namespace ibemu::cli
