// Applies the reader's choice of light or dark before the page is shown.

try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
} catch {
  // A browser without storage follows the system.
}
