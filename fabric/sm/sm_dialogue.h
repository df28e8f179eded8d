// SmDialogue: the SMInfo requests of one subnet manager to others, by directed
// routes.
#ifndef IBEMU_FABRIC_SM_SM_DIALOGUE_H_
#define IBEMU_FABRIC_SM_SM_DIALOGUE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "base/timers.h"
#include "fabric/sm/sm_state_machine.h"
#include "fabric/subnet/mad_sender.h"
#include "mad/address.h"
#include "mad/wire/sm_info.h"
#include "mad/wire/smp.h"

namespace ibemu::fabric {

// A sender of Get(SMInfo) and Set(SMInfo).  Like OpenSM it repeats a request
// three times, after 200 ms each.  If there is no answer after that, or the
// answer has a status, there is no manager at that port.
class SmDialogue {
 public:
  // Receives the answer; nullopt if there was none.  It may send another
  // request.
  using Answered = absl::AnyInvocable<void(const std::optional<mad::SmInfo>&)>;
  using Path = std::vector<uint8_t>;

  // Sends from `port`.  The other arguments must outlive this object.
  SmDialogue(PortId port, MadSender& sender, Timers& timers);
  SmDialogue(const SmDialogue&) = delete;
  SmDialogue& operator=(const SmDialogue&) = delete;
  ~SmDialogue();

  // Send a request.  `answered` is called after they return.
  void Get(const Path& path, Answered answered);
  void Set(const Path& path, SmControl control, const mad::SmInfo& own,
           Answered answered);

  // Returns false if no request is waiting for this answer.
  bool TakeAnswer(const mad::MadBytes& answer);

  // Drops all requests in progress without calling `answered`.
  void Clear();

 private:
  struct Request {
    mad::Outgoing packet;
    Answered answered;
    int sent = 0;
    TimerId timer = TimerId::kNone;
  };

  void Start(const Path& path, mad::Smp smp, Answered answered);
  void Send(uint64_t tid);
  void Finish(uint64_t tid, const std::optional<mad::SmInfo>& answer);

  const PortId port_;
  MadSender& sender_;
  Timers& timers_;
  uint64_t next_tid_ = 1;
  absl::flat_hash_map<uint64_t, Request> requests_;  // by TID
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SM_DIALOGUE_H_
