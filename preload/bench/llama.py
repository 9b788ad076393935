"""Eight layers of an 8B Llama of transformers with random weights, for `pgtune run`: tokens a second, and a checksum.

usage: python llama.py [--graph | --compile] [--seconds S] WORK...

WORK is any of
  prompt:N      a prompt of N tokens
  decode:N      one token of each of N sequences, without their earlier tokens, so attention costs nothing
  traffic:N     N steps of a serving engine, which puts prompts and decoded tokens into one batch: half of them have 1 to
                64 tokens, half 64 to 2048, log-uniform and from a fixed seed
"""
import argparse
import random
import time

import torch
from transformers import LlamaConfig, LlamaModel


def shapes_of(work):
    kind, count = work.split(":")
    if kind != "traffic":
        return [{"prompt": (1, int(count)), "decode": (int(count), 1)}[kind]]
    draw = random.Random(1)
    sizes = [2048, 1]
    while len(sizes) < int(count):
        least, most = draw.choice([(1, 64), (64, 2048)])
        sizes.append(round(least * (most / least) ** draw.random()))
    return [(1, size) for size in sizes]


def median_time(run, seconds):
    times = []
    while sum(times) < seconds or len(times) < 3:
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work", nargs="+")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--graph", action="store_true")
    how.add_argument("--compile", action="store_true")
    parser.add_argument("--seconds", type=float, default=2)
    args = parser.parse_args()

    torch.manual_seed(1)
    config = LlamaConfig(vocab_size=32000, hidden_size=4096, intermediate_size=14336, num_hidden_layers=8,
                         num_attention_heads=32, num_key_value_heads=8, use_cache=False)
    torch.set_default_dtype(torch.bfloat16)
    torch.set_default_device("cuda")
    model = LlamaModel(config).eval()
    forward = torch.compile(model, mode="reduce-overhead", dynamic=False) if args.compile else model
    for work in args.work:
        shapes = shapes_of(work)
        inputs = [torch.randint(config.vocab_size, shape) for shape in shapes]

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
                graph.replay()
            bits = out.view(torch.int16).to(torch.int64).sum().item()
            median = median_time(graph.replay if args.graph else run, args.seconds)
            tokens = sum(a * b for a, b in shapes)
            print(f"{work}: {tokens / median:.0f} tokens/s, {median * 1e3:.3f} ms, checksum {bits}, "
                  f"finite {bool(torch.isfinite(out).all())}")


main()
