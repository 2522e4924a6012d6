// Before anything is painted: the theme chosen last time, if any.
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* No storage: the system's theme. */ }
