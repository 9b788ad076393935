"""Eight layers of an 8B Llama of transformers with random weights, for `pgtune run`: prints tokens a second and a checksum.

usage: python llama.py [--tokens N | --sequences N | --traffic STEPS] [--graph | --compile] [--seconds S]

--tokens: a prompt of N tokens. --sequences: one token of each of N sequences, as in decoding; their earlier tokens are left
out, so attention costs nothing. --traffic: steps of a serving engine, which puts prompts and decoded tokens into one batch:
half of them have 1 to 64 tokens, half 64 to 2048, log-uniform and from a fixed seed.
"""
import argparse
import random
import time

import torch
from transformers import LlamaConfig, LlamaModel


def traffic(steps):
    draw = random.Random(1)
    sizes = [2048, 1]
    while len(sizes) < steps:
        least, most = draw.choice([(1, 64), (64, 2048)])
        sizes.append(round(least * (most / least) ** draw.random()))
    return sizes[:steps]


def median_time(run, seconds):
    times = []
    while sum(times) < seconds or len(times) < 3:
        start = time.perf_counter()
        out = run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2], out


def main():
    parser = argparse.ArgumentParser()
    work = parser.add_mutually_exclusive_group()
    work.add_argument("--tokens", type=int, default=2048)
    work.add_argument("--sequences", type=int)
    work.add_argument("--traffic", type=int)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--graph", action="store_true")
    how.add_argument("--compile", action="store_true")
    parser.add_argument("--seconds", type=float, default=2)
    args = parser.parse_args()
    shapes = [(1, args.tokens)]
    if args.sequences:
        shapes = [(args.sequences, 1)]
    if args.traffic:
        shapes = [(1, tokens) for tokens in traffic(args.traffic)]
    if args.graph and len(shapes) > 1:
        parser.error("--graph is for one shape")

    torch.manual_seed(1)
    config = LlamaConfig(vocab_size=32000, hidden_size=4096, intermediate_size=14336, num_hidden_layers=8,
                         num_attention_heads=32, num_key_value_heads=8, use_cache=False)
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        model = LlamaModel(config).eval()
        inputs = [torch.randint(config.vocab_size, shape) for shape in shapes]
    forward = torch.compile(model, mode="reduce-overhead", dynamic=False) if args.compile else model

    def run():
        for tokens in inputs:
            out = forward(tokens).last_hidden_state
        return out

    with torch.no_grad():
        for _ in range(3):
            out = run()
        if args.graph:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = run()
            captured = out
            median, _ = median_time(graph.replay, args.seconds)
            out = captured
        else:
            median, out = median_time(run, args.seconds)
    tokens = sum(a * b for a, b in shapes)
    bits = out.view(torch.int16).to(torch.int64)
    print(f"{tokens / median:.0f} tokens/s, {median * 1e3:.3f} ms, checksum {bits.sum().item()}, "
          f"finite {bool(torch.isfinite(out).all())}")


main()
