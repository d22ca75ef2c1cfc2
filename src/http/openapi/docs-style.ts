// The style sheet of the API reference. It is part of the page, and the policy header allows it by its hash.

export const docsStyle = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --panel: #f6f7f9; --line: #dfe3e8; --strong-line: #c4cad3;
  --text: #1b222c; --soft: #55606e; --link: #0b57c2; --mark: #b3261e;
  --code: #f3f5f8; --code-text: #1b222c; --pre: #10161f; --pre-text: #e4e9f0; --pre-line: #10161f;
  --get: #0b6b3a; --get-back: #e2f4ea; --post: #0b4fae; --post-back: #e3edfb;
  --patch: #7a4b00; --patch-back: #fbefd9; --delete: #a3211a; --delete-back: #fbe6e4;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --panel: #181d25; --line: #2b323d; --strong-line: #3d4654;
    --text: #e5e9ef; --soft: #a3aebc; --link: #82b4ff; --mark: #ff9a92;
    --code: #222933; --code-text: #e5e9ef; --pre: #0b0e13; --pre-text: #dfe5ed; --pre-line: #2b323d;
    --get: #7fdca6; --get-back: #15321f; --post: #93bfff; --post-back: #16294a;
    --patch: #f2c26b; --patch-back: #38290e; --delete: #ff9a92; --delete-back: #421a18;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.25rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.6 var(--sans); }
a { color: var(--link); text-underline-offset: 0.15em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -100vw; top: 0; padding: 0.6rem 1rem; background: var(--page); z-index: 2; }
.skip:focus { left: 0; }
.frame { display: grid; grid-template-columns: 18.5rem minmax(0, 1fr); min-height: 100vh; }
.side { border-right: 1px solid var(--line); background: var(--panel); }
.side > div { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; padding: 1.5rem 1.25rem 2rem; }
.brand { display: flex; align-items: baseline; gap: 0.6rem; margin: 0 0 1.25rem; font-weight: 700; font-size: 1.15rem; letter-spacing: -0.01em; }
.brand a { color: inherit; text-decoration: none; }
.version { font: 500 0.75rem/1 var(--mono); color: var(--soft); }
nav h2 { margin: 1.35rem 0 0.35rem; font-size: 0.72rem; letter-spacing: 0.08em; text-transform: uppercase; color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: flex; gap: 0.55rem; align-items: baseline; padding: 0.22rem 0.5rem; margin: 0 -0.5rem; border-radius: 6px; color: var(--text); text-decoration: none; font-size: 0.9rem; line-height: 1.4; }
nav li a:hover { background: var(--code); }
nav .method { flex: 0 0 3.1rem; font-size: 0.62rem; padding: 0.18rem 0; text-align: center; }
.menu { display: none; }
main { padding: 2.5rem clamp(1rem, 4vw, 4rem) 5rem; }
main > * { max-width: 54rem; }
h1, h2, h3, h4 { line-height: 1.25; letter-spacing: -0.012em; overflow-wrap: anywhere; }
h1 { margin: 0 0 0.5rem; font-size: 2.1rem; }
.lead { margin: 0 0 1.5rem; font-size: 1.15rem; color: var(--soft); }
h2 { margin: 0 0 0.75rem; font-size: 1.55rem; }
h3 { margin: 0 0 0.6rem; font-size: 1.2rem; }
h4 { margin: 1.6rem 0 0.5rem; font-size: 0.95rem; }
section { margin-top: 3.5rem; padding-top: 2.25rem; border-top: 1px solid var(--line); }
article { margin-top: 3rem; }
section > article:first-of-type { margin-top: 1.75rem; }
p { margin: 0 0 0.9rem; }
code, pre { font-family: var(--mono); }
code { font-size: 0.875em; padding: 0.1em 0.35em; border-radius: 4px; background: var(--code); color: var(--code-text); overflow-wrap: anywhere; }
pre { margin: 0 0 1rem; padding: 1rem 1.15rem; border-radius: 8px; border: 1px solid var(--pre-line); background: var(--pre); color: var(--pre-text); overflow-x: auto; font-size: 0.84rem; line-height: 1.55; }
pre code { padding: 0; background: none; color: inherit; font-size: inherit; overflow-wrap: normal; }
figure { margin: 0 0 1rem; }
figcaption { margin-bottom: 0.35rem; font-size: 0.8rem; font-weight: 600; color: var(--soft); }
figure pre { margin: 0; }
.route { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.7rem; margin: 0 0 0.9rem; padding: 0.55rem 0.75rem; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); }
.route code { background: none; padding: 0; font-size: 0.92rem; font-weight: 600; }
.route .needs { margin-left: auto; font-size: 0.8rem; color: var(--soft); }
.method { display: inline-block; padding: 0.22rem 0.5rem; border-radius: 5px; font: 700 0.72rem/1.2 var(--mono); letter-spacing: 0.02em; }
.get { color: var(--get); background: var(--get-back); }
.post, .put { color: var(--post); background: var(--post-back); }
.patch { color: var(--patch); background: var(--patch-back); }
.delete { color: var(--delete); background: var(--delete-back); }
table { width: 100%; border-collapse: collapse; margin: 0 0 1rem; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.55rem 0.75rem 0.55rem 0; border-bottom: 1px solid var(--line); }
thead th { font-size: 0.75rem; font-weight: 600; color: var(--soft); border-bottom-color: var(--strong-line); }
tbody th { font-weight: 400; }
.members tbody th { width: 42%; }
.members th code { background: none; padding: 0; font-weight: 650; }
.members .parent { color: var(--soft); font-weight: 400; }
.members .outer > * { border-bottom: 0; }
.members td[colspan] { padding: 0 0 0.6rem; }
.members td > details { margin: 0; }
.members details .members { margin-bottom: 0; }
.members details tr:last-child > * { border-bottom: 0; }
.type { display: block; font-size: 0.8rem; color: var(--soft); overflow-wrap: anywhere; }
.required { font-size: 0.75rem; font-weight: 600; color: var(--mark); white-space: nowrap; }
.optional { font-size: 0.75rem; color: var(--soft); white-space: nowrap; }
tr:target > * { background: var(--code); }
.limits { display: block; font-size: 0.82rem; color: var(--soft); }
.codes { list-style: none; margin: 0 0 1rem; padding: 0; font-size: 0.88rem; }
.codes li { display: grid; grid-template-columns: 3rem minmax(0, 1fr); padding: 0.28rem 0; border-bottom: 1px solid var(--line); }
.codes b { font-family: var(--mono); font-weight: 650; }
.codes span a { margin-right: 0.75rem; white-space: nowrap; }
details { margin: 0 0 1rem; border: 1px solid var(--line); border-radius: 8px; }
summary { cursor: pointer; padding: 0.4rem 0.75rem; font-size: 0.82rem; font-weight: 600; border-radius: 8px; }
details > div { padding: 0.25rem 0.8rem 0.1rem; }
footer { margin-top: 4rem; padding-top: 1.5rem; border-top: 1px solid var(--line); font-size: 0.85rem; color: var(--soft); }
@media (max-width: 60rem) {
  .frame { display: block; }
  .side { display: none; }
  .menu { display: block; margin: 0; border: 0; border-bottom: 1px solid var(--line); border-radius: 0; background: var(--panel); }
  .menu summary { padding: 0.85rem 1rem; font-size: 0.95rem; }
  .menu nav { padding: 0 1rem 1.25rem; }
  main { padding-top: 1.75rem; }
  h1 { font-size: 1.75rem; }
  h2 { font-size: 1.35rem; }
}
@media (max-width: 40rem) {
  .members thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .members tr { display: block; padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
  .members tbody th, .members td { display: block; width: auto; padding: 0; border: 0; }
  .members td { margin-top: 0.2rem; }
  .members td[colspan] { padding: 0; }
  .members .outer { border-bottom: 0; }
  .route .needs { margin-left: 0; flex-basis: 100%; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@media print { .side, .menu, .skip { display: none; } .frame { display: block; } pre { white-space: pre-wrap; } }
`;
