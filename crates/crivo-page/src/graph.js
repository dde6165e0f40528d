
// Graphs: a node that is chosen is searched for, and what is searched for is marked.
for (const svg of document.querySelectorAll(".graph svg")) {
  const input = document.querySelector(".table .search input");
  if (!input) continue;
  const nodes = [...svg.querySelectorAll(".node")];
  const links = [...svg.querySelectorAll(".link")];
  const mark = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = (node) => words.length > 0 && words.every((word) => node.dataset.name.toLowerCase().includes(word));
    const marked = new Set(nodes.filter(found).map((node) => node.dataset.node));
    const near = new Set();
    for (const link of links) {
      const { from, to } = link.dataset;
      const touches = marked.has(from) || marked.has(to);
      link.classList.toggle("near", touches);
      if (touches) near.add(from).add(to);
    }
    svg.classList.toggle("searching", marked.size > 0);
    for (const node of nodes) {
      const isMarked = marked.has(node.dataset.node);
      node.classList.toggle("marked", isMarked);
      node.classList.toggle("near", !isMarked && near.has(node.dataset.node));
      node.setAttribute("aria-pressed", String(isMarked));
    }
  };
  const choose = (node) => {
    input.value = input.value === node.dataset.name ? "" : node.dataset.name;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  input.addEventListener("input", mark);
  svg.addEventListener("click", (event) => {
    const node = event.target.closest(".node");
    if (node) choose(node);
  });
  svg.addEventListener("keydown", (event) => {
    const node = event.target.closest(".node");
    if (node && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      choose(node);
    }
  });
}
