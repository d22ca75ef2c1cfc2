// Runs before the first paint, so that a page in dark colours never flashes white. Mantine keeps the choice under this name.

const stored = localStorage.getItem("mantine-color-scheme-value");
const isDark = stored === "dark" || (stored !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
document.documentElement.setAttribute("data-mantine-color-scheme", isDark ? "dark" : "light");
