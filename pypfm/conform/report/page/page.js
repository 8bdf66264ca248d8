
"use strict";
// Shows the findings that the filter lets through.  The address keeps the filter: #function=NAME&kind=crash ...
(() => {
  const form = document.getElementById("filter");
  const field = name => form.elements.namedItem(name);
  const groups = [...document.querySelectorAll(".group")].map(element => ({
    element,
    name: element.dataset.function,
    findings: [...element.querySelectorAll(".finding")].map(finding => ({ element: finding, text: null })),
  }));
  const rows = [...document.querySelectorAll(".summary tbody tr")];

  function passes(finding, kind, words, suppressed) {
    const { dataset } = finding.element;
    if (kind && dataset.kind !== kind || !suppressed && "suppressed" in dataset) return false;
    if (!words.length) return true;
    finding.text ??= finding.element.textContent.toLowerCase();
    return words.every(word => finding.text.includes(word));
  }

  function apply() {
    const chosen = field("function").value;
    const kind = field("kind").value;
    const words = field("text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const suppressed = field("suppressed").checked;
    let shown = 0, nothing = true;
    for (const group of groups) {
      let some = 0;
      for (const finding of group.findings) {
        const pass = (!chosen || group.name === chosen) && passes(finding, kind, words, suppressed);
        finding.element.hidden = !pass;
        some += pass;
      }
      // A group without any was too much for the page; its heading says so.
      const empty = !group.findings.length && !kind && !words.length && (!chosen || group.name === chosen);
      group.element.hidden = !some && !empty;
      nothing &&= group.element.hidden;
      shown += some;
    }
    for (const row of rows) row.classList.toggle("chosen", row.dataset.function === chosen);
    document.getElementById("count").value = `${shown.toLocaleString("en")} of ${form.dataset.total} shown`;
    document.getElementById("nothing").hidden = !nothing || !groups.length;
  }

  function fromAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    form.reset();
    for (const name of ["function", "kind", "text"]) field(name).value = wanted.get(name) ?? "";
    for (const name of ["function", "kind"]) if (field(name).selectedIndex < 0) field(name).value = "";
    field("suppressed").checked = wanted.get("suppressed") !== "no";
    apply();
    if (field("function").value) form.scrollIntoView();
  }

  function toAddress() {
    const kept = new URLSearchParams();
    for (const name of ["function", "kind", "text"]) if (field(name).value) kept.set(name, field(name).value);
    if (!field("suppressed").checked) kept.set("suppressed", "no");
    history.replaceState(null, "", "#" + kept);
    apply();
  }

  function copy(button) {
    const pre = button.parentElement.querySelector("pre");
    const range = document.createRange();
    range.selectNodeContents(pre);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    // A page from a file may not be allowed to write to the clipboard; then the selection is there to copy.
    const said = navigator.clipboard ? navigator.clipboard.writeText(pre.textContent) : Promise.reject();
    said.then(() => "Copied", () => "Selected").then(word => { button.textContent = word; });
  }

  form.addEventListener("input", toAddress);
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(toAddress));
  addEventListener("hashchange", fromAddress);
  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
  form.hidden = !groups.length;
  fromAddress();
})();
