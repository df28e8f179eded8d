#include "daemon/resources/resource_lists.h"

#include <map>
#include <utility>

#include "daemon/words/queue_pair_text.h"
#include "nlohmann/json.hpp"
#include "verbs/uverbs/context_objects.h"
#include "wire/ip_text.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

// The queue pairs that use an object, by its handle.
class Users {
 public:
  void Add(uint32_t handle, uint32_t qpn) {
    lists_.try_emplace(handle, json::array()).first->second.push_back(qpn);
  }
  json Of(uint32_t handle) const {
    const auto found = lists_.find(handle);
    return found == lists_.end() ? json::array() : found->second;
  }

 private:
  std::map<uint32_t, json> lists_;
};

}  // namespace

void ListCqs(const verbs::Context& context, ResourceTaker& taker) {
  const verbs::ContextObjects& objects = context.objects();
  Users send, receive;
  objects.qps.ForEach([&](uint32_t /*handle*/, const verbs::QpObject& qp) {
    send.Add(qp.send_cq_handle, qp.qp->number());
    receive.Add(qp.receive_cq_handle, qp.qp->number());
  });
  objects.cqs.ForEach([&](uint32_t handle, const verbs::CqObject& cq) {
    if (!taker.Wants(objects.cqs.PlaceOf(handle))) return;
    taker.Take({{"handle", handle},
                {"size", cq.cq->size()},
                {"waiting", cq.cq->waiting()},
                {"channel", cq.channel != nullptr},
                {"send", send.Of(handle)},
                {"receive", receive.Of(handle)}});
  });
}

void ListMrs(const verbs::Context& context, ResourceTaker& taker) {
  const auto& mrs = context.objects().mrs;
  mrs.ForEach([&](uint32_t handle, const verbs::MrObject& mr) {
    if (!taker.Wants(mrs.PlaceOf(handle))) return;
    taker.Take({{"handle", handle},
                {"lkey", mr.mr->lkey()},
                {"rkey", mr.mr->rkey()},
                {"address", mr.init.address},
                {"length", mr.init.length},
                {"access", AccessWords(mr.init.access)}});
  });
}

void ListSrqs(const verbs::Context& context, ResourceTaker& taker) {
  const verbs::ContextObjects& objects = context.objects();
  Users receive;
  objects.qps.ForEach([&](uint32_t /*handle*/, const verbs::QpObject& qp) {
    if (qp.srq_handle) receive.Add(*qp.srq_handle, qp.qp->number());
  });
  objects.srqs.ForEach([&](uint32_t handle, const verbs::SrqObject& srq) {
    if (!taker.Wants(objects.srqs.PlaceOf(handle))) return;
    const verbs::SrqAttributes attributes = srq.srq->Query();
    taker.Take({{"handle", handle},
                {"size", attributes.max_requests},
                {"posted", srq.srq->posted()},
                {"limit", attributes.limit},
                {"sges", attributes.max_sges},
                {"receive", receive.Of(handle)}});
  });
}

void ListGroups(const verbs::Context& context, ResourceTaker& taker) {
  const auto& qps = context.objects().qps;
  qps.ForEach([&](uint32_t handle, const verbs::QpObject& qp) {
    if (qp.groups.empty() || !taker.Wants(qps.PlaceOf(handle))) return;
    for (const auto& [mgid, mlid] : qp.groups) {
      taker.Take({{"qpn", qp.qp->number()},
                  {"mgid", wire::AddressText(wire::IpAddress::Ipv6(mgid))},
                  {"mlid", mlid}});
    }
  });
}

}  // namespace ibemu::daemon
