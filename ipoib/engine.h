// Engine: an IPoIB interface in this process: it joins the broadcast group and
// answers and asks ARP and ND, by a UD queue pair of the adapter.
#ifndef IBEMU_IPOIB_ENGINE_H_
#define IBEMU_IPOIB_ENGINE_H_

#include "base/random.h"
#include "base/timers.h"
#include "ipoib/interface.h"
#include "mad/host.h"
#include "mad/sa/multicast_members.h"
#include "mad/sa/sa_client.h"
#include "verbs/provider.h"

namespace ibemu::ipoib {

class Engine final : public Interface {
 public:
  // What an interface stands on.  All must outlive it.
  struct Ground {
    Timers& timers;
    mad::Host& host;
    int port;
    verbs::Provider& provider;
    mad::SaClient& sa;
    mad::MulticastMembers& members;
  };
  Engine(const Ground& ground, Random random,
         std::vector<wire::IpNetwork> addresses);
  ~Engine() override;
  // ... Interface
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_ENGINE_H_
