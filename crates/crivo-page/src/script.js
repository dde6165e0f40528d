"use strict";
// Tables: sorted by the buttons in their headings, searched by the field above them.
for (const box of document.querySelectorAll(".table")) {
  const body = box.querySelector("tbody");
  const found = box.querySelector(".found");
  const asWritten = [...body.rows];
  const texts = new Intl.Collator("en", { numeric: true });
  const next = { none: "ascending", ascending: "descending", descending: "none" };

  const key = (row, column, isNumber) => {
    const cell = row.cells[column];
    if (!cell) return undefined;
    if (!isNumber) return cell.textContent.trim() || undefined;
    const number = Number(cell.dataset.value ?? "NaN");
    return Number.isNaN(number) ? undefined : number;
  };
  const sort = (heading, order) => {
    const column = heading.cellIndex;
    const isNumber = heading.classList.contains("number");
    const sign = order === "descending" ? -1 : 1;
    const compare = isNumber ? (a, b) => (a < b ? -1 : a > b ? 1 : 0) : texts.compare;
    const rows = asWritten.map((row) => [key(row, column, isNumber), row]);
    if (order !== "none") {
      rows.sort(([a], [b]) => {
        if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
        return sign * compare(a, b);
      });
    }
    body.append(...rows.map(([, row]) => row));
    for (const other of heading.parentElement.cells) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", order);
    found.textContent = order === "none" ? "In the order of the page" : `Sorted by ${heading.textContent}, ${order}`;
  };
  box.querySelector("thead").addEventListener("click", (event) => {
    const heading = event.target.closest("button")?.closest("th");
    if (heading) sort(heading, next[heading.getAttribute("aria-sort")]);
  });

  const search = box.querySelector(".search");
  if (!search) continue;
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  // A text that is cut has the whole of it in its title.
  const titles = (row) => [...row.querySelectorAll("[title]")].map((one) => one.title);
  const contents = new Map(asWritten.map((row) => [row, plain([row.textContent, ...titles(row)].join(" "))]));
  search.hidden = false;
  search.querySelector("input").addEventListener("input", (event) => {
    const words = plain(event.target.value).split(/\s+/).filter(Boolean);
    let count = 0;
    for (const [row, content] of contents) {
      row.hidden = !words.every((word) => content.includes(word));
      count += !row.hidden;
      const about = row.dataset.about && document.getElementById(row.dataset.about);
      if (about) about.hidden = row.hidden;
    }
    found.textContent = words.length ? `${count} of ${asWritten.length} rows` : "";
  });
}
