"""Ollama, built from its Go module, with the default model imported from the same GGUF: a diagnosis,
and its letters beside those of this process."""

import pathlib
import subprocess
import tempfile

import harness as real

# Of an imported GGUF Ollama takes a template of its own that resembles the GGUF's; this one lacks the
# system turn that the GGUF's sets where none is given.
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
SYSTEM_TOKENS = 21


def main():
    model = real.given("DEEM_MODEL", "a GGUF")
    program = real.provided("tests/real/fetch-ollama")
    port = real.free_port()
    with tempfile.TemporaryDirectory() as folder:
        env = {"OLLAMA_HOST": f"127.0.0.1:{port}", "OLLAMA_MODELS": f"{folder}/models", "HOME": folder, "OLLAMA_CONTEXT_LENGTH": "4096"}
        address = f"http://127.0.0.1:{port}"
        with real.serving([program, "serve"], f"{address}/api/version", 60, env=env):
            create(program, env, "plain", f"FROM {model}\n")
            create(program, env, "same", f"FROM {model}\nSYSTEM {SYSTEM}\n")
            seat = ["ollama:" + address, "--model", "plain", "--context", "4096"]
            diagnosis = real.diagnose(*seat)
            # By letters and written answers, which are all that Ollama gives, the default model guesses.
            real.expect(diagnosis, findings=("sanity",), not_measured=("tokenizer", "mixed", "prefix-cache", "residency"))

            limits = ["--limit", "4", "--reading", "letters", "--context", "4096"]
            here = real.ask_kit(f"{folder}/here", "--seat", "local:" + model, *limits)
            plain = real.ask_kit(f"{folder}/plain", "--seat", seat[0], "--model", "plain", *limits)
            same = real.ask_kit(f"{folder}/same", "--seat", seat[0], "--model", "same", *limits)
            fewer = {tokens(a) - tokens(b) for a, b in zip(here, plain, strict=True)}
            print(f"  without the system turn of the GGUF's template: {fewer} tokens fewer, {real.apart(plain, here):.4f} apart at most")
            assert fewer == {SYSTEM_TOKENS}
            assert [tokens(row) for row in here] == [tokens(row) for row in same]
            most = real.apart(same, here)
            print(f"  with it: {len(same)} items by Ollama and in this process {most:.4f} apart at most")
            assert most < 0.1


def create(program, env, name, text):
    """A model of Ollama's by a Modelfile."""
    path = pathlib.Path(env["HOME"]) / f"{name}.Modelfile"
    path.write_text(text)
    made = subprocess.run([program, "create", name, "-f", str(path)], env=env, capture_output=True, text=True, timeout=600)
    assert made.returncode == 0, made.stderr


def tokens(row):
    return row["readings"]["letters"]["prompt_tokens"]


main()
