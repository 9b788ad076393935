// Making elements. Text only ever goes in as text: nothing from a database is parsed as markup.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svgEl = (tag, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** A table: columns are {name, number, text, wide, bar}, rows arrays of cells (text or nodes), `rowClass` of a row's number. */
function simpleTable(caption, columns, rows, rowClass = () => null) {
  const kind = (column) => (column.number ? "number" : column.text ? (column.wide ? "text wide" : "text") : column.bar ? "barcell" : null);
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {},
      el("thead", {}, el("tr", {}, columns.map((column) => el(column.name ? "th" : "td", { scope: column.name ? "col" : null, class: kind(column) }, column.name)))),
      el("tbody", {}, rows.map((row, r) => el("tr", { class: rowClass(r) }, row.map((cell, i) => el("td", { class: kind(columns[i]) }, cell)))))));
}

/** A definition list of [what, text] rows. */
const factList = (rows) => el("dl", {}, rows.map(([what, text]) => [el("dt", {}, what), el("dd", {}, text)]));

function bar(share) {
  const node = el("div", { class: "bar" });
  node.style.width = Math.max(0, Math.min(100, 100 * share)).toFixed(1) + "%";
  return node;
}

/** A choice under a label; `pick` gets the value. */
function chooser(label, options, pick, chosen) {
  const select = el("select", { change: () => pick(select.value) },
    options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
  return el("label", { class: "choose" }, label, select);
}

const tip = {
  show(text, x, y) {
    const node = document.getElementById("tip");
    node.textContent = text;
    node.hidden = false;
    const width = document.documentElement.clientWidth;
    node.style.left = Math.max(4, Math.min(x + 14, window.scrollX + width - node.offsetWidth - 6)) + "px";
    node.style.top = y + 16 + "px";
  },
  hide() { document.getElementById("tip").hidden = true; },
};

/** Sections of rooms, in front of the problem's: {id: the key of its results in the document, title, noun: of one result, section: a function of the document that makes it}. */
const roomSections = [];
