"""Makes a tiny Llama with random weights (a seed's) and a byte-level tokenizer in a folder; run by the
Python that vLLM is installed in. What it answers is noise: how it is served is what is tested.
    tiny_model.py FOLDER"""

import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

CHAT = (
    "{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


def make_tokenizer():
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"])
    out = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>", pad_token="<|end|>", clean_up_tokenization_spaces=False)
    out.chat_template = CHAT
    return out


def main():
    folder = sys.argv[1]
    torch.manual_seed(20261203)
    tokenizer = make_tokenizer()
    config = LlamaConfig(vocab_size=320, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
                         num_key_value_heads=2, max_position_embeddings=4096, bos_token_id=None,
                         eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, torch_dtype="float32")
    model = LlamaForCausalLM(config)
    # Larger than a trained model's: position 0 then has a likeliest token, not 320 alike.
    with torch.no_grad():
        model.lm_head.weight.mul_(8)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


main()
