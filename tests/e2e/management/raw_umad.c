// A static program that reaches the fabric by raw system calls alone: no libc
// call opens, asks or reads, so no preload library could serve it.
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rdma/ib_user_mad.h>

// A directed-route Get(NodeInfo) with no hop: our own port answers.
static void fill_request(struct ib_user_mad *umad, uint32_t agent) {
  uint8_t *mad = (uint8_t *)umad->data;
  memset(umad, 0, sizeof *umad + 256);
  umad->hdr.id = agent;
  umad->hdr.timeout_ms = 1000;
  umad->hdr.lid = 0xffff;
  mad[0] = 1;            // base version
  mad[1] = 0x81;         // directed-route subnet management
  mad[2] = 1;            // class version
  mad[3] = 1;            // Get
  mad[17] = 0x11;        // NodeInfo
  memset(mad + 32, 0xff, 4);  // DrSLID, DrDLID: permissive
}

int main(void) {
  static _Alignas(8) char buffer[sizeof(struct ib_user_mad) + 256];
  struct ib_user_mad *umad = (struct ib_user_mad *)buffer;
  long fd = syscall(SYS_openat, AT_FDCWD, "/dev/infiniband/umad0", O_RDWR, 0);
  if (fd < 0) return 1;
  struct ib_user_mad_reg_req registration = {
      .qpn = 0, .mgmt_class = 0x81, .mgmt_class_version = 1};
  if (syscall(SYS_ioctl, fd, IB_USER_MAD_ENABLE_PKEY, 0)) return 2;
  if (syscall(SYS_ioctl, fd, IB_USER_MAD_REGISTER_AGENT, &registration)) return 3;
  fill_request(umad, registration.id);
  if (syscall(SYS_write, fd, buffer, sizeof buffer) != sizeof buffer) return 4;
  struct pollfd ready = {.fd = (int)fd, .events = POLLIN};
  if (syscall(SYS_poll, &ready, 1, 5000) != 1) return 5;
  if (syscall(SYS_read, fd, buffer, sizeof buffer) != sizeof buffer) return 6;
  const uint8_t *info = (const uint8_t *)umad->data + 64;
  printf("status %u, node type %u, %u ports\n", umad->hdr.status, info[2],
         info[3]);
  return 0;
}
