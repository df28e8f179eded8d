#include "daemon/resources/resource_methods.h"

#include <algorithm>
#include <cstdint>
#include <limits>
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

// A place in the list is the number of a file and a place in its context.
constexpr int kPlaceBits = 32;

// A Page takes the objects of one answer.
class Page final : public ResourceTaker {
 public:
  explicit Page(uint64_t from) : from_(from) {}

  // What follows is of this file.
  void Begin(uint64_t number, const cuse::UverbsFile& file) {
    number_ = number;
    file_ = &file;
  }
  bool full() const { return next_ != 0; }
  json Answer() && {
    return {{"items", std::move(items_)},
            {"next", full() ? json(next_) : json()}};
  }

 private:
  bool Wants(uint32_t place) override {
    const uint64_t here = number_ << kPlaceBits | place;
    if (here < from_ || full()) return false;
    if (items_.size() < ResourceMethods::kPage) return true;
    next_ = here;
    return false;
  }
  void Take(json item) override {
    const mad::Device& device = file_->host().device();
    item["node"] = device.node_description();
    item["guid"] = GuidText(device.node_guid());
    item["pid"] = file_->context().process();
    items_.push_back(std::move(item));
  }

  const uint64_t from_;
  uint64_t next_ = 0;  // the first place that has no room; 0: all have
  uint64_t number_ = 0;
  const cuse::UverbsFile* file_ = nullptr;
  json items_ = json::array();
};

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
  std::vector<const mad::Device*> wanted;
  if (!name.empty()) {
    IBEMU_ASSIGN_OR_RETURN(const std::vector<AdapterId> found,
                           adapters_.FindHost(name));
    for (const AdapterId one : found) wanted.push_back(&adapters_.device(one));
  }
  const auto is_wanted = [&](const cuse::UverbsFile& file) {
    return name.empty() ||
           std::ranges::find(wanted, &file.host().device()) != wanted.end();
  };
  Page page(from);
  for (auto file = files_.all().lower_bound(from >> kPlaceBits);
       file != files_.all().end() && !page.full(); ++file) {
    if (!is_wanted(*file->second)) continue;
    page.Begin(file->first, *file->second);
    list(file->second->context(), page);
  }
  return std::move(page).Answer();
}

}  // namespace ibemu::daemon
