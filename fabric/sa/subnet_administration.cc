#include "fabric/sa/subnet_administration.h"

#include <algorithm>
#include <utility>

#include "fabric/sa/sa_response.h"
#include "mad/mad_class.h"
#include "mad/wire/notice.h"
#include "mad/wire/sa_records.h"
#include "mad/wire/sa_services.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::MadHeader, mad::MadStatus, mad::Method,
    mad::SaHeader;

// The interval after which the directory is read again, for changes without an
// event.
constexpr absl::Duration kLookAroundInterval = absl::Seconds(10);
constexpr absl::Duration kReportTimeout = absl::Milliseconds(200);
constexpr int kReportRetries = 3;
constexpr uint32_t kClassManager = 4;  // ProducerType

bool IsQuery(Method method) {
  return method == Method::kGet || method == Method::kGetTable ||
         method == Method::kGetMulti || method == Method::kGetTraceTable;
}

}  // namespace

SubnetAdministration::SubnetAdministration(Subnet& subnet, FabricEvents& events,
                                           MadSender& sender,
                                           MulticastRoutes& routes,
                                           Timers& timers, PortId port,
                                           SaLookup::Managers managers)
    : timers_(timers),
      port_(port),
      directory_(subnet),
      groups_(directory_, routes, timers,
              [this](const wire::Gid& mgid, bool created) {
                OnGroup(mgid, created);
              }),
      services_(directory_, timers),
      subscriptions_(directory_),
      alias_guids_(subnet, events, directory_, groups_),
      lookup_(directory_, groups_, services_, subscriptions_,
              std::move(managers)),
      service_port_(subnet, sender, port),
      host_(timers, service_port_) {}

SubnetAdministration::~SubnetAdministration() = default;

void SubnetAdministration::OnMastership(bool is_master) {
  if (is_master_ == is_master) return;
  is_master_ = is_master;
  if (is_master) {
    mad::Registration registration{.mgmt_class = static_cast<uint8_t>(
                                       mad::MgmtClass::kSubnetAdministration),
                                   .mgmt_class_version = mad::kSaClassVersion,
                                   .rmpp_version = 1};
    registration.methods.set();
    auto agent = host_.Register(1, registration, *this);
    if (agent.ok()) {
      agent_ = *std::move(agent);
      queries_.emplace(lookup_, *agent_, timers_);
    }
    LookAround();
    groups_.Begin();
    return;
  }
  agent_.reset();
  queries_.reset();
  groups_.Clear();
  services_.Clear();
  subscriptions_.Clear();
  directory_.Forget();
}

void SubnetAdministration::LookAround() {
  directory_.Explore(port_);
  looked_around_ = timers_.Now();
}

void SubnetAdministration::OnPorts(const std::vector<PortId>& came,
                                   const std::vector<PortId>& went) {
  if (!is_master_) return;
  LookAround();
  for (const PortId port : went) {
    groups_.RemovePort(port);
    subscriptions_.RemovePort(port);
  }
  for (const PortId port : went) {
    ReportGid(mad::TrapNumber::kGidOutOfService, directory_.GidOf(port), port);
  }
  for (const PortId port : came) {
    ReportGid(mad::TrapNumber::kGidInService, directory_.GidOf(port), port);
  }
}

void SubnetAdministration::OnNotice(const mad::Notice& notice,
                                    const mad::Arrival& arrival) {
  if (!is_master_) return;
  const wire::Lid lid =
      wire::IsUnicast(notice.issuer_lid) ? notice.issuer_lid : arrival.slid;
  const std::optional<PortId> issuer = directory_.FindLid(lid);
  if (!issuer) return;
  Report({.notice = notice, .issuer_gid = directory_.GidOf(*issuer)}, *issuer);
}

void SubnetAdministration::OnGroup(const wire::Gid& mgid, bool created) {
  ReportGid(created ? mad::TrapNumber::kMulticastGroupCreated
                    : mad::TrapNumber::kMulticastGroupDeleted,
            mgid, kNoPort);
}

void SubnetAdministration::ReportGid(mad::TrapNumber number,
                                     const wire::Gid& gid, PortId source) {
  mad::SaNotice notice;
  notice.notice.type = mad::NoticeType::kSubnetManagement;
  notice.notice.producer_type = kClassManager;
  notice.notice.trap_number = number;
  notice.notice.issuer_lid = directory_.LidOf(port_);
  notice.issuer_gid = directory_.GidOf(port_);
  wire::Encode(mad::GidDetails{.gid = gid}, notice.notice.data_details);
  Report(notice, source);
}

void SubnetAdministration::Report(const mad::SaNotice& notice, PortId source) {
  if (agent_ == nullptr) return;
  std::vector<std::byte> mad(mad::kMadBytes);
  SaHeader header;
  header.mad = {
      .mgmt_class = mad::MgmtClass::kSubnetAdministration,
      .class_version = mad::kSaClassVersion,
      .method = Method::kReport,
      .attr_id = AttributeId::kNotice,
  };
  header.rmpp.active = false;
  wire::Encode(notice, std::span(mad).subspan(mad::kSaDataOffset));
  subscriptions_.ForEachInterested(notice, source,
                                   [&](const mad::AddressVector& to) {
                                     header.mad.tid = next_tid_++;
                                     wire::Encode(header, mad);
                                     // A subscriber that cannot be reached
                                     // misses the report.
                                     agent_
                                         ->Send({.to = to,
                                                 .mad = mad,
                                                 .timeout = kReportTimeout,
                                                 .retries = kReportRetries})
                                         .IgnoreError();
                                   });
}

// Reports, trap represses and responses to other clients are for programs of
// the port's host.
bool SubnetAdministration::Take(const mad::Arrival& arrival) {
  if (!is_master_ || agent_ == nullptr) return false;
  const auto method = wire::Get<&MadHeader::method>(arrival.mad);
  const uint64_t tid = wire::Get<&MadHeader::tid>(arrival.mad);
  if (method == Method::kReport || method == Method::kTrapRepress) return false;
  if (mad::IsResponse(method) && (method != Method::kReportResp ||
                                  mad::HighTid(tid) != agent_->hi_tid())) {
    return false;
  }
  service_port_.Receive(arrival);
  return true;
}

void SubnetAdministration::OnMad(mad::Agent&, mad::IncomingMessage message) {
  // With RMPP its sender said how long it is, and it may end within this
  // header.
  if (message.mad.size() < wire::kBytes<SaHeader>) return;
  SaRequest request;
  request.header = wire::Decode<SaHeader>(message.mad);
  if (mad::IsResponse(request.header.mad.method)) return;  // to a Report
  // The SM_Key must be right or 0: C15-0.1.5.
  if (request.header.sm_key != 0 && request.header.sm_key != kSmKey) return;
  if (timers_.Now() - looked_around_ >= kLookAroundInterval) LookAround();
  const std::optional<PortId> requester = directory_.FindLid(message.slid);
  if (!requester) return;
  request.requester = *requester;
  request.trusted = request.header.sm_key == kSmKey;
  request.from = {.dlid = message.slid,
                  .sl = message.sl,
                  .path_bits = message.path_bits,
                  .pkey_index = message.pkey_index,
                  .qpn = message.source_qpn,
                  .qkey = mad::kQp1QKey,
                  .grh = message.grh};
  request.data.assign(message.mad.begin() + mad::kSaDataOffset,
                      message.mad.end());
  request.data.resize(std::max(request.data.size(), mad::kSaDataBytes));
  Handle(request);
}

void SubnetAdministration::OnSendDone(mad::Agent&, uint64_t cookie) {
  queries_->OnSendOver(cookie);
}

void SubnetAdministration::OnSendTimeout(mad::Agent&, uint64_t cookie) {
  queries_->OnSendOver(cookie);
}

void SubnetAdministration::Handle(const SaRequest& request) {
  const Method method = request.header.mad.method;
  if (IsQuery(method)) return queries_->Begin(request);
  if (method == Method::kSet || method == Method::kDelete) {
    return HandleChange(request);
  }
  Respond(request, SaStatusResponse(request, MadStatus::kUnsupportedMethod));
}

void SubnetAdministration::HandleChange(const SaRequest& request) {
  const bool set = request.header.mad.method == Method::kSet;
  switch (request.header.mad.attr_id) {
    case AttributeId::kMcMemberRecord: {
      mad::McMemberRecord record;
      const MadStatus status =
          set ? groups_.Join(request, record) : groups_.Leave(request, record);
      return Respond(request, SaChangeResponse(request, record, status));
    }
    case AttributeId::kServiceRecord: {
      mad::ServiceRecord record;
      const MadStatus status = set ? services_.Register(request, record)
                                   : services_.Remove(request, record);
      return Respond(request, SaChangeResponse(request, record, status));
    }
    case AttributeId::kGuidInfoRecord: {
      mad::GuidInfoRecord record;
      const MadStatus status = set ? alias_guids_.Set(request, record)
                                   : alias_guids_.Delete(request, record);
      if (status == MadStatus::kOk) LookAround();
      return Respond(request, SaChangeResponse(request, record, status));
    }
    case AttributeId::kInformInfo: {
      if (!set) break;
      mad::InformInfo info;
      const MadStatus status = subscriptions_.Set(request, info);
      return Respond(request, SaChangeResponse(request, info, status));
    }
    default:
      break;
  }
  Respond(request, SaStatusResponse(request, MadStatus::kUnsupportedAttribute));
}

void SubnetAdministration::Respond(const SaRequest& request,
                                   std::vector<std::byte> mad) {
  agent_->Send({.to = request.from, .mad = std::move(mad)}).IgnoreError();
}

}  // namespace ibemu::fabric
