#include "daemon/connections/connection_events.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "daemon/connections/connection_words.h"
#include "nlohmann/json.hpp"
#include "rdma_cm/values/event.h"
#include "wire/ip_text.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using rdma_cm::ConnectionNews, rdma_cm::GroupNews, rdma_cm::Id;
using State = rdma_cm::ConnectionNews::State;

std::string_view StateName(State state, bool is_datagram) {
  switch (state) {
    case State::kNoAddress:
      return "no address";
    case State::kNoPath:
      return "no path";
    case State::kAsked:
      return "asked";
    case State::kEstablished:
      return is_datagram ? "answered" : "established";
    case State::kRejected:
      return is_datagram ? "refused" : "rejected";
    case State::kDisconnected:
      return "disconnected";
    case State::kAbandoned:
      return "abandoned";
    case State::kTimedOut:
      return "timed out";
    case State::kStale:
      return "stale";
  }
  return "";
}

bool IsFailure(State state) {
  return state == State::kNoAddress || state == State::kNoPath ||
         state == State::kRejected || state == State::kTimedOut ||
         state == State::kStale;
}

// Why an interface or subnet administration had no answer.
std::string_view FailureText(int status, std::string_view who) {
  namespace errors = rdma_cm::event_status;
  if (status == errors::kTimedOut) return who;
  if (status == errors::kTryAgain) return "no subnet manager is known";
  if (status == errors::kInvalid) return "subnet administration has none";
  return "it could not be asked for";
}

// Adds what a state has beside its name.
void AddDetails(const Id& id, const ConnectionNews& news, json& event) {
  switch (news.state) {
    case State::kNoAddress:
      event["why"] = FailureText(news.status, "nobody answered");
      return;
    case State::kNoPath:
      event["why"] =
          FailureText(news.status, "subnet administration did not answer");
      return;
    case State::kRejected:
      event["reason"] = news.reason;
      event["why"] = id.is_datagram() ? ResolutionText(news.reason)
                                      : RejectionText(news.reason);
      break;
    case State::kTimedOut:
      event["why"] = absl::StrFormat("no %s came", MessageText(news.awaited));
      return;
    case State::kStale:
      event["why"] = "the peer has forgotten it";
      return;
    case State::kDisconnected:
      break;
    default:
      return;
  }
  event["by"] = news.by_peer != id.was_asked() ? "to" : "from";
}

}  // namespace

// Of an answer that did not come only this end knows, and of a connection that
// the peer has forgotten.  A peer that can't be found out told it by itself.
bool ConnectionEvents::IsTheirs(const Id& id,
                                const ConnectionNews& news) const {
  if (!id.was_asked() || news.state == State::kTimedOut ||
      news.state == State::kStale) {
    return false;
  }
  return ends_.PeerIsHere(id) || id.remote_gid() == wire::Gid{};
}

void ConnectionEvents::OnConnection(const Id& id, const ConnectionNews& news) {
  const char* const kind = id.is_datagram() ? "datagram" : "connection";
  if (IsTheirs(id, news)) return;
  json local = ends_.Local(id);
  json remote = ends_.Remote(id);
  json event = {{"state", StateName(news.state, id.is_datagram())},
                {"from", id.was_asked() ? remote : local},
                {"to", id.was_asked() ? local : remote},
                {"space", SpaceText(id.space())},
                {"service_id", absl::StrFormat("0x%016x", ServiceIdOf(id))},
                {"pid", id.process() == 0 ? json() : json(id.process())}};
  AddDetails(id, news, event);
  history_.Add(events_.Stamp(kind, event), IsFailure(news.state),
               ends_.OwnerOf(*id.port()), ends_.PeerOf(id));
  if (events_.Wanted(kind)) events_.Tell(kind, event);
}

void ConnectionEvents::OnGroup(const GroupNews& news) {
  if (!events_.Wanted("group")) return;
  const bool is_ip = news.group.family != rdma_cm::Family::kIb;
  json event = {{"node", ends_.NameOf(ends_.OwnerOf(news.port))},
                {"port", news.port.number},
                {"group", is_ip ? json(AddressOf(news.group)) : json()},
                {"mgid", wire::GidText(news.mgid)}};
  switch (news.state) {
    case GroupNews::State::kJoined:
      event["state"] = "joined";
      break;
    case GroupNews::State::kLeft:
      event["state"] = "left";
      break;
    case GroupNews::State::kFailed:
      event["state"] = "failed";
      event["why"] =
          FailureText(news.status, "subnet administration did not answer");
      break;
  }
  events_.Tell("group", event);
}

}  // namespace ibemu::daemon
