// AliasGuids: Set and Delete(GUIDInfoRecord), IBA vol 1 §15.2.5.18.
#ifndef IBEMU_FABRIC_SA_ALIAS_GUIDS_H_
#define IBEMU_FABRIC_SA_ALIAS_GUIDS_H_

#include "fabric/sa/directory.h"
#include "fabric/sa/multicast_groups.h"
#include "fabric/sa/sa_request.h"
#include "fabric/subnet/fabric_events.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/sa_records.h"

namespace ibemu::fabric {

// The assignment of alias GUIDs to end ports, as in opensm: for a wanted GUID
// of 0 the manager chooses one; a GUID that another port has is not assigned
// and answered as 0; and one that is a member of a multicast group cannot be
// deleted.
class AliasGuids {
 public:
  AliasGuids(Subnet& subnet, FabricEvents& events, const Directory& directory,
             const MulticastGroups& groups)
      : subnet_(subnet),
        events_(events),
        directory_(directory),
        groups_(groups) {}

  // Carry out a request.  `record` receives the answer.
  mad::MadStatus Set(const SaRequest& request, mad::GuidInfoRecord& record);
  mad::MadStatus Delete(const SaRequest& request, mad::GuidInfoRecord& record);

 private:
  // Finds the port of a GUID block.  Returns kOk, or what is wrong.
  mad::MadStatus FindBlock(const SaRequest& request,
                           const mad::GuidInfoRecord& record, PortId& port);
  uint64_t NewGuid();

  Subnet& subnet_;
  FabricEvents& events_;
  const Directory& directory_;
  const MulticastGroups& groups_;
  uint32_t given_ = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_ALIAS_GUIDS_H_
