/* regions KEPT: registers memory twice, keeps so many of the regions, forks, and
 * the child forks again. */
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void fork_and_wait(void (*child)(void)) {
  if (fork() == 0) {
    child();
    _exit(0);
  }
  wait(NULL);
}

static void do_nothing(void) {}
static void fork_again(void) { fork_and_wait(do_nothing); }

int main(int argc, char** argv) {
  static char bytes[2][4096];
  int kept = argc > 1 ? atoi(argv[1]) : 0;
  struct ibv_device** devices = ibv_get_device_list(NULL);
  struct ibv_context* context = devices ? ibv_open_device(devices[0]) : NULL;
  struct ibv_pd* pd = context ? ibv_alloc_pd(context) : NULL;
  if (!pd) return 1;
  for (int i = 0; i < 2; ++i) {
    /* With a constant the header calls the function of this name. */
    struct ibv_mr* region =
        ibv_reg_mr(pd, bytes[i], sizeof bytes[i], IBV_ACCESS_LOCAL_WRITE);
    if (!region || (i >= kept && ibv_dereg_mr(region))) return 1;
  }
  fork_and_wait(fork_again);
  return 0;
}
