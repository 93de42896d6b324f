// Draws the charts of a page from the data beside them. Everything that is drawn is on the page as a table, too.
"use strict";

const probe = document.body.appendChild(document.createElement("span"));

// light-dark() is resolved by the browser where a colour is used, not where a variable is read.
const resolved = (value, adjust) => {
  probe.style.color = value;
  probe.style.forcedColorAdjust = adjust;
  return getComputedStyle(probe).color;
};
// Where the system gives the colours, texts and lines take its own; what a colour tells apart keeps ours.
const colour = (name, adjust = "auto") => resolved(`var(--${name})`, adjust);
const tone = (name) => colour(name, "none");

const inks = { ink: colour("ink"), faint: colour("faint"), line: colour("line"), link: colour("link") };
const tones = { good: tone("good"), warn: tone("warn"), bad: tone("bad"), quiet: tone("quiet") };
// P. Tol, bright: also for the colour-blind; each is dark or light enough for its ground (3:1).
const pairs = [["#4477aa", "#4477aa"], ["#d9475a", "#ee6677"], ["#228833", "#228833"], ["#8f7d10", "#ccbb44"], ["#1c8aae", "#66ccee"], ["#aa3377", "#c9609f"], ["#767676", "#bbbbbb"]];
const palette = pairs.map(([light, dark]) => resolved(`light-dark(${light}, ${dark})`, "none"));
probe.remove();
// Lines are told apart by these, too.
const shapes = ["circle", "triangle", "rect", "rectRot", "star", "crossRot", "cross"];
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [12, 4], [1, 4]];

Chart.defaults.color = inks.faint;
Chart.defaults.borderColor = inks.line;
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.datasets.bar.maxBarThickness = 48;
Chart.defaults.locale = document.documentElement.lang;

// A point says what the server wrote of it: what is drawn beside the points says nothing.
Chart.defaults.plugins.tooltip.filter = (item) => item.dataset.texts !== undefined;
Chart.defaults.plugins.tooltip.callbacks.label = (item) => `${item.dataset.label}: ${item.dataset.texts[item.dataIndex]}`;

const ink = (series, at) => tones[series.tone] || palette[at % palette.length];

const scale = (chart, more) => ({
  beginAtZero: true,
  ticks: { maxRotation: 0, autoSkipPadding: 8, precision: chart.whole ? 0 : undefined },
  ...more,
});

// Days without their year, and names over several lines where there is little room: neither is tilted or cut then.
const narrow = matchMedia("(max-width: 40rem)").matches;
const dayOf = (label) => (/^\d{4}-\d\d-\d\d$/.test(label) ? label.slice(5) : label);
const lines = (label) => dayOf(label).split(" · ").flatMap((part) => (part.match(/.{1,20}(?!\S)|\S+/g) || [part]).map((line) => line.trim()));
const named = {
  maxRotation: 0,
  autoSkipPadding: 12,
  callback(value) {
    const label = this.getLabelForValue(value);
    return narrow ? lines(label) : dayOf(label);
  },
};
const most = (labels) => (narrow ? Math.max(1, ...labels.map((label) => lines(label).length)) : 1);

const forms = {
  lines: (chart) => ({
    type: "line",
    data: {
      labels: chart.labels,
      datasets: chart.series.map((series, at) => ({ label: series.name, texts: series.texts, data: series.values, borderColor: ink(series, at), backgroundColor: ink(series, at), pointStyle: shapes[at % shapes.length], pointRadius: 4, borderDash: dashes[at % dashes.length], spanGaps: true })),
    },
    options: { scales: { x: { ticks: named }, y: scale(chart) }, plugins: { legend: { labels: { usePointStyle: true } } } },
  }),
  stacked: (chart) => ({
    type: "bar",
    data: {
      labels: chart.labels,
      datasets: chart.series.map((series, at) => ({ label: series.name, texts: series.texts, data: series.values, backgroundColor: ink(series, at) })),
    },
    options: { scales: { x: { stacked: true, ticks: named }, y: scale(chart, { stacked: true }) } },
  }),
  intervals: (chart) => ({
    data: {
      labels: chart.labels,
      datasets: chart.series.flatMap((series, at) => [
        { type: "scatter", label: series.name, texts: series.texts, data: series.values.map((value, place) => ({ x: value, y: chart.labels[place] })), backgroundColor: ink(series, at), radius: 4, clip: false },
        { type: "bar", label: "", data: series.values.map((_, place) => [series.lower[place], series.upper[place]]), backgroundColor: `color-mix(in srgb, ${ink(series, at)} 40%, transparent)`, barThickness: 8 },
      ]),
    },
    options: {
      indexAxis: "y",
      scales: { x: scale(chart, { grid: { color: (line) => (line.tick.value === 0 ? inks.faint : inks.line) } }), y: { type: "category", labels: chart.labels, ticks: { ...named, autoSkip: false } } },
      plugins: { legend: { display: chart.series.length > 1, labels: { filter: (entry) => entry.text !== "" } } },
    },
  }),
  reliability: (chart) => ({
    type: "scatter",
    data: {
      datasets: [
        ...chart.series.map((series, at) => ({
          label: series.name,
          texts: series.texts,
          data: series.values.map((value, place) => ({ x: Number(chart.labels[place]), y: value })),
          backgroundColor: ink(series, at),
          borderColor: ink(series, at),
          showLine: true,
          radius: 5,
        })),
        { label: "", data: [{ x: 0, y: 0 }, { x: 1, y: 1 }], showLine: true, borderDash: [4, 4], borderColor: inks.faint, radius: 0 },
      ],
    },
    options: { scales: { x: { min: 0, max: 1 }, y: { min: 0, max: 1 } }, plugins: { legend: { display: false } } },
  }),
};

for (const canvas of document.querySelectorAll("canvas[data-chart]")) {
  const chart = JSON.parse(canvas.dataset.chart);
  if (chart.kind === "intervals") canvas.parentElement.style.height = `${4 + (0.5 + most(chart.labels)) * chart.labels.length}rem`;
  new Chart(canvas, forms[chart.kind](chart));
}
