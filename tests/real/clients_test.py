"""The public clients of decision endpoints (npm: @openrouter/sdk, @typesafe-ai/sdk) against our
scripted endpoint: they take its answers as they take those of the real ones."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import harness as real


def main():
    program = pathlib.Path(real.given("DEEM_PROGRAM", "the built deem")).with_name("serve_decisions")
    modules = real.provided("tools/npm-modules", "tests/real/clients")
    node = real.provided("tools/fetch-node") + "/node"
    server = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            address = server.stdout.readline().strip()
            shutil.copy(pathlib.Path(__file__).with_name("clients") / "clients.mjs", folder)
            os.symlink(f"{modules}/node_modules", f"{folder}/node_modules")
            subprocess.run([node, f"{folder}/clients.mjs", address], check=True, timeout=120)
        finally:
            server.stdin.close()
            server.wait(10)


main()
