// Carries IP packets between two network namespaces, each of which has a TUN
// device, and does nothing else: what `ibemu run --net` is compared with.
//
//   tun_relay MTU SERVER CLIENT
//
// Runs two commands of a shell, SERVER at 10.1.0.1 and CLIENT at 10.1.0.2, and
// ends with CLIENT.  For root.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr std::size_t kLongestPacket = 65535;

[[noreturn]] void Fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

struct Side {
  pid_t pid;
  int tun;
};

// Starts a command in a network namespace with a device, which this process
// goes into as well: the descriptor stays the device's when it leaves.
Side Start(const std::string& mtu, int host, const char* command) {
  if (unshare(CLONE_NEWNET) != 0) Fail("unshare");
  const int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq request{};
  std::strcpy(request.ifr_name, "tun0");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (tun < 0 || ioctl(tun, TUNSETIFF, &request) != 0) Fail("/dev/net/tun");
  const std::string up = "ip address add 10.1.0." + std::to_string(host) +
                         "/24 dev tun0 && ip link set tun0 mtu " + mtu + " up";
  if (std::system(up.c_str()) != 0) Fail("ip");
  const pid_t pid = fork();
  if (pid == 0) {
    execl("/bin/sh", "sh", "-c", command, nullptr);
    Fail("sh");
  }
  return {pid, tun};
}

void Carry(int from, int to) {
  std::array<char, kLongestPacket> packet;
  while (true) {
    const ssize_t size = read(from, packet.data(), packet.size());
    if (size <= 0) return;
    const ssize_t lost =
        write(to, packet.data(), static_cast<std::size_t>(size));
    static_cast<void>(lost);  // as on any network whose devices are full
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("tun_relay MTU SERVER CLIENT\n", stderr);
    return 1;
  }
  const Side server = Start(argv[1], 1, argv[2]);
  const Side client = Start(argv[1], 2, argv[3]);
  int status = 0;
  while (waitpid(client.pid, &status, WNOHANG) == 0) {
    constexpr int kMilliseconds = 100;  // to look whether the client has ended
    std::array<pollfd, 2> ready{
        {{server.tun, POLLIN, 0}, {client.tun, POLLIN, 0}}};
    if (poll(ready.data(), ready.size(), kMilliseconds) <= 0) continue;
    if (ready[0].revents != 0) Carry(server.tun, client.tun);
    if (ready[1].revents != 0) Carry(client.tun, server.tun);
  }
  kill(server.pid, SIGTERM);
  waitpid(server.pid, nullptr, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
