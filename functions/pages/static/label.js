// Keys for the buttons of the page: each button names its own. Without this script the buttons serve as they are.
"use strict";

let pressed = false;
document.addEventListener("keydown", (event) => {
  if (pressed || event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest("input:not([type=checkbox]), select, textarea")) return;
  const button = document.querySelector(`button[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!button) return;
  event.preventDefault();
  pressed = true; // one key labels one thing: the next page has its own
  button.click();
});
// A page that the browser brings back, as by its Back button, takes keys again.
addEventListener("pageshow", () => { pressed = false; });
