// Dropping a file anywhere, Ctrl+Enter, and no second click while the first is under way.
{
  const form = document.querySelector("form.check");
  const status = form?.querySelector(".status");
  const file = form?.querySelector("input[type=file]");
  const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
  if (form) {
    for (const hint of form.querySelectorAll(".drop-hint, .keys")) hint.hidden = false;
    let depth = 0;
    const over = (more) => {
      depth = Math.max(0, depth + more);
      document.body.classList.toggle("dragging", depth > 0);
    };
    document.addEventListener("dragenter", (event) => carriesFiles(event) && over(1));
    document.addEventListener("dragleave", (event) => carriesFiles(event) && over(-1));
    document.addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
    document.addEventListener("drop", (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      over(-depth);
      if (event.dataTransfer.files.length !== 1) {
        status.textContent = "One message at a time, please.";
        return;
      }
      file.files = event.dataTransfer.files;
      form.requestSubmit();
    });
    form.querySelector("textarea").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    form.addEventListener("submit", (event) => {
      if (!form.elements.message.value.trim() && !file.files.length) {
        event.preventDefault();
        status.textContent = "Paste a message or choose a file first.";
        form.elements.message.focus();
      }
    });
  }
  // The button that was pressed is part of what is sent, so it is put out of use a moment later.
  for (const each of document.forms) {
    each.addEventListener("submit", (event) => {
      if (event.defaultPrevented) return;
      setTimeout(() => { for (const button of each.querySelectorAll("button")) button.disabled = true; });
      if (each === form) status.textContent = "Checking…";
    });
  }
  // A page that comes back from the browser's memory is usable again.
  window.addEventListener("pageshow", () => {
    for (const button of document.querySelectorAll("form button")) button.disabled = false;
    if (status) status.textContent = "";
  });
}
