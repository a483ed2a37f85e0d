"use strict";
// Sorting, filtering, copying, printing. The page is complete without it.

const collator = new Intl.Collator(undefined, { numeric: true });
const nextOrder = { none: "ascending", ascending: "descending", descending: "none" };

function valueOf(row, column) {
  const cell = row.cells[column];
  return cell.dataset.value ?? cell.textContent.trim();
}

function compareRows(column, kind, sign) {
  return (one, other) => {
    const [a, b] = [valueOf(one, column), valueOf(other, column)];
    if (a === "" || b === "") return (a === "") - (b === ""); // unknown values come last in either order
    return sign * (kind === "number" ? Number(a) - Number(b) : collator.compare(a, b));
  };
}

function makeSortable(table) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    header.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const order = nextOrder[header.getAttribute("aria-sort")];
      for (const each of headers) each.setAttribute("aria-sort", "none");
      header.setAttribute("aria-sort", order);
      const sign = order === "descending" ? -1 : 1;
      const compare = compareRows(column, header.dataset.sort, sign);
      body.append(...(order === "none" ? original : [...original].sort(compare)));
    });
  });
}

function makeFilter(filter) {
  const rows = [...document.getElementById(filter.dataset.table).tBodies[0].rows];
  const input = filter.querySelector("input");
  const output = filter.querySelector("output");
  filter.hidden = false;
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLocaleLowerCase();
    for (const row of rows) row.hidden = !row.cells[0].textContent.toLocaleLowerCase().includes(wanted);
    output.textContent = wanted && `${rows.filter((row) => !row.hidden).length} of ${rows.length} classes`;
  });
}

async function copyText(text, element) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // old browsers and frames
    getSelection().selectAllChildren(element);
    return document.execCommand("copy");
  }
}

function makeCopyable(block) {
  const code = block.querySelector("code");
  const button = document.createElement("button");
  const status = document.createElement("span");
  button.type = "button";
  button.textContent = "Copy";
  status.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    status.textContent = (await copyText(code.textContent, code)) ? "Copied" : "Selected: press Ctrl+C";
  });
  const bar = document.createElement("p");
  bar.className = "bar";
  bar.append(button, status);
  block.append(bar);
}

// Only boxes that scroll can get the keyboard focus.
function fitBox(box) {
  const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
  box.tabIndex = scrolls ? 0 : -1;
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll(".filter").forEach(makeFilter);
document.querySelectorAll(".code").forEach(makeCopyable);

const fitting = new ResizeObserver((entries) => entries.forEach((entry) => fitBox(entry.target)));
document.querySelectorAll(".scroll").forEach((box) => fitting.observe(box));

let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const each of opened) each.open = true;
});
addEventListener("afterprint", () => {
  for (const each of opened) each.open = false;
});
