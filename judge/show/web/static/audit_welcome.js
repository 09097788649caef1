// The welcome page: the name that was last used in this browser stands there already, and where a keyboard is likely,
// typing begins at once; a phone would hide what is to be read.
"use strict";
(() => {
  const name = document.getElementById("name");
  try {
    name.value ||= localStorage.getItem(`judge-audit-name:${name.dataset.audit}`) ?? "";
  } catch {
    // A browser that keeps nothing remembers no name.
  }
  if (matchMedia("(min-width: 60rem)").matches) {
    name.focus();
    name.select();
  }
})();
