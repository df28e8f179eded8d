"""nginx and redis, over the fabric as if by ib0.

They wait by epoll alone, which rsockets (librspreload) does not know.
"""

import re

import pytest

from harness import Background, Fabric
from net import ONE, PAIR, on, run

pytestmark = pytest.mark.deep

NGINX = """
daemon off;
master_process off;
pid {home}/nginx.pid;
error_log stderr;
events {{}}
http {{
  access_log off;
  {paths}
  server {{ listen {address}:8080; root {home}/files; }}
}}
"""
# The shell ends its server, which would outlive it: redis looks like no program
# of the test any more, for it writes its title over its environment.
SERVE = """trap 'kill $!' TERM
"$@" &
until ss -Hltn | grep -q ':{port} '; do :; done
echo listens
wait
wait
"""


@pytest.fixture
def lab(account):
    made = Fabric(account, "servers", PAIR, sm="builtin")
    yield made
    made.stop()


def serve(lab, port, *command):
    server = Background(lab.account, [
        *on(lab, "node-1"), "sh", "-c", SERVE.format(port=port), "sh", *command])
    server.wait_for("listens")
    return server


def test_nginx_serves_files(lab):
    home = lab.account.home
    lab.account.run("mkdir", home / "files")
    data = bytes(n * n % 251 for n in range(3_000_000))
    (home / "files/big").write_bytes(data)
    (home / "files/big").chmod(0o644)
    paths = "".join(f"{name}_temp_path {home}/{name};" for name in
                    ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (home / "nginx.conf").write_text(
        NGINX.format(home=home, paths=paths, address=ONE))
    (home / "nginx.conf").chmod(0o644)
    server = serve(lab, 8080, "nginx", "-p", home, "-c", home / "nginx.conf",
                   "-e", "stderr")
    run(lab, "node-2", "curl", "--silent", "--fail", "--parallel",
        *[word for n in range(4) for word in
          ("-o", home / f"copy-{n}", "http://node-1:8080/big")])
    for n in range(4):
        assert (home / f"copy-{n}").read_bytes() == data
    server.stop()


def test_redis_answers_many_clients(lab):
    server = serve(lab, 6379, "redis-server", "--bind", ONE, "--save", "",
                   "--appendonly", "no", "--protected-mode", "no",
                   "--dir", lab.account.home)
    said = run(lab, "node-2", "redis-benchmark", "-h", "node-1", "-n", "2000",
               "-c", "20", "-t", "set,get", "-q").stdout
    rates = re.findall(r"(SET|GET): ([\d.]+) requests per second", said)
    assert {name for name, rate in rates if float(rate) > 0} == {"SET", "GET"}
    keys = run(lab, "node-2", "redis-cli", "-h", "node-1", "info",
               "commandstats").stdout
    assert "cmdstat_set:calls=2000," in keys and "cmdstat_get:calls=2000," in keys
    server.stop()
