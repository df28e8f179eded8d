// SmElection: the dealings of a subnet manager with others, which decide who is
// master, IBA vol 1 §14.4.1.
#ifndef IBEMU_FABRIC_SM_SM_ELECTION_H_
#define IBEMU_FABRIC_SM_SM_ELECTION_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>

#include "absl/time/time.h"
#include "base/timers.h"
#include "fabric/sm/sm_dialogue.h"
#include "fabric/sm/sm_state_machine.h"
#include "fabric/sm/subnet_observer.h"
#include "fabric/sm/subnet_reach.h"
#include "fabric/subnet/mad_sender.h"
#include "fabric/subnet/subnet.h"
#include "mad/port.h"
#include "mad/wire/sm_info.h"
#include "mad/wire/smp.h"

namespace ibemu::fabric {

// The part of the manager that speaks with other managers.  It finds them by
// the IsSM bits of ports, asks them for their SMInfo and answers theirs,
// follows the master, and takes and gives the mastership.
class SmElection {
 public:
  // Called when this manager has become master, and when it is master no
  // longer.
  using MastershipCallback = std::function<void(bool is_master)>;

  // `port`: that of the manager.  The references must outlive this object.
  SmElection(const Subnet& subnet, PortId port, MadSender& sender,
             Timers& timers, MastershipCallback on_mastership);
  SmElection(const SmElection&) = delete;
  SmElection& operator=(const SmElection&) = delete;
  ~SmElection();

  // Begins as master, without asking anybody before and without a call of
  // the callback.
  void Start();

  // Leaves the election, because the port is down or another manager has it;
  // and enters it again.
  void Stop();
  void Restart();

  bool IsMaster() const { return machine_.state() == mad::SmState::kMaster; }

  // Return the identities of this manager and of the master, which is this one
  // or another.  If no master is known, its port is kNoPort.
  SmIdentity self() const;
  SmIdentity master() const;

  // Counts an action of the manager in SMInfo.ActCount.
  void CountAction() { ++act_count_; }

  // The IsSM bit of another node's port, or the state of the node, may have
  // changed.
  void UpdatePeer(PortId port);

  // Asks those who matter now: a master all other managers; in STANDBY the
  // master alone.
  void AskAll();

  // Handles Get(SMInfo) and Set(SMInfo).  Always fills in `reply`.
  void TakeRequest(const mad::Smp& request, mad::MadBytes& reply);
  // Handles GetResp(SMInfo).  Returns false if it answers no request of ours.
  bool TakeAnswer(const mad::MadBytes& answer) {
    return dialogue_.TakeAnswer(answer);
  }

 private:
  mad::SmInfo Info() const;
  void OnControl(SmControl control, bool acknowledge, PortId from);
  PortId FindPeer(wire::Guid guid) const;
  void AskIn(absl::Duration delay);
  void Ask(const SubnetReach& reach, PortId peer);
  void OnAnswer(PortId peer, const std::optional<mad::SmInfo>& info);
  void OnMasterAnswer(const mad::SmInfo& info);
  void HandOver(PortId peer, const mad::SmInfo& info);
  void Follow(PortId peer, const mad::SmInfo& info);
  void LoseMaster();
  void Discover();
  void EndDiscovery();
  void BecomeMaster();
  void EndMastership();

  const Subnet& subnet_;
  const PortId port_;
  Timers& timers_;
  const MastershipCallback on_mastership_;
  SmStateMachine machine_;
  SmDialogue dialogue_;

  uint32_t act_count_ = 0;
  std::set<PortId> peers_;  // other ports with IsSM
  int asked_ = 0;           // number of outstanding answers
  TimerId ask_timer_ = TimerId::kNone;
  TimerId control_ = TimerId::kNone;
  PortId master_port_ = kNoPort;  // kNoPort unless another manager is master
  mad::SmInfo master_;
  int idle_answers_ = 0;  // consecutive answers of a master that it is none
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SM_ELECTION_H_
