#include "daemon/web/metrics/verbs_metrics.h"

#include <cstdint>
#include <map>
#include <string>

#include "cuse/uverbs/uverbs_file.h"
#include "daemon/words/port_text.h"
#include "mad/host.h"
#include "verbs/uverbs/context_objects.h"

namespace ibemu::daemon {
namespace {

using prometheus::MetricType;

// The sums of one host.
struct HostSums {
  std::string node;
  uint64_t contexts = 0;
  std::map<std::string, uint64_t> objects;
  std::map<std::string, uint64_t> queue_pairs;  // by state
  uint64_t registered_bytes = 0, waiting_completions = 0, posted_receives = 0;
  uint64_t group_members = 0;
};

// A sum of each host.
struct Gauge {
  const char* name;
  const char* help;
  uint64_t HostSums::*sum;
};

constexpr Gauge kGauges[] = {
    {"ibemu_verbs_contexts", "Devices that programs have open by verbs",
     &HostSums::contexts},
    {"ibemu_verbs_registered_bytes", "Length of all memory regions",
     &HostSums::registered_bytes},
    {"ibemu_verbs_waiting_completions",
     "Completions that programs have not polled",
     &HostSums::waiting_completions},
    {"ibemu_verbs_shared_receives", "Requests in shared receive queues",
     &HostSums::posted_receives},
    {"ibemu_verbs_multicast_members",
     "Queue pairs in multicast groups, each once for each of its groups",
     &HostSums::group_members},
};

void AddObjects(const verbs::ContextObjects& objects, HostSums& sums) {
  sums.objects["pd"] += objects.pds.size();
  sums.objects["mr"] += objects.mrs.size();
  sums.objects["ah"] += objects.ahs.size();
  sums.objects["cq"] += objects.cqs.size();
  sums.objects["srq"] += objects.srqs.size();
  sums.objects["qp"] += objects.qps.size();
  objects.mrs.ForEach([&](uint32_t, const verbs::MrObject& mr) {
    sums.registered_bytes += mr.init.length;
  });
  objects.cqs.ForEach([&](uint32_t, const verbs::CqObject& cq) {
    sums.waiting_completions += cq.cq->waiting();
  });
  objects.qps.ForEach([&](uint32_t, const verbs::QpObject& qp) {
    const auto state = static_cast<verbs::QpState>(qp.qp->Query().qp_state);
    ++sums.queue_pairs[std::string(verbs::NameOf(state))];
    sums.group_members += qp.groups.size();
  });
  objects.srqs.ForEach([&](uint32_t, const verbs::SrqObject& srq) {
    sums.posted_receives += srq.srq->posted();
  });
}

// Adds the sums of one map, by its key.
void AddSums(MetricFamilies& families, const char* name, const char* help,
             const char* label, std::map<std::string, uint64_t> HostSums::*sums,
             const std::map<std::string, HostSums>& hosts) {
  auto& family =
      families.emplace_back(MakeFamily(name, help, MetricType::Gauge));
  for (const auto& [guid, host] : hosts) {
    for (const auto& [key, count] : host.*sums) {
      AddSample(family, static_cast<double>(count),
                {{"node", host.node}, {"guid", guid}, {label, key}});
    }
  }
}

// By the text of the node GUID.
std::map<std::string, HostSums> SumsOf(const cuse::UverbsFiles& files) {
  std::map<std::string, HostSums> hosts;
  for (const auto& [number, file] : files.all()) {
    const mad::Device& device = file->host().device();
    HostSums& sums = hosts[GuidText(device.node_guid())];
    sums.node = device.node_description();
    ++sums.contexts;
    AddObjects(file->context().objects(), sums);
  }
  return hosts;
}

}  // namespace

MetricFamilies VerbsMetrics(const cuse::UverbsFiles& files) {
  if (files.all().empty()) return {};
  const std::map<std::string, HostSums> hosts = SumsOf(files);
  MetricFamilies families;
  for (const Gauge& gauge : kGauges) {
    auto& family = families.emplace_back(
        MakeFamily(gauge.name, gauge.help, MetricType::Gauge));
    for (const auto& [guid, host] : hosts) {
      AddSample(family, static_cast<double>(host.*gauge.sum),
                {{"node", host.node}, {"guid", guid}});
    }
  }
  AddSums(families, "ibemu_verbs_objects",
          "What programs have made by verbs, by its type", "type",
          &HostSums::objects, hosts);
  AddSums(families, "ibemu_verbs_queue_pairs", "Queue pairs, by their state",
          "state", &HostSums::queue_pairs, hosts);
  return families;
}

}  // namespace ibemu::daemon
