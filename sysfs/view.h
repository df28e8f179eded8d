// What one `ibemu run` (or the CUSE front end) shows: devices under one
// numbering.
#ifndef IBEMU_SYSFS_VIEW_H_
#define IBEMU_SYSFS_VIEW_H_

#include <memory>
#include <string>
#include <vector>

#include "mad/host.h"

namespace ibemu::sysfs {

// What a device looks like to programs that look at more than its ports.
enum class Profile {
  kQib,  // QLogic QLE7322 (1077:7322): stock libibverbs drives it by write()
  kCx7,  // ConnectX-7 identity (15b3:1021), for tools that look at it
};

struct ViewDevice {
  std::string name;  // "ibemu0": at most 19 characters
  std::shared_ptr<mad::Host> host;
  int first_umad = 0;  // port first_port() is umadN and issmN, and so on
};

struct View {
  Profile profile = Profile::kQib;
  std::vector<ViewDevice> devices;
};

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_VIEW_H_
