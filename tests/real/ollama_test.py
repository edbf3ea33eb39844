"""Ollama, built from its Go module, with the default model imported from the same GGUF: a diagnosis,
and its letters beside those of this process."""

import pathlib
import subprocess
import tempfile

import harness as real


def main():
    model = real.given("DEEM_MODEL", "a GGUF")
    program = real.provided("tests/real/fetch-ollama")
    port = real.free_port()
    with tempfile.TemporaryDirectory() as folder:
        env = {"OLLAMA_HOST": f"127.0.0.1:{port}", "OLLAMA_MODELS": f"{folder}/models", "HOME": folder, "OLLAMA_CONTEXT_LENGTH": "4096"}
        modelfile = pathlib.Path(folder) / "Modelfile"
        modelfile.write_text(f"FROM {model}\n")
        address = f"http://127.0.0.1:{port}"
        with real.serving([program, "serve"], f"{address}/api/version", 60, env=env):
            made = subprocess.run([program, "create", "small", "-f", str(modelfile)], env=env, capture_output=True, text=True, timeout=600)
            assert made.returncode == 0, made.stderr
            seat = ["ollama:" + address, "--model", "small", "--context", "4096"]
            diagnosis = real.diagnose(*seat)
            # By letters and written answers, which are all that Ollama gives, the default model guesses.
            real.expect(diagnosis, findings=("sanity",), not_measured=("tokenizer", "mixed", "prefix-cache", "residency"))

            limits = ["--limit", "4", "--reading", "letters", "--context", "4096"]
            there = real.ask_kit(f"{folder}/there", "--seat", seat[0], "--model", "small", *limits)
            here = real.ask_kit(f"{folder}/here", "--seat", "local:" + model, *limits)
            most = real.apart(there, here)
            print(f"  {len(there)} items by Ollama and in this process: {most:.4f} apart at most")
            assert most < 0.1


main()
