// Set and Delete(GUIDInfoRecord): IBA vol 1 §15.2.5.18.
#ifndef IBEMU_FABRIC_SA_ALIAS_GUIDS_H_
#define IBEMU_FABRIC_SA_ALIAS_GUIDS_H_

#include "fabric/sa/directory.h"
#include "fabric/sa/multicast_groups.h"
#include "fabric/sa/sa_request.h"
#include "fabric/subnet/events.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/sa_records.h"

namespace ibemu::fabric {

// Alias GUIDs of end ports, as opensm gives them out: a wanted GUID of 0 gets
// one from the manager, a GUID that another port has stays there and is
// answered as 0, and one that is in a multicast group can't be deleted.
class AliasGuids {
 public:
  AliasGuids(Subnet& subnet, FabricEvents& events, const Directory& directory,
             const MulticastGroups& groups)
      : subnet_(subnet),
        events_(events),
        directory_(directory),
        groups_(groups) {}

  // `record` becomes the answer.
  mad::MadStatus Set(const SaRequest& request, mad::GuidInfoRecord& record);
  mad::MadStatus Delete(const SaRequest& request, mad::GuidInfoRecord& record);

 private:
  // The port whose block it is.  kOk, or what is wrong.
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
