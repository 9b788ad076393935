// SPDX-License-Identifier: MIT
// Confidence intervals of a mean that hold for serially correlated values and for repeated looks.
#pragma once

#include <cstddef>
#include <span>

namespace pgtune::stats {

struct Interval {
  double low = 0, high = 0;
  double coverage = 0;  ///< probability that the interval holds the mean
  [[nodiscard]] bool contains(double value) const { return low <= value && value <= high; }
};

struct MeanInterval {
  double mean = 0;
  Interval interval;
};

/// The least number of values for an interval.
inline constexpr std::size_t kLeastValues = 6;

/// Mean of values in the order in which they were measured, with an interval by batch means (Law and Kelton, Simulation
/// Modeling and Analysis, "batch means"): the values are cut into runs of neighbours, at most kMostBatches of an even
/// length that differs by two at most, and Student's t is applied to the runs' means. Correlation between neighbours,
/// from drift, wandering clocks or what one sample leaves to the next, is inside the runs and so in the interval. Runs
/// of even length hold whole pairs of rounds, over which a steady drift cancels. Fewer than 2 kLeastValues are taken
/// one by one.
///
/// Before that, values further than three interquartile ranges outside the quartiles (the outer fences of Tukey,
/// Exploratory Data Analysis, 1977) are moved to there, as the occasional sample that something else disturbed would
/// widen the interval several times; where that range is 0 they stay. Fewer than kLeastValues: the mean and the values'
/// range with a coverage of 0. All 0 when empty.
[[nodiscard]] MeanInterval batch_mean_interval(std::span<const double> values, double confidence = 0.95);
inline constexpr std::size_t kMostBatches = 12;

/// The confidence of each of `looks` intervals at growing data of which any may be the last, so that with the wished
/// `confidence` all of them hold together, and with it the one that is reported: 1 - (1 - confidence) / looks. That is
/// Bonferroni's inequality (Dunn, Multiple comparisons among means, JASA 56, 1961) for the repeated confidence
/// intervals of Jennison and Turnbull (Interim analyses: the repeated confidence interval approach, JRSS B 51, 1989).
/// It needs to know nothing of how the looks' data overlap; for four looks its intervals are 6 % wider than by Pocock's
/// constant. `looks` is the number planned, not taken; below 1 counts as 1.
[[nodiscard]] double look_confidence(int looks, double confidence = 0.95);

/// An interval's ends rounded outward to `decimals`, so that the shown interval contains the measured one.
[[nodiscard]] double rounded_down(double low, int decimals = 3);
[[nodiscard]] double rounded_up(double high, int decimals = 3);

/// t with P[-t < T < t] = confidence for Student's T with that many degrees of freedom, at least 1. `confidence` from 0
/// to below 1. By the finite series of Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
[[nodiscard]] double student_t(double confidence, int degrees);

}  // namespace pgtune::stats
