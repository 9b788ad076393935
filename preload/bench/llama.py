"""Products of a Llama-like layer in PyTorch, for `pgtune run`: prints tokens a second and a checksum of the outputs.

usage: python llama.py [--tokens 2048] [--graph]
"""
import argparse
import time

import torch

HIDDEN, INNER, LAYERS = 4096, 14336, 8


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        linear = torch.nn.Linear
        self.qkv = linear(HIDDEN, 6144, bias=False)
        self.out = linear(HIDDEN, HIDDEN, bias=False)
        self.gate_up = linear(HIDDEN, 2 * INNER, bias=False)
        self.down = linear(INNER, HIDDEN, bias=False)

    def forward(self, x):
        h = x + self.out(self.qkv(x)[:, :HIDDEN])
        gate, up = self.gate_up(h).chunk(2, dim=-1)
        h = h + self.down(torch.nn.functional.silu(gate) * up)
        return torch.nn.functional.rms_norm(h, (HIDDEN,))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--graph", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(1)
    with torch.device("cuda"), torch.no_grad():
        torch.set_default_dtype(torch.bfloat16)
        model = torch.nn.Sequential(*[Layer() for _ in range(LAYERS)])
        x = torch.randn(args.tokens, HIDDEN)
        for _ in range(3):
            y = model(x)
        run = lambda: model(x)
        if args.graph:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                y = model(x)
            run = graph.replay
        torch.cuda.synchronize()
        times = []
        for _ in range(20):
            start = time.perf_counter()
            out = run()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        y = out if out is not None else y
        median = sorted(times)[len(times) // 2]
        bits = y.view(torch.int16).to(torch.int64)
        print(f"{args.tokens / median:.0f} tokens/s, {median * 1e3:.3f} ms, checksum {bits.sum().item()}, "
              f"finite {bool(torch.isfinite(y).all())}")


main()
