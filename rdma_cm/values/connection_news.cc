#include "rdma_cm/values/connection_news.h"

namespace ibemu::rdma_cm {

std::optional<ConnectionNews> NewsOf(const cm::CmEvent& event,
                                     bool has_disconnected) {
  using Kind = cm::CmEvent::Kind;
  using News = ConnectionNews::State;
  switch (event.kind) {
    case Kind::kReqError:
      return ConnectionNews{.state = News::kTimedOut,
                            .awaited = cm::Message::kRep};
    case Kind::kRepError:
      return ConnectionNews{.state = News::kTimedOut,
                            .awaited = cm::Message::kRtu};
    case Kind::kDreqError:
      return ConnectionNews{.state = News::kTimedOut,
                            .awaited = cm::Message::kDrep};
    case Kind::kSidrReqError:
      return ConnectionNews{.state = News::kTimedOut,
                            .awaited = cm::Message::kSidrRep};
    case Kind::kRtu:
    case Kind::kEstablished:
      return ConnectionNews{.state = News::kEstablished};
    case Kind::kRej:
      return ConnectionNews{
          .state = News::kRejected, .by_peer = true, .reason = event.reason};
    case Kind::kDreq:
      return ConnectionNews{.state = News::kDisconnected, .by_peer = true};
    case Kind::kDrep:
      // Else its owner did not ask for it: the peer asked for a new connection
      // with the queue pair of this one, whose end it never told.
      if (has_disconnected) return std::nullopt;
      return ConnectionNews{.state = News::kStale};
    case Kind::kSidrRep: {
      const bool is_answered = event.sidr.status == cm::SidrStatus::kSuccess;
      return ConnectionNews{
          .state = is_answered ? News::kEstablished : News::kRejected,
          .by_peer = true,
          .reason = static_cast<uint16_t>(event.sidr.status)};
    }
    case Kind::kRep:
    case Kind::kTimewaitExit:
      break;
  }
  return std::nullopt;
}

std::optional<ConnectionNews> NewsOfEnd(cm::State state) {
  using News = ConnectionNews::State;
  using cm::State;
  if (cm::EndsByRej(state)) {
    return ConnectionNews{
        .state = News::kRejected,
        .reason = static_cast<uint16_t>(cm::RejectReason::kConsumerDefined)};
  }
  switch (state) {
    case State::kReqSent:
    case State::kMraReqReceived:
    case State::kSidrReqSent:
      return ConnectionNews{.state = News::kAbandoned};
    case State::kSidrReqReceived:
      return ConnectionNews{
          .state = News::kRejected,
          .reason = static_cast<uint16_t>(cm::SidrStatus::kReject)};
    case State::kEstablished:
      return ConnectionNews{.state = News::kDisconnected};
    default:
      return std::nullopt;
  }
}

}  // namespace ibemu::rdma_cm
