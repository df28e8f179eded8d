// The version of this release.
#ifndef IBEMU_BASE_VERSION_H_
#define IBEMU_BASE_VERSION_H_

namespace ibemu {

const char* Version();  // "0.1.0", of meson.build

}  // namespace ibemu

#endif  // IBEMU_BASE_VERSION_H_
