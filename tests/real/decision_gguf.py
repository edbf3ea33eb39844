"""A copy of a GGUF (version 3, little-endian) whose metadata name it a decision model of llama.cpp:
one label token per option, read at the end of a template of its own. Nothing else changes."""

import shutil
import struct

ALIGNMENT = 32
STRING, ARRAY = 8, 9
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

# The layout of the letters reading (docs/measuring.md) in ChatML, whose system turn is the one that
# SmolLM2's own template puts before a first user turn. Line ends stand in expressions, for those
# after a block are trimmed.
TEMPLATE = r"""
<|im_start|>system{{ '\n' }}You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>{{ '\n' }}
<|im_start|>user{{ '\n' }}State:{{ '\n' }}{{ state }}{{ '\n\n' }}Question: {{ instructions }}
{{- '\nOptions:\n' }}
{%- for option in options %}
{%- set key = option.key if type != 'noul' else 'yes' if option.key == 'true' else 'no' %}
{%- set other = '' if type != 'noul' else 'The statement is true.' if option.key == 'true' else 'The statement is false.' %}
{{- '[' }}{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'[loop.index0] }}{{ '] ' }}{{ key }}{{ ': ' }}{{ option.description or other }}{{ '\n' }}
{%- endfor %}
{{- '\nAnswer with the letter of the best option only.' }}<|im_end|>{{ '\n' }}
<|im_start|>assistant{{ '\n' }}
""".replace("}}\n<|im", "}}<|im").strip()  # the lines above are for people

def read_string(file):
    (length,) = struct.unpack("<Q", file.read(8))
    return file.read(length).decode()


def skip_value(file, kind):
    if kind == STRING:
        read_string(file)
    elif kind == ARRAY:
        item, count = struct.unpack("<IQ", file.read(12))
        if item in SIZES:
            file.seek(count * SIZES[item], 1)
        else:
            for _ in range(count):
                skip_value(file, item)
    else:
        file.seek(SIZES[kind], 1)


def text_pair(key, value):
    key, value = key.encode(), value.encode()
    return struct.pack("<Q", len(key)) + key + struct.pack("<IQ", STRING, len(value)) + value


def write_copy(source, target):
    with open(source, "rb") as file, open(target, "wb") as out:
        magic, version, tensors, pairs = struct.unpack("<4sIQQ", file.read(24))
        if magic != b"GGUF" or version != 3:
            raise ValueError(f"{source}: not a GGUF of version 3")
        architecture = "llama"
        for _ in range(pairs):
            key = read_string(file)
            (kind,) = struct.unpack("<I", file.read(4))
            at = file.tell()
            skip_value(file, kind)
            if key == "general.architecture":
                end = file.tell()
                file.seek(at)
                architecture = read_string(file)
                file.seek(end)
            if key == "general.alignment":
                raise ValueError(f"{source}: an alignment of its own is not handled")
        pairs_end = file.tell()
        for _ in range(tensors):
            read_string(file)
            (dimensions,) = struct.unpack("<I", file.read(4))
            file.seek(8 * dimensions + 12, 1)
        infos_end = file.tell()
        data = -(-infos_end // ALIGNMENT) * ALIGNMENT

        file.seek(24)
        out.write(struct.pack("<4sIQQ", magic, version, tensors, pairs + 2))
        out.write(file.read(pairs_end - 24))
        out.write(text_pair(f"{architecture}.decision.type", "openjev"))
        out.write(text_pair("tokenizer.chat_template.systemone", TEMPLATE))
        out.write(file.read(infos_end - pairs_end))
        out.write(b"\0" * (-out.tell() % ALIGNMENT))
        file.seek(data)
        shutil.copyfileobj(file, out, 1 << 20)
