"""An MLP that skorch trains in float32, on scikit-learn's made-up classes: seconds an epoch, and the loss that it ends with.

usage: python skorch_mlp.py [--epochs N] [--allow-tf32]
"""
import argparse

import numpy
import torch
from skorch import NeuralNetClassifier
from skorch.toy import make_classifier
from sklearn.datasets import make_classification

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--allow-tf32", action="store_true", help="PyTorch's own tf32, instead of strict float32")
args = parser.parse_args()
torch.backends.cuda.matmul.allow_tf32 = args.allow_tf32
torch.manual_seed(1)
x, y = make_classification(40960, n_features=1024, n_informative=64, n_classes=8, random_state=1)
net = NeuralNetClassifier(make_classifier(input_units=1024, hidden_units=8192, num_hidden=2, output_units=8),
                          max_epochs=args.epochs, lr=0.02, batch_size=2048, device="cuda", verbose=0)
net.fit(x.astype(numpy.float32), y)
epochs = net.history[:, ("dur", "train_loss", "valid_loss", "valid_acc")]
median_s = sorted(epoch[0] for epoch in epochs[1:])[(len(epochs) - 1) // 2]
print("{:.4f} s an epoch, training loss {:.6f}, validation loss {:.6f}, accuracy {:.4f}".format(median_s, *epochs[-1][1:]))
