// A static program that reaches the adapter by raw system calls alone.  Two
// threads make domains in one context, register memory and let all go again.
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

enum { ROUNDS = 200 };
static int device;

// Writes a command; `response` is the first field of those that have one.
static int command(uint32_t number, void *body, size_t size, void *response,
                   size_t room) {
  char bytes[256];
  struct ib_uverbs_cmd_hdr header = {
      number, (uint16_t)((sizeof header + size) / 4), (uint16_t)(room / 4)};
  memcpy(bytes, &header, sizeof header);
  memcpy(bytes + sizeof header, body, size);
  if (response) memcpy(bytes + sizeof header, &response, sizeof response);
  const size_t all = sizeof header + size;
  return syscall(SYS_write, device, bytes, all) != (long)all;
}

static void *work(void *result) {
  static _Thread_local char memory[8192];
  uintptr_t *failed = result;
  for (int i = 0; i < ROUNDS && !*failed; ++i) {
    struct ib_uverbs_alloc_pd alloc = {0};
    struct ib_uverbs_alloc_pd_resp pd;
    struct ib_uverbs_reg_mr reg = {.start = (uintptr_t)memory,
                                   .length = sizeof memory,
                                   .hca_va = (uintptr_t)memory,
                                   .access_flags = 1};
    struct ib_uverbs_reg_mr_resp mr;
    *failed |= command(IB_USER_VERBS_CMD_ALLOC_PD, &alloc, sizeof alloc, &pd, 4);
    reg.pd_handle = pd.pd_handle;
    *failed |= command(IB_USER_VERBS_CMD_REG_MR, &reg, sizeof reg, &mr, 12) << 1;
    struct ib_uverbs_dereg_mr dereg = {mr.mr_handle};
    *failed |= command(IB_USER_VERBS_CMD_DEREG_MR, &dereg, sizeof dereg, NULL, 0)
               << 2;
    struct ib_uverbs_dealloc_pd dealloc = {pd.pd_handle};
    *failed |= command(IB_USER_VERBS_CMD_DEALLOC_PD, &dealloc, sizeof dealloc,
                       NULL, 0)
               << 3;
  }
  return NULL;
}

int main(void) {
  device = (int)syscall(SYS_openat, AT_FDCWD, "/dev/infiniband/uverbs0",
                        O_RDWR | O_CLOEXEC, 0);
  if (device < 0) return 1;
  struct stat status;
  if (fstat(device, &status)) return 2;
  struct ib_uverbs_get_context get = {0};
  struct ib_uverbs_get_context_resp context;
  if (command(IB_USER_VERBS_CMD_GET_CONTEXT, &get, sizeof get, &context, 8)) {
    return 3;
  }
  uintptr_t failed[2] = {0};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, work, &failed[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  if (failed[0] || failed[1]) return 4;
  printf("%s %u:%u, events at %s\n",
         S_ISCHR(status.st_mode) ? "device" : "file", major(status.st_rdev),
         minor(status.st_rdev),
         fcntl((int)context.async_fd, F_GETFD) < 0 ? "nothing" : "a descriptor");
  return 0;
}
