#include "mad/smi.h"

#include "mad/wire/smp.h"

namespace ibemu::mad {
namespace {

constexpr size_t kInitialPathOffset = 128;
constexpr size_t kReturnPathOffset = 192;

constexpr SmiVerdict kDiscarded{};
constexpr SmiVerdict kDelivered{.step = SmiStep::kDeliver};

// A directed-route SMP, edited in place.  Path entries are only read with
// indexes up to kSmpMaxHops, because the callers check the hop count first.
class Route {
 public:
  Route(MadBytes& smp, SmiNode node) : smp_(smp), node_(node) {}

  bool returning() const { return wire::Get<&Smp::direction>(smp_); }
  int hop_pointer() const { return wire::Get<&Smp::hop_pointer>(smp_); }
  int hop_count() const { return wire::Get<&Smp::hop_count>(smp_); }
  wire::Lid dr_slid() const { return wire::Get<&Smp::dr_slid>(smp_); }
  wire::Lid dr_dlid() const { return wire::Get<&Smp::dr_dlid>(smp_); }

  bool too_long() const { return hop_count() > kSmpMaxHops; }

  // Returns true if a LID-routed part comes before the directed one.
  bool starts_by_lid() const {
    return (returning() ? dr_dlid() : dr_slid()) != wire::Lid::kPermissive;
  }

  void Move(int by) {
    wire::Put<&Smp::hop_pointer>(smp_,
                                 static_cast<uint8_t>(hop_pointer() + by));
  }
  void RecordIngress(uint8_t port) {
    smp_[kReturnPathOffset + hop_pointer()] = std::byte{port};
  }

  // Forwards the SMP out of the port that the path names at the hop pointer.
  SmiVerdict Forward() const {
    const size_t path = returning() ? kReturnPathOffset : kInitialPathOffset;
    const auto egress = static_cast<uint8_t>(smp_[path + hop_pointer()]);
    if (egress == 0 || egress > node_.port_count) return kDiscarded;
    return {.step = SmiStep::kForward, .egress = egress};
  }

  // Ends the directed part.  Only a switch then forwards by LID.
  SmiVerdict End() const {
    const wire::Lid onward = returning() ? dr_slid() : dr_dlid();
    if (onward == wire::Lid::kPermissive) return kDelivered;
    if (!node_.is_switch) return kDiscarded;
    return {.step = SmiStep::kRouteByLid, .dlid = onward};
  }

 private:
  MadBytes& smp_;
  SmiNode node_;
};

// C14-9, the source's side.
SmiVerdict SendRequest(Route& route, SmiNode node) {
  const int pointer = route.hop_pointer();
  const int count = route.hop_count();
  if (pointer == count + 1) return kDelivered;
  if (pointer > count) return kDiscarded;
  if (pointer == count) {
    route.Move(+1);
    return route.End();
  }
  if (pointer != 0 && !node.is_switch) return kDiscarded;
  route.Move(+1);
  return route.Forward();
}

// C14-13, the responder's side.
SmiVerdict SendAnswer(Route& route, SmiNode node) {
  const int pointer = route.hop_pointer();
  const int count = route.hop_count();
  if (pointer == 0) return kDelivered;
  if (pointer > count + 1) return kDiscarded;
  if (pointer == 1) {
    route.Move(-1);
    return route.End();
  }
  if (pointer <= count && !node.is_switch) return kDiscarded;
  route.Move(-1);
  return route.Forward();
}

// C14-9, a hop's side.
SmiVerdict ReceiveRequest(Route& route, SmiNode node, uint8_t ingress) {
  const int pointer = route.hop_pointer();
  const int count = route.hop_count();
  if (pointer == count + 1) return kDelivered;
  if (pointer > count) return kDiscarded;
  if (pointer == count) {
    if (count != 0) route.RecordIngress(ingress);
    route.Move(+1);
    return route.End();
  }
  if (!node.is_switch) return kDiscarded;
  if (pointer == 0) {
    // The source moves the pointer, unless it left that to the switch at the
    // end of a LID-routed first part.
    if (!route.starts_by_lid()) return kDiscarded;
  } else {
    route.RecordIngress(ingress);
  }
  route.Move(+1);
  return route.Forward();
}

// C14-13, a hop's side.
SmiVerdict ReceiveAnswer(Route& route, SmiNode node) {
  const int pointer = route.hop_pointer();
  const int count = route.hop_count();
  if (pointer == 0) return kDelivered;
  if (pointer > count + 1) return kDiscarded;
  if (pointer == 1) {
    route.Move(-1);
    return route.End();
  }
  if (!node.is_switch) return kDiscarded;
  // The responder moves the pointer, unless it left that to the switch at the
  // end of a LID-routed first part.
  if (pointer == count + 1 && !route.starts_by_lid()) return kDiscarded;
  route.Move(-1);
  return route.Forward();
}

}  // namespace

SmiVerdict SmiSend(MadBytes& smp, SmiNode node, uint8_t port) {
  Route route(smp, node);
  if (route.starts_by_lid()) {
    // Linux checks nothing in this case.  But if the path is already over, this
    // node is the destination.
    const bool over = route.returning()
                          ? route.hop_pointer() == 0
                          : route.hop_pointer() == route.hop_count() + 1;
    return over ? kDelivered : SmiVerdict{.step = SmiStep::kAsAddressed};
  }
  if (route.too_long()) return kDiscarded;
  const SmiVerdict verdict =
      route.returning() ? SendAnswer(route, node) : SendRequest(route, node);
  if (verdict.step == SmiStep::kForward && !node.is_switch &&
      verdict.egress != port) {
    return kDiscarded;
  }
  return verdict;
}

SmiVerdict SmiAnswer(MadBytes& smp, SmiNode node, uint8_t port) {
  Route route(smp, node);
  if (route.hop_count() == 0 && route.dr_slid() != wire::Lid::kPermissive &&
      !route.starts_by_lid()) {
    route.Move(-route.hop_pointer());
    return {.step = SmiStep::kRouteByLid, .dlid = route.dr_slid()};
  }
  return SmiSend(smp, node, port);
}

SmiVerdict SmiReceive(MadBytes& smp, SmiNode node, uint8_t ingress) {
  Route route(smp, node);
  if (route.too_long()) return kDiscarded;
  return route.returning() ? ReceiveAnswer(route, node)
                           : ReceiveRequest(route, node, ingress);
}

}  // namespace ibemu::mad
