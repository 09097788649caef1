// The welcome page: where a keyboard is likely, typing the name begins at once; a phone would hide what is to be read.
"use strict";
if (matchMedia("(min-width: 60rem)").matches) document.getElementById("name").focus();
