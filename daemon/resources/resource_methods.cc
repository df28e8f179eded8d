#include "daemon/resources/resource_methods.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "cuse/uverbs/uverbs_file.h"
#include "daemon/words/port_text.h"
#include "mad/host.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

// A place in the list is the number of a file and a handle of 32 bits.
constexpr int kHandleBits = 32;

}  // namespace

void ResourceMethods::AddTo(control::MethodTable& dispatcher) {
  constexpr std::pair<std::string_view, Lister> kMethods[] = {
      {"cq.list", ListCqs},
      {"mr.list", ListMrs},
      {"srq.list", ListSrqs},
      {"mcast.list", ListGroups},
  };
  for (const auto& [name, list] : kMethods) {
    dispatcher.Add(name, [this, list = list](control::Parameters& parameters,
                                             control::Caller&) {
      return List(list, parameters);
    });
  }
}

absl::StatusOr<json> ResourceMethods::List(
    Lister list, control::Parameters& parameters) const {
  const std::string name = parameters.Text("node", "");
  const auto from = static_cast<uint64_t>(
      parameters.Number("from", 0, 0, std::numeric_limits<int64_t>::max()));
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  std::vector<std::shared_ptr<const mad::Host>> wanted;
  if (!name.empty()) {
    IBEMU_ASSIGN_OR_RETURN(const std::vector<AdapterId> adapters,
                           hosts_.adapters().FindHost(name));
    for (const AdapterId adapter : adapters) {
      wanted.push_back(hosts_.Find(adapter));
    }
  }
  json items = json::array();
  uint64_t last = 0, next = 0;  // that has room, that has none
  auto file = files_.all().lower_bound(from >> kHandleBits);
  for (; file != files_.all().end() && next == 0; ++file) {
    const cuse::UverbsFile& open = *file->second;
    mad::Host& host = open.host();
    if (!name.empty() && std::ranges::none_of(wanted, [&host](const auto& one) {
          return one.get() == &host;
        })) {
      continue;
    }
    list(open.context(), [&](uint32_t handle, json item) {
      const uint64_t place = file->first << kHandleBits | handle;
      if (place < from || next != 0) return;
      // All of one handle, or none.
      if (items.size() >= kPage && place != last) {
        next = place;
        return;
      }
      last = place;
      item["node"] = host.device().node_description();
      item["guid"] = GuidText(host.device().node_guid());
      item["pid"] = open.context().process();
      items.push_back(std::move(item));
    });
  }
  return json{{"items", std::move(items)},
              {"next", next == 0 ? json() : json(next)}};
}

}  // namespace ibemu::daemon
