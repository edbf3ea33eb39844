"""A llama-server that answers /v1/systemone: its 501 for a model that is none, and the default model
with a decision model's metadata, whose answers must be those of our own letters on the same prompt."""

import math
import pathlib
import tempfile

import decision_gguf
import harness as real


def main():
    model = real.given("DEEM_MODEL", "a GGUF")
    program = real.provided("tests/real/fetch-llama-decisions")
    port = real.free_port()
    address = f"http://127.0.0.1:{port}"
    argv = [program, "--host", "127.0.0.1", "--port", str(port), "-c", "8192", "-np", "2", "-t", "2", "--metrics"]

    with real.serving([*argv, "-m", model], f"{address}/health", 120):
        refused = real.deem("doctor", "systemone:" + address, "--json")
        print(f"  not a decision model: exit {refused.returncode}, {refused.stderr.strip()}{refused.stdout[:200]}")
        assert refused.returncode in (1, 3, 4) and "501" in refused.stderr + refused.stdout
        real.expect(real.diagnose("llama-server:" + address), not_measured=("residency",))

    with tempfile.TemporaryDirectory() as folder:
        decider = pathlib.Path(folder) / "decider.gguf"
        decision_gguf.write_copy(model, decider)
        with real.serving([*argv, "-m", str(decider)], f"{address}/health", 120):
            diagnosis = real.diagnose("systemone:" + address)
            # llama-server answers to every name, and this route too; the default model guesses by letters.
            real.expect(diagnosis, findings=("identity", "sanity"))
            assert "native" in real.supported(diagnosis), diagnosis["readings"]
            limits = ["--limit", "6"]
            native = real.ask_kit(f"{folder}/native", "--seat", "systemone:" + address, "--reading", "native", *limits)
            own = real.ask_kit(f"{folder}/own", "--seat", "local:" + model, "--reading", "letters", *limits)
            most = compare(native, own)
            assert most < 0.1


def compare(native, own):
    """The most that an option's probability differs by. Levels of a score are sent without their keys,
    which our own letters prompt shows: their prompt is another."""
    other = {(row["task"], row["id"]): row for row in own}
    most, compared = 0, 0
    for row in native:
        if row["task"] == "urgency":
            continue
        answer = row["readings"]["native"]
        assert not answer.get("cause") and not answer.get("error"), (row["id"], answer)
        reading = other[row["task"], row["id"]]["readings"]["letters"]
        assert answer["prompt_tokens"] == reading["prompt_tokens"], row["id"]
        logs = reading["rounds"][0]["logprobs"]
        assert None not in logs, row["id"]
        total = sum(math.exp(value) for value in logs)
        told = answer["probs"]  # of a yes/no question one alone
        for p, value in zip(told, logs, strict=len(told) > 1):
            most = max(most, abs(p - math.exp(value) / total))
        compared += 1
    print(f"  {compared} items by the endpoint and by our own letters: {most:.4f} apart at most")
    return most


main()
