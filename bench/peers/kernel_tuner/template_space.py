"""pgtune's template (configs/*.json) as Python: its parameters, rules, macros and launch, for Kernel Tuner. Reads the
JSON alone, so that both tools have one source of truth.
"""

import json
import re

# sm_90a: H100 and H200
DEVICE = {
    "ARCH": 90,
    "SM_COUNT": 132,
    "SMEM_LIMIT": 232448,
    "SMEM_PER_SM": 233472,
    "REGS_PER_SM": 65536,
    "L2_BYTES": 50 << 20,
}


def problem_names(m, n, k):
    def align(elements):
        bytes_ = 4 * elements
        return min(256, bytes_ & -bytes_)

    return {
        "M": m,
        "N": n,
        "K": k,
        "BATCH": 1,
        "LDA": k,
        "LDB": n,
        "LDC": n,
        "STRIDE_A": m * k,
        "STRIDE_B": k * n,
        "STRIDE_C": m * n,
        "TRANS_A": 0,
        "TRANS_B": 0,
        "ALIGN_A": align(k),
        "ALIGN_B": align(n),
        "ALIGN_C": align(n),
    }


FUNCTIONS = {"min": min, "max": max}
TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_]\w*)|('[^']*')|(&&|\|\||[=!<>]=|[-+*/%<>!?:(),]))")
BINARY = [["||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"], ["*", "/", "%"]]
SPELLED = {"||": "or", "&&": "and", "/": "//"}


def to_python(text, known):
    """The expression as Python; names in known (name -> Python text) are put in."""
    tokens, at = [], 0
    while at < len(text.rstrip()):
        found = TOKEN.match(text, at)
        assert found, text[at:]
        tokens.append(found.group().strip())
        at = found.end()
    tokens.append("")
    place = 0

    def take(expected=None):
        nonlocal place
        token = tokens[place]
        assert expected is None or token == expected, (text, token, expected)
        place += 1
        return token

    def ternary():
        condition = binary(0)
        if tokens[place] != "?":
            return condition
        take("?")
        yes = ternary()
        take(":")
        no = ternary()
        return f"({yes} if {condition} else {no})"

    def binary(level):
        if level == len(BINARY):
            return unary()
        left = binary(level + 1)
        while tokens[place] in BINARY[level]:
            operator = take()
            left = f"({left} {SPELLED.get(operator, operator)} {binary(level + 1)})"
        return left

    def unary():
        if tokens[place] == "!":
            take()
            return f"(not {unary()})"
        if tokens[place] == "-":
            take()
            return f"(-{unary()})"
        if tokens[place] == "(":
            take()
            inner = ternary()
            take(")")
            return inner
        token = take()
        if tokens[place] == "(":
            take()
            arguments = [ternary()]
            while tokens[place] == ",":
                take()
                arguments.append(ternary())
            take(")")
            if token == "ceil_div":  # inline, since Kernel Tuner does not know it in a restriction
                return f"(({arguments[0]} + {arguments[1]} - 1) // {arguments[1]})"
            if token == "round_up":
                return f"(({arguments[0]} + {arguments[1]} - 1) // {arguments[1]} * {arguments[1]})"
            return f"{token}({', '.join(arguments)})"
        return known.get(token, token)

    out = ternary()
    assert tokens[place] == "", (text, tokens[place:])
    return out


def label_value(label):
    """As pgtune numbers labels (tuner/expression/expression.cpp)."""
    hash_ = 2166136261
    for byte in label.encode():
        hash_ = ((hash_ ^ byte) * 16777619) & 0xFFFFFFFF
    return hash_ & 0x7FFFFFFF


class Template:
    def __init__(self, path, m, n, k):
        with open(path) as file:
            self.json = json.load(file)
        self.facts = {**DEVICE, **problem_names(m, n, k)}
        known = {name: str(value) for name, value in self.facts.items()}
        self.tune_params = {p["name"]: p["values"] for p in self.json["parameters"]}
        self.derived = {}
        for entry in self.json["derived"]:
            known[entry["name"]] = self.derived[entry["name"]] = to_python(entry["expr"], known)
        rules = self.json["constraints"] + self.json["policy"] + self.json["legality"]
        self.rules = [to_python(rule["expr"], known) for rule in rules]
        self.macros = {}
        for entry in self.json["defines"]:
            known[entry["name"]] = self.macros[entry["name"]] = to_python(entry["expr"], known)
        kernel = self.json["kernels"][0]
        self.symbol = kernel["symbol"]
        self.grid = [compile(to_python(e, known), "grid", "eval") for e in kernel["grid"]]
        self.block = [compile(to_python(e, known), "block", "eval") for e in kernel["block"]]
        self.smem = compile(to_python(kernel["dynamic_smem"], known), "smem", "eval")
        self.code = {name: compile(text, name, "eval") for name, text in {**self.derived, **self.macros}.items()}
        self.labels = []
        for values in self.tune_params.values():
            self.labels += [v for v in values if isinstance(v, str) and v not in self.labels]

    def names_in(self, rule):
        return [name for name in self.tune_params if re.search(rf"\b{name}\b", rule)]

    def restrictions(self):
        """Kernel Tuner's: Python expressions of its parameters."""
        out = []
        for rule in self.rules:
            if self.names_in(rule):
                out.append(
                    rule + " and True"
                )  # "and": a function of its names, which the parser of python-constraint2 does not try to read as a sum or product
            else:
                assert eval(rule, dict(FUNCTIONS)), rule
        return out

    def value(self, code, params):
        return int(eval(code, FUNCTIONS, dict(params)))

    def defines(self):
        """Kernel Tuner's defines: what pgtune defines, in its order."""
        out = {f"LABEL_{label}": str(label_value(label)) for label in self.labels}
        for name, values in self.tune_params.items():
            out[name] = lambda p, name=name: f"LABEL_{p[name]}" if isinstance(p[name], str) else str(p[name])
        for name, code in self.code.items():
            out[name] = lambda p, code=code: str(self.value(code, p))
        return out

    def key(self, params):
        """A variant's key, as pgtune prints it."""
        return ",".join(f"{name}={params[name]}" for name in self.tune_params)
