"use strict";
// Draws the plots of a page by the library beside it, and makes them move: zoom, legend, switches, news of a run that goes on.
(async () => {
  const root = document.documentElement;
  const read = (id) => document.getElementById(id).textContent;
  let data = JSON.parse(read("data"));
  const hidden = new Set(); // "plot curve" of curves that are not shown
  const NEWS_EVERY = 700; // ms

  // The library is packed: a tenth of the time to load, a third of the size.
  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };
  const script = document.createElement("script");
  script.textContent = await unpack(read("library"));
  document.head.append(script);

  const colours = () => {
    const style = getComputedStyle(root);
    const get = (name) => style.getPropertyValue(name).trim();
    return { ink: get("--ink"), soft: get("--soft"), line: get("--line"), grid: get("--grid"), paper: get("--raised"),
      all: [0, 1, 2, 3, 4, 5].map((k) => get("--c" + k)) };
  };
  // The library takes some markup for what it says; names are only text.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const DASHES = ["solid", "dot", "dashdot"], MARKS = ["circle", "square", "triangle-up", "diamond"];
  const look = (trace, theme) => {
    const round = trace.colour === null || trace.colour === undefined ? 0 : Math.floor(trace.colour / theme.all.length);
    const colour = trace.colour === null || trace.colour === undefined ? theme.ink : theme.all[trace.colour % theme.all.length];
    const dash = trace.kind === "reference" || trace.kind === "level" ? "dash" : DASHES[round % DASHES.length];
    return { colour, dash, mark: MARKS[round % MARKS.length] };
  };
  const isHidden = (plot, k) => hidden.has(plot.id + " " + k);

  const curve = (plot, trace, k, theme) => {
    const { colour, dash, mark } = look(trace, theme);
    const marked = trace.kind === "marked" || trace.kind === "points";
    const made = { type: "scatter", name: plain(trace.name || ""), showlegend: false, visible: !isHidden(plot, k),
      mode: trace.kind === "points" ? "markers" : marked ? "lines+markers" : "lines", connectgaps: false,
      line: { color: colour, dash, width: trace.kind === "reference" || trace.kind === "level" ? 1.2 : 1.8, shape: trace.kind === "steps" ? "hv" : "linear" },
      marker: { color: colour, symbol: mark, size: 6 } };
    if (!trace.name) made.hoverinfo = "skip";
    return trace.kind === "level" ? { ...made, ...level(plot, trace) } : { ...made, x: data.places[trace.x], y: trace.y };
  };
  // A level goes from one end of the other curves to the other.
  const level = (plot, trace) => {
    let low = Infinity, high = -Infinity;
    for (const other of plot.traces) {
      const x = other.kind === "cells" ? other.x : typeof other.x === "number" ? data.places[other.x] : [];
      for (const value of x) if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); }
    }
    if (!(low <= high)) [low, high] = [0, 1];
    return { x: [low, high], y: [trace.y, trace.y] };
  };
  const area = (trace, theme) => ({ type: "heatmap", x: trace.x, y: trace.y, z: trace.z, zmin: 0, zmax: 1, showscale: false, hoverinfo: "skip",
    colorscale: [[0, "rgba(0,0,0,0)"], [1, theme.all[trace.colour % theme.all.length]]] });
  // Which entry of each list is shown.
  const lists = [...document.querySelectorAll("select[data-choice]")];
  const chosen = (choice) => { const list = lists.find((one) => Number(one.dataset.choice) === choice); return list ? list.selectedIndex : 0; };
  const layer = (trace) => trace.layers[trace.chosen_by.reduce((k, c) => k * data.choices[c].names.length + chosen(c), 0)] || [];
  // Cells meet in the middle of their places: as an axis shows it.
  const borders = (list, log) => {
    if (typeof list[0] !== "number") return names(list);
    const to = list.map((v) => (log ? Math.log(v) : v)), n = to.length, back = (v) => (log ? Math.exp(v) : v);
    if (n === 1) return [back(to[0] - 0.5), back(to[0] + 0.5)];
    const all = [1.5 * to[0] - 0.5 * to[1]];
    for (let k = 1; k < n; k += 1) all.push(0.5 * (to[k - 1] + to[k]));
    return [...all, 1.5 * to[n - 1] - 0.5 * to[n - 2]].map(back);
  };
  const short = (v) => (typeof v === "number" ? String(Number(v.toPrecision(4))) : plain(v));
  const classes = (list, theme) => {
    const colour = (c) => (typeof c === "number" ? theme.all[c % theme.all.length] : theme[c]);
    return list.flatMap(([, c], k) => [[k / list.length, colour(c)], [(k + 1) / list.length, colour(c)]]);
  };
  // Up to one and above it, never the same colour.
  const AROUND_ONE = [[0, "#08519c"], [0.5, "#bdd7e7"], [0.5, "#fdbe85"], [1, "#a63603"]];
  const heat = (plot, trace, theme) => {
    const z = layer(trace), kind = trace.colours.kind, log = kind === "log" || kind === "one";
    const bar = { title: { text: plain(trace.label), side: "right", font: { color: theme.soft, size: 12 } }, tickfont: { color: theme.soft }, outlinewidth: 0, thickness: 14 };
    const made = { type: "heatmap", x: borders(trace.x, plot.x.log), y: borders(trace.y, plot.y.log), z, colorscale: "Viridis", colorbar: bar, hoverongaps: false };
    // All layers have the same colours.
    let low = Infinity, high = -Infinity;
    for (const row of trace.layers.flat()) for (const v of row) if (v !== null) { low = Math.min(low, v); high = Math.max(high, v); }
    let text = log ? (v) => short(10 ** v) : short;
    if (kind === "classes") {
      const list = trace.colours.classes;
      Object.assign(made, { colorscale: classes(list, theme), zmin: -0.5, zmax: list.length - 0.5 });
      Object.assign(bar, { tickmode: "array", tickvals: list.map((_, k) => k), ticktext: list.map(([name]) => plain(name)), ticks: "" });
      text = (v) => plain(list[v][0]);
    } else if (kind === "one") {
      // What grows by more than this is drawn alike: the border is what counts.
      const most = Math.min(Math.max(-low, high, 1e-3), 0.1);
      Object.assign(made, { colorscale: AROUND_ONE, zmin: -most, zmax: most });
      const ticks = [-most, -most / 2, 0, most / 2, most];
      const edge = (k) => (k === 0 && low < -most ? "\u2264 " : k === 4 && high > most ? "\u2265 " : "");
      Object.assign(bar, { tickmode: "array", tickvals: ticks, ticktext: ticks.map((v, k) => edge(k) + Number((10 ** v).toPrecision(4))) });
    } else if (low <= high) {
      Object.assign(made, { zmin: low, zmax: high });
      const ticks = [];
      for (let k = Math.ceil(low); log && k <= high && ticks.length < 40; k += 1) ticks.push(k);
      if (ticks.length > 1) Object.assign(bar, { tickmode: "array", tickvals: ticks, ticktext: ticks.map((k) => "1e" + k) });
    }
    const place = (axis, v) => (axis.label ? plain(axis.label) + " " : "") + short(v);
    made.text = z.map((row, r) => row.map((v, c) => (v === null ? "" : [place(plot.x, trace.x[c]), place(plot.y, trace.y[r]), text(v)].join("<br>"))));
    return { ...made, hovertemplate: "%{text}<extra></extra>" };
  };
  const names = (list) => list.map((entry) => (typeof entry === "string" ? plain(entry) : entry));
  const traces = (plot, theme) => plot.traces.map((trace, k) =>
    trace.kind === "cells" ? area(trace, theme) : trace.kind === "heat" ? heat(plot, trace, theme) : curve(plot, trace, k, theme));

  // The ends of a logarithmic axis in decades, by what is drawn if nothing else says it.
  const decades = (plot, which, range) => {
    if (range) return range;
    let low = Infinity, high = -Infinity;
    for (const trace of plot.traces) {
      const list = which === "x" && typeof trace.x === "number" ? data.places[trace.x] : trace[which];
      for (const v of Array.isArray(list) ? list : [list]) if (v > 0) { low = Math.min(low, v); high = Math.max(high, v); }
    }
    return low <= high ? [Math.log10(low), Math.log10(high)] : [0, 0];
  };
  // Powers of ten alone would leave a short axis without a number.
  const logTicks = ([low, high]) => {
    if (high - low > 2.5) return { dtick: 1 };
    if (high - low < 0.8) return {};
    const powers = Array.from({ length: 5 }, (_, k) => Math.floor(low) - 1 + k);
    const places = powers.flatMap((power) => [1, 2, 5].map((digit) => Number(digit + "e" + power)));
    return { tickmode: "array", tickvals: places, ticktext: places.map(short) };
  };
  const axis = (plot, which, theme, zoomed) => {
    const from = plot[which];
    const made = { type: from.names ? "category" : from.log ? "log" : "linear", gridcolor: theme.grid, zerolinecolor: theme.line, linecolor: theme.line,
      tickfont: { color: theme.soft, size: 11 }, automargin: true, exponentformat: "power", showline: true, ticks: "outside", tickcolor: theme.line };
    const range = from.range && from.range.map((v) => (from.log ? Math.log10(v) : v));
    if (from.log) Object.assign(made, logTicks(decades(plot, which, zoomed || range)));
    if (zoomed) Object.assign(made, { range: zoomed, autorange: false });
    else if (range) Object.assign(made, { range, autorange: false });
    if (from.words && from.words.length) Object.assign(made, { tickmode: "array", tickvals: from.words.map((_, k) => k), ticktext: from.words.map(plain) });
    if (from.ticks && from.ticks.length) Object.assign(made, { tickmode: "array", tickvals: from.ticks });
    return made;
  };
  const zooms = new Map(); // plot -> ranges that were chosen
  const layout = (plot, theme) => {
    const zoom = zooms.get(plot.id) || {};
    const x = axis(plot, "x", theme, zoom.x), y = axis(plot, "y", theme, zoom.y);
    x.title = { text: plain(plot.x.label), font: { color: theme.soft, size: 12 }, standoff: 6 };
    const isMap = plot.traces.some((trace) => trace.kind === "heat");
    const closest = isMap || plot.equal || (plot.x.words && plot.x.words.length > 0);
    if (plot.equal) Object.assign(y, { scaleanchor: "x", constrain: "domain" });
    if (isMap) y.title = { text: plain(plot.y.label), font: { color: theme.soft, size: 12 } };
    return { xaxis: x, yaxis: y, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 54, r: 14, t: 10, b: 44 },
      font: { family: "Inter, Helvetica, Arial, sans-serif", color: theme.ink }, hovermode: closest ? "closest" : "x unified", dragmode: "zoom", showlegend: false,
      hoverlabel: { bgcolor: theme.paper, bordercolor: theme.line, font: { color: theme.ink, size: 12 }, namelength: -1 } };
  };
  const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset", displaylogo: false };
  const element = (plot) => document.getElementById(plot.id);
  const draw = (plot, theme = colours()) => Plotly.react(element(plot), traces(plot, theme), layout(plot, theme), CONFIG);
  const drawAll = () => { const theme = colours(); data.plots.forEach((plot) => draw(plot, theme)); legends(theme); };

  // Zoom: by dragging, by buttons and by keys. Plots of one figure go together along x.
  const ranges = (plot) => element(plot)._fullLayout;
  const linked = (plot) => data.plots.filter((other) => other === plot || (plot.link !== null && other.link === plot.link));
  const setX = (plot, range) => linked(plot).forEach((other) => {
    const zoom = zooms.get(other.id) || {};
    zooms.set(other.id, { ...zoom, x: range });
    draw(other);
  });
  const showAll = (plot) => { linked(plot).forEach((other) => zooms.delete(other.id)); linked(plot).forEach((other) => draw(other)); };
  const change = (plot, what) => {
    if (what === "all") return showAll(plot);
    const [low, high] = ranges(plot).xaxis.range.map(Number), middle = (low + high) / 2, half = (high - low) / 2;
    const next = { in: [middle - half / 2, middle + half / 2], out: [middle - 2 * half, middle + 2 * half],
      left: [low - half / 2, high - half / 2], right: [low + half / 2, high + half / 2] }[what];
    setX(plot, next);
  };
  const KEYS = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all" };
  const listen = (plot) => {
    const at = element(plot);
    at.on("plotly_relayout", (event) => {
      const part = (name) => (event[name + ".range[0]"] === undefined ? null : [event[name + ".range[0]"], event[name + ".range[1]"]]);
      const x = part("xaxis"), y = part("yaxis");
      if (event["xaxis.autorange"] || event["yaxis.autorange"]) return showAll(plot);
      if (y) zooms.set(plot.id, { ...(zooms.get(plot.id) || {}), y });
      if (x) setX(plot, x);
    });
    at.on("plotly_doubleclick", () => { showAll(plot); return false; });
    at.addEventListener("keydown", (event) => {
      if (event.target !== at || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
      event.preventDefault();
      change(plot, KEYS[event.key]);
    });
    const tools = at.parentElement.querySelector(".tools");
    tools.hidden = false;
    tools.addEventListener("click", (event) => { if (event.target.dataset.zoom) change(plot, event.target.dataset.zoom); });
  };

  // Legends: a click hides a curve, a double click shows it alone.
  const swatch = (mark, { colour, dash }) => { mark.style.borderTopColor = colour; mark.style.borderTopStyle = { solid: "solid", dash: "dashed" }[dash] || "dotted"; };
  const show = (plot, k, isShown) => { hidden[isShown ? "delete" : "add"](plot.id + " " + k); };
  const legends = (theme) => data.plots.filter((plot) => plot.legend).forEach((plot) => {
    const place = element(plot).parentElement.querySelector(".legend");
    const entries = plot.traces.map((trace, k) => [trace, k]).filter(([trace]) => trace.name);
    if (place.children.length !== entries.length) {
      place.replaceChildren(...entries.map(([trace, k]) => {
        const button = document.createElement("button"), mark = document.createElement("span");
        mark.className = "swatch";
        button.type = "button";
        button.append(mark, trace.name);
        button.addEventListener("click", () => { show(plot, k, isHidden(plot, k)); draw(plot); legends(colours()); });
        button.addEventListener("dblclick", () => { entries.forEach(([, other]) => show(plot, other, other === k)); draw(plot); legends(colours()); });
        return button;
      }));
    }
    entries.forEach(([trace, k], n) => {
      place.children[n].setAttribute("aria-pressed", String(!isHidden(plot, k)));
      swatch(place.children[n].firstChild, look(trace, theme));
    });
  });

  // Switches: curves of one name in all plots.
  const picker = data.picker || [];
  const boxes = [...document.querySelectorAll("input[data-curve]")];
  const pick = () => {
    const off = new Set(boxes.filter((box) => !box.checked).map((box) => picker[box.dataset.curve][0]));
    const known = new Set(picker.map(([name]) => name));
    data.plots.forEach((plot) => plot.traces.forEach((trace, k) => { if (known.has(trace.name)) show(plot, k, !off.has(trace.name)); }));
    boxes.forEach((box) => {
      const name = picker[box.dataset.curve][0];
      const trace = data.plots.flatMap((plot) => plot.traces).find((other) => other.name === name);
      if (trace) swatch(box.parentElement.querySelector(".swatch"), look(trace, colours()));
    });
  };
  boxes.forEach((box) => box.addEventListener("change", () => { pick(); drawAll(); }));
  document.querySelectorAll("button[data-pick]").forEach((button) => button.addEventListener("click", () => {
    boxes.forEach((box) => { box.checked = button.dataset.pick === "all"; });
    pick();
    drawAll();
  }));

  // Lists: what all maps show that depend on them.
  const choose = () => {
    data.plots.forEach((plot) => plot.traces.filter((trace) => trace.chosen_by && trace.chosen_by.length).forEach((trace) => {
      const words = trace.chosen_by.map((c) => data.choices[c].label.toLowerCase() + " " + data.choices[c].names[chosen(c)]);
      element(plot).parentElement.querySelector(".chosen").textContent = "(" + words.join(", ") + ")";
      draw(plot);
    }));
  };
  lists.forEach((list) => list.addEventListener("change", () => {
    lists.filter((other) => other.dataset.choice === list.dataset.choice).forEach((other) => { other.selectedIndex = list.selectedIndex; });
    choose();
  }));

  // A run that goes on. What has grown may need a plot of its own: then the page is another one.
  const curves = (plots) => JSON.stringify(plots.map((plot) => [plot.id, plot.traces.map((trace) => trace.name)]));
  const news = async () => {
    try {
      const answer = await (await fetch(data.live)).json();
      if (answer.over) return location.reload();
      document.getElementById("status").textContent = answer.status;
      if (curves(answer.data.plots) !== curves(data.plots)) return location.reload();
      data = { ...data, places: answer.data.places, plots: answer.data.plots };
      drawAll();
      setTimeout(news, NEWS_EVERY);
    } catch (error) {
      document.getElementById("status").textContent += " (the run has ended, or its program was stopped)";
    }
  };

  pick();
  drawAll();
  choose();
  data.plots.forEach(listen);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { pick(); drawAll(); });
  addEventListener("beforeprint", () => { root.classList.add("paper"); drawAll(); });
  addEventListener("afterprint", () => { root.classList.remove("paper"); drawAll(); });
  root.dataset.drawn = data.plots.length;
  if (data.live) setTimeout(news, NEWS_EVERY);
})();
