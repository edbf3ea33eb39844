"""A LiteLLM proxy in front of the pinned llama-server: what passes through it is what the server
sends, and its own words for a wrong key, an unknown name and a long prompt are understood."""

import pathlib
import tempfile

import harness as real

KEY = "sk-made-up-for-this-test"


def main():
    model, server = real.given("DEEM_MODEL", "a GGUF"), real.given("DEEM_LLAMA_SERVER", "llama-server")
    home = real.provided("tools/python-env", "tests/real/litellm-requirements.txt", "LiteLLM", "150 MB")
    behind, port = real.free_port(), real.free_port()
    llama = [server, "-m", model, "--host", "127.0.0.1", "--port", str(behind), "-c", "4096", "-np", "2", "-t", "2"]
    with tempfile.TemporaryDirectory() as folder, real.serving(llama, f"http://127.0.0.1:{behind}/health", 120):
        config = pathlib.Path(folder) / "litellm.yaml"
        config.write_text(f"""
model_list:
  - model_name: small
    litellm_params: {{model: openai/served, api_base: "http://127.0.0.1:{behind}/v1", api_key: none}}
general_settings: {{master_key: {KEY}}}
""")
        proxy = [f"{home}/bin/litellm", "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
        quiet = {"DEEM_TEST_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"}
        address = f"http://127.0.0.1:{port}"
        with real.serving(proxy, f"{address}/health/liveliness", 180, env=quiet):
            seat = ["openai:" + address, "--model", "small", "--key-env", "DEEM_TEST_KEY"]
            diagnosis = real.diagnose(*seat, env=quiet)
            # It has no tokenizer's route, one kind of request and makes no claim of memory.
            # By letters and written answers, which are all a proxy passes, the default model guesses.
            real.expect(diagnosis, findings=("sanity",), not_measured=("tokenizer", "mixed", "residency"))
            assert {"letters", "written"} <= real.supported(diagnosis), diagnosis["readings"]

            wrong = real.deem("doctor", *seat, env=quiet | {"DEEM_TEST_KEY": "sk-wrong"})
            assert wrong.returncode == 4 and "sk-wrong" not in wrong.stderr, wrong.stderr
            unknown = real.deem("doctor", "openai:" + address, "--model", "large", "--key-env", "DEEM_TEST_KEY", env=quiet)
            assert unknown.returncode == 4 and "large" in unknown.stderr, (unknown.returncode, unknown.stderr)

            limits = ["--limit", "4", "--reading", "letters"]
            through = real.ask_kit(f"{folder}/through", "--seat", seat[0], *seat[1:], *limits, env=quiet)
            direct = real.ask_kit(f"{folder}/direct", "--seat", f"llama-server:http://127.0.0.1:{behind}", *limits)
            # The server's own noise, in a warm cache, is .1 at most (docs/formats/doctor.md).
            most = real.apart(through, direct)
            print(f"  {len(through)} items through the proxy and past it: {most:.4f} apart at most")
            assert most < 0.1


main()
