#include "daemon/fabric_backend.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "daemon/addresses/load_addresses.h"
#include "daemon/draw_seed.h"
#include "daemon/journal/restore_subnet.h"
#include "daemon/journal/topology_digest.h"
#include "daemon/web/fabric_pages.h"
#include "daemon/web/metrics/joined_metrics.h"
#include "nlohmann/json.hpp"
#include "topology/formats/load_topology.h"
#include "topology/formats/progress_line.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

absl::Status CheckSm(const std::string& sm) {
  if (sm == "none" || sm == "static" || sm == "builtin") {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--sm=", sm, ": there are \"none\", \"static\" and \"builtin\"",
      DidYouMean(sm, {"none", "static", "builtin"}).Question()));
}

// A journal that was opened, and what was in it.
struct OpenJournal {
  std::unique_ptr<JournalFile> file;
  JournalContent content;
  JournalSubnet subnet;  // of this daemon
};

absl::StatusOr<OpenJournal> OpenTheJournal(const std::string& path) {
  OpenJournal journal;
  IBEMU_ASSIGN_OR_RETURN(journal.file, JournalFile::Open(path));
  IBEMU_ASSIGN_OR_RETURN(journal.content, journal.file->Read());
  return journal;
}

// Makes the fabric what the journal says that it was.
absl::Status Restore(OpenJournal& journal, const std::string& topology,
                     uint64_t digest, fabric::Fabric& fabric) {
  const std::string& path = journal.file->path();
  const std::optional<JournalSubnet>& before = journal.content.subnet;
  if (before && before->digest != digest) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": it is the journal of another topology, --topology=",
        before->topology,
        before->topology == topology ? ", which has changed since" : "",
        ": start with that one, or name a file that is not there"));
  }
  IBEMU_RETURN_IF_ERROR(
      journal.file->Named(RestoreSubnet(journal.content, fabric)));
  journal.subnet = {
      .topology = topology, .digest = digest, .seed = fabric.seed()};
  return absl::OkStatus();
}

// `journal`: null without one.
absl::StatusOr<std::unique_ptr<fabric::Fabric>> LoadFabric(
    const DaemonOptions& options, uint64_t seed, OpenJournal* journal,
    Timers& timers) {
  topology::ProgressLine progress;
  const auto show = [&](std::string_view phase, size_t done, size_t total) {
    progress.Show(phase, done, total);
  };
  IBEMU_ASSIGN_OR_RETURN(const topology::Topology topology,
                         topology::LoadTopology(options.topology, show));
  progress.Show("building the fabric", 0, 0);
  auto fabric = std::make_unique<fabric::Fabric>(
      topology, timers, fabric::FabricOptions{.seed = seed});
  if (journal != nullptr) {
    IBEMU_RETURN_IF_ERROR(
        Restore(*journal, options.topology, DigestOf(topology), *fabric));
  }
  if (options.sm == "static") {
    progress.Show("configuring the subnet", 0, 0);
    IBEMU_RETURN_IF_ERROR(fabric::ConfigureStatically(*fabric));
  } else if (options.sm == "builtin") {
    progress.Show("configuring the subnet", 0, 0);
    IBEMU_RETURN_IF_ERROR(fabric::StartSubnetManager(*fabric));
  }
  return fabric;
}

// In topology order.
std::vector<AdapterId> ChannelAdapters(const fabric::Fabric& fabric) {
  std::vector<AdapterId> adapters;
  for (const fabric::Node& node : fabric.subnet().nodes()) {
    if (node.type != mad::NodeType::kChannelAdapter) continue;
    adapters.push_back(
        static_cast<AdapterId>(&node - fabric.subnet().nodes().data()));
  }
  return adapters;
}

absl::StatusOr<AddressPlan> Address(const DaemonOptions& options,
                                    fabric::Fabric& fabric) {
  const std::vector<AdapterId> numbered = ChannelAdapters(fabric);
  FabricAdapters adapters(fabric);
  if (!options.addresses) {
    AddressPlan plan = AddressPlan::Numbered(AddressPlan::kUsual, numbered);
    IBEMU_RETURN_IF_ERROR(Replace(fabric.subnet().addresses(), adapters, plan));
    return plan;
  }
  return LoadAddresses(*options.addresses, adapters, numbered);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> FabricBackend::Load(
    const DaemonOptions& options, Loop& loop) {
  IBEMU_RETURN_IF_ERROR(CheckSm(options.sm));
  std::optional<OpenJournal> journal;
  if (options.journal) {
    IBEMU_ASSIGN_OR_RETURN(journal, OpenTheJournal(*options.journal));
  }
  const bool goes_on = journal && journal->content.subnet && !options.seed;
  JoinedFabric made;
  if (options.join.empty()) {
    made.seed = goes_on ? journal->content.subnet->seed
                        : options.seed.value_or(DrawSeed());
    IBEMU_ASSIGN_OR_RETURN(
        made.fabric,
        LoadFabric(options, made.seed, journal ? &*journal : nullptr, loop));
    IBEMU_ASSIGN_OR_RETURN(made.addresses, Address(options, *made.fabric));
  } else {
    IBEMU_ASSIGN_OR_RETURN(const std::shared_ptr<const Authority> authority,
                           Authority::Find(options.join, options.certificates));
    absl::StatusOr<JoinedFabric> joined =
        JoinFabric(loop, authority, options.joined_hosts, DrawSeed());
    if (!joined.ok()) return authority->Explain(joined.status());
    made = *std::move(joined);
  }
  std::unique_ptr<FabricBackend> backend(
      new FabricBackend(options, loop, std::move(made)));
  if (journal) {
    IBEMU_RETURN_IF_ERROR(backend->StartJournal(
        std::move(journal->file), journal->subnet, journal->content));
  }
  return std::unique_ptr<Backend>(std::move(backend));
}

FabricBackend::FabricBackend(const DaemonOptions& options, Loop& loop,
                             JoinedFabric fabric)
    : joined_(options.join),
      topology_(joined_.empty()
                    ? options.topology
                    : absl::StrCat(absl::StrJoin(options.joined_hosts, ", "),
                                   " of ", joined_)),
      sm_(joined_.empty() ? options.sm : "none"),
      exact_(options.exact),
      seed_(fabric.seed),
      loop_(loop),
      fabric_(std::move(fabric.fabric)),
      plugging_(std::move(fabric.plugging)),
      meeting_(std::move(fabric.meeting)),
      joined_hosts_(std::move(fabric.hosts)),
      adapters_(*fabric_),
      addresses_(std::move(fabric.addresses)),
      methods_(loop_, *fabric_),
      events_(loop_, *fabric_, absl::Now() - loop_.Now()),
      faults_(loop_, *fabric_, events_),
      event_methods_(loop_, events_),
      counters_(*fabric_),
      hardware_(*fabric_),
      paths_(*fabric_),
      forwarding_(*fabric_),
      health_(*fabric_),
      partitions_(*fabric_),
      outages_(loop_, *fabric_),
      diagnosis_(
          *fabric_, outages_,
          [this](uint32_t number) { return faults_.names().Of(number); },
          loop_.Now()),
      queue_pairs_(*fabric_) {}

FabricBackend::~FabricBackend() {
  if (journal_) journal_->WriteAll();
}

absl::Status FabricBackend::StartJournal(std::unique_ptr<JournalFile> file,
                                         const JournalSubnet& subnet,
                                         const JournalContent& content) {
  journal_.emplace(loop_, *fabric_, methods_, faults_, std::move(file), content,
                   absl::Now() - loop_.Now());
  return journal_->Start(subnet, content);
}

void FabricBackend::AddTo(control::MethodTable& dispatcher, HostTable& hosts,
                          cuse::UverbsFiles& uverbs_files) {
  ended_contexts_.emplace(loop_, uverbs_files);
  lint_.emplace(loop_, *fabric_, diagnosis_, *ended_contexts_);
  mad_history_.emplace(loop_, *fabric_, diagnosis_, hosts);
  refused_calls_.emplace(loop_, uverbs_files);
  why_events_.emplace(*fabric_, events_, diagnosis_, *mad_history_,
                      *refused_calls_);
  why_.emplace(loop_, *fabric_, diagnosis_, *mad_history_, *refused_calls_,
               [this](const auto& nodes, uint64_t process) {
                 return faults_.Acted(nodes, process);
               });
  captures_.emplace(loop_, hosts, fabric_.get());
  scenarios_.emplace(loop_, *fabric_, faults_, events_, dispatcher);
  cables_.emplace(loop_, *fabric_, hosts, exact_);
  faults_.AddTo(dispatcher);
  captures_->AddTo(dispatcher);
  event_methods_.AddTo(dispatcher);
  why_->AddTo(dispatcher);
  queue_pairs_.AddTo(dispatcher);
  lint_->AddTo(dispatcher);
  if (joined_.empty()) return AddSubnetTo(dispatcher);
  dispatcher.ExplainMissing(
      absl::StrCat("this daemon has hosts of \"", joined_,
                   "\", which has the subnet: ask that one"));
}

void FabricBackend::AddSubnetTo(control::MethodTable& dispatcher) {
  adapters_.AddTo(dispatcher);
  methods_.AddTo(dispatcher);
  counters_.AddTo(dispatcher);
  hardware_.AddTo(dispatcher);
  paths_.AddTo(dispatcher);
  forwarding_.AddTo(dispatcher);
  health_.AddTo(dispatcher);
  partitions_.AddTo(dispatcher);
  scenarios_->AddTo(dispatcher);
  cables_->AddTo(dispatcher);
  if (!journal_) return;
  cables_->Reserve(journal_->joined(), SubnetJournal::kRejoinsWithin);
  dispatcher.AfterEachCall([this] { journal_->Write(); });
}

void FabricBackend::Greet(json& greeting) const { greeting["seed"] = seed_; }

void FabricBackend::Describe(json& status) const {
  status["topology"] = topology_;
  status["sm"] = sm_;
  status["seed"] = seed_;
  status["fabric"] = methods_.Summary();
  if (cables_) status["joined"] = cables_->List();
  if (journal_) status["journal"] = journal_->Describe();
}

std::string FabricBackend::Summary() const {
  if (!joined_.empty()) return topology_;
  return absl::StrCat(fabric_->node_count(), " nodes, seed ", seed_);
}

absl::StatusOr<std::unique_ptr<WebServer>> FabricBackend::BindWeb(
    const WebAddress& address, control::MethodTable& dispatcher) {
  history_.emplace(loop_, *fabric_);
  history_->AddTo(dispatcher);
  IBEMU_ASSIGN_OR_RETURN(
      std::unique_ptr<WebServer> server,
      BindFabricPages(address, loop_, *fabric_, events_, dispatcher));
  server->AddMetrics([this] { return JoinedMetrics(cables_->Joined()); });
  return server;
}

}  // namespace ibemu::daemon
