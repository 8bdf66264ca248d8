/* A box above an event catalogue: only events whose text has all the words stay visible. */
(() => {
  const families = [...document.querySelectorAll(".pfm-family")];
  if (!families.length) return;
  const events = families.flatMap((family) => {
    const title = family.querySelector(":scope > .pfm-title");
    return [...family.querySelectorAll(":scope > dl.pfm-events > dt")].map((dt) => {
      const dd = dt.nextElementSibling;
      const text = `${title ? title.textContent : ""} ${dt.textContent} ${dd.textContent}`.toLowerCase();
      return { family, dt, dd, text };
    });
  });
  const box = document.createElement("div");
  box.className = "pfm-filter";
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = `Filter ${events.length} events: part of a name, a code, words of a description`;
  input.setAttribute("aria-label", "Filter events");
  const found = document.createElement("p");
  found.setAttribute("role", "status");
  box.append(input, found);
  document.querySelector(".pfm-summary").after(box);

  const update = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const used = new Set();
    let count = 0;
    for (const { family, dt, dd, text } of events) {
      const hidden = !words.every((word) => text.includes(word));
      dt.classList.toggle("pfm-hidden", hidden);
      dd.classList.toggle("pfm-hidden", hidden);
      if (hidden) continue;
      used.add(family).add(family.parentElement);
      count++;
    }
    found.textContent = !words.length ? "" : count ? `${count} of ${events.length} events` : "no event has all these words";
    for (const family of families) {
      family.classList.toggle("pfm-hidden", !used.has(family));
      const section = family.parentElement;
      if (section.id.endsWith("-events")) section.classList.toggle("pfm-hidden", !used.has(section));
    }
  };
  input.addEventListener("input", update);
  // A link to an event that the filter hides shows it again.
  window.addEventListener("hashchange", () => {
    let id = location.hash.slice(1);
    try {
      id = decodeURIComponent(id);
    } catch { /* a % that stands for nothing, and no event */ }
    const target = document.getElementById(id);
    if (target && target.closest(".pfm-hidden")) {
      input.value = "";
      update();
      target.scrollIntoView();
    }
  });
})();
