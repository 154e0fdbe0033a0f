// Filters the table of findings, and opens the explanation a link leads to. Text from the dataset is only compared and
// never turned into markup.
"use strict";
(() => {
  const form = document.getElementById("filter");
  const rows = [...document.querySelectorAll("#findings tbody tr")];

  function reveal() {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const details = target && target.closest("details");
    if (details) {
      details.hidden = false;
      details.open = true;
      target.scrollIntoView();
    }
  }

  if (form) {
    const choices = [...form.querySelectorAll("select")];
    const count = document.getElementById("matching");
    const searched = rows.map((row) => (row.cells[0].textContent + "\n" + row.cells[1].textContent).toLowerCase());
    const explanations = rows.map((row) => {
      const inner = document.getElementById(row.id.replace("row", "explanation"));
      return inner && inner.closest("details");
    });

    const apply = () => {
      const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
      let matching = 0;
      rows.forEach((row, at) => {
        const matches = words.every((word) => searched[at].includes(word)) &&
          choices.every((choice) => choice.value === "" || row.dataset[choice.name] === choice.value);
        row.hidden = !matches;
        if (explanations[at]) explanations[at].hidden = !matches;
        matching += matches;
      });
      count.textContent = `${matching} of ${rows.length} rows match`;
    };

    form.addEventListener("input", apply);
    form.addEventListener("change", apply); // of a list, some browsers and drivers send only this
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(apply));
    form.hidden = false;
    for (const link of document.querySelectorAll("a[data-group]")) {
      const option = [...form.elements.group.options].find((one) => one.value === link.dataset.group);
      link.hidden = !option;
      link.addEventListener("click", () => {
        form.reset();
        option.selected = true;
        apply();
      });
    }
    apply();
  }

  window.addEventListener("hashchange", reveal);
  // A second click on the same link changes no hash.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link && link.hash && link.hash === location.hash) reveal();
  });
  reveal();
})();
