#include "mad/sa/sa_client.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "mad/wire/sa.h"

namespace ibemu::mad {
namespace {

// The partition that subnet administration is in.
constexpr uint16_t kDefaultPartition = 0x7fff;
constexpr uint32_t kGsiQpn = 1;

absl::Status DeviceIsGone() {
  return absl::UnavailableError("the device is gone");
}

// Returns a request of a record, but for its TID.
template <wire::Structure T>
std::vector<std::byte> Request(Method method, const T& record, uint64_t mask) {
  SaHeader header;
  header.mad.mgmt_class = MgmtClass::kSubnetAdministration;
  header.mad.class_version = kSaClassVersion;
  header.mad.method = method;
  header.mad.attr_id = T::kId;
  header.rmpp = {.version = 0, .resp_time = 0, .active = false};
  header.component_mask = mask;
  std::vector<std::byte> mad(kMadBytes);
  wire::Encode(header, mad);
  wire::Encode(record, std::span(mad).subspan(kSaDataOffset));
  return mad;
}

// Returns the function that takes an answer's record, or why there is none.
template <wire::Structure T>
auto Decoded(SaClient::Done<T> done) {
  return [done = std::move(done)](absl::StatusOr<Bytes> record) mutable {
    if (!record.ok()) return done(record.status());
    done(wire::Decode<T>(*record));
  };
}

}  // namespace

class SaClient::Impl final : public AgentClient,
                             public std::enable_shared_from_this<Impl> {
 public:
  // Takes the bytes of the answer's record, which go with the call.
  using Answered = absl::AnyInvocable<void(absl::StatusOr<Bytes>)>;

  Impl(Timers& timers, Host& host, int port)
      : timers_(timers), port_(host.device().port(port)) {
    if (auto agent = host.Register(port, {}, *this); agent.ok()) {
      agent_ = *std::move(agent);
    }
    removal_ = host.Watch([this, &host] {
      if (host.removed()) FailAll();
    });
  }

  std::unique_ptr<SaQuery> Ask(std::vector<std::byte> mad, SaRetryPolicy retry,
                               Answered answered) {
    const uint32_t id = ++last_id_;
    Question& question = questions_[id];
    question.answered = std::move(answered);
    question.retries_left = retry.retries;
    question.message = {.to = SmAddress(),
                        .mad = std::move(mad),
                        .timeout = retry.timeout,
                        .cookie = id};
    wire::Put<&MadHeader::tid>(question.message.mad, id);
    if (absl::Status sent = Send(question); !sent.ok()) {
      timers_.RunSoon([weak = weak_from_this(), id, sent = std::move(sent)] {
        if (const auto self = weak.lock()) self->Finish(id, sent);
      });
    }
    return std::make_unique<Query>(weak_from_this(), id);
  }

 private:
  struct Question {
    OutgoingMessage message;
    int retries_left = 0;
    Answered answered;
  };

  class Query final : public SaQuery {
   public:
    Query(std::weak_ptr<Impl> client, uint32_t id)
        : client_(std::move(client)), id_(id) {}
    ~Query() override {
      if (const auto client = client_.lock()) client->Cancel(id_);
    }
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

   private:
    const std::weak_ptr<Impl> client_;
    const uint32_t id_;
  };

  AddressVector SmAddress() const {
    const PortInfo info = port_.Info();
    return {.dlid = info.master_sm_lid,
            .sl = info.master_sm_sl,
            .pkey_index = PKeyIndexOf(port_, kDefaultPartition).value_or(0),
            .qpn = kGsiQpn,
            .qkey = kQp1QKey};
  }

  absl::Status Send(const Question& question) {
    if (agent_ == nullptr) return DeviceIsGone();
    if (!wire::IsUnicast(question.message.to.dlid)) {
      return absl::FailedPreconditionError("the port knows no subnet manager");
    }
    return agent_->Send(question.message);
  }

  // A user chooses how long a try waits, so it may not stay with the agent.
  void Cancel(uint32_t id) {
    if (questions_.erase(id) != 0 && agent_ != nullptr) agent_->Cancel(id);
  }

  void Finish(uint32_t id, absl::StatusOr<Bytes> record) {
    const auto found = questions_.find(id);
    if (found == questions_.end()) return;  // cancelled
    Answered answered = std::move(found->second.answered);
    questions_.erase(found);
    answered(std::move(record));
  }

  void FailAll() {
    std::vector<uint32_t> ids;
    for (const auto& [id, question] : questions_) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    const auto self = shared_from_this();  // whom a call may destroy
    for (const uint32_t id : ids) Finish(id, DeviceIsGone());
  }

  // AgentClient
  void OnMad(Agent& /*agent*/, IncomingMessage message) override {
    const auto header = wire::Decode<MadHeader>(message.mad);
    const auto id = static_cast<uint32_t>(header.tid);
    if (header.method != Method::kGetResp &&
        header.method != Method::kDeleteResp) {
      return Finish(id, absl::InvalidArgumentError(
                            "what came from subnet administration is no "
                            "answer of one record"));
    }
    if (header.status != MadStatus::kOk) {
      return Finish(id, absl::InvalidArgumentError(absl::StrFormat(
                            "subnet administration answered with status 0x%04x",
                            static_cast<int>(header.status))));
    }
    Finish(id, Bytes(message.mad).subspan(kSaDataOffset));
  }
  void OnSendDone(Agent& /*agent*/, uint64_t /*cookie*/) override {}

  // The agent is given one try at a time, so that a question which was
  // cancelled is not repeated.
  void OnSendTimeout(Agent& /*agent*/, uint64_t cookie) override {
    const auto id = static_cast<uint32_t>(cookie);
    const auto found = questions_.find(id);
    if (found == questions_.end()) return;
    if (found->second.retries_left-- > 0) {
      if (absl::Status sent = Send(found->second); !sent.ok()) Finish(id, sent);
      return;
    }
    Finish(id,
           absl::DeadlineExceededError("subnet administration did not answer"));
  }

  Timers& timers_;
  Port& port_;
  std::unique_ptr<Agent> agent_;  // null: the device was gone before
  uint32_t last_id_ = 0;          // the low half of its TID
  absl::flat_hash_map<uint32_t, Question> questions_;
  std::unique_ptr<Host::Subscription> removal_;
};

SaClient::SaClient(Timers& timers, Host& host, int port)
    : impl_(std::make_shared<Impl>(timers, host, port)) {}

SaClient::~SaClient() = default;

std::unique_ptr<SaQuery> SaClient::GetPath(const PathRecord& record,
                                           uint64_t mask, SaRetryPolicy retry,
                                           Done<PathRecord> done) {
  return impl_->Ask(Request(Method::kGet, record, mask), retry,
                    Decoded<PathRecord>(std::move(done)));
}

std::unique_ptr<SaQuery> SaClient::JoinGroup(const McMemberRecord& record,
                                             uint64_t mask, SaRetryPolicy retry,
                                             Done<McMemberRecord> done) {
  return impl_->Ask(Request(Method::kSet, record, mask), retry,
                    Decoded<McMemberRecord>(std::move(done)));
}

std::unique_ptr<SaQuery> SaClient::LeaveGroup(const McMemberRecord& record,
                                              uint64_t mask,
                                              SaRetryPolicy retry,
                                              Done<McMemberRecord> done) {
  return impl_->Ask(Request(Method::kDelete, record, mask), retry,
                    Decoded<McMemberRecord>(std::move(done)));
}

}  // namespace ibemu::mad
