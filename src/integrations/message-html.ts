import { escapeHtml } from './mail-look.ts'
import type { Message } from './message.ts'
import { KIND_TITLES, type MessageRow, rowsOf, sampleRowsOf, subjectOf } from './message-text.ts'

// Colours are given twice, because mail programs either read the media query or turn colours round themselves.
const STYLE = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
body { margin: 0; padding: 24px 12px; background: #f4f5f7; color: #1c1f24; font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 600px; margin: 0 auto; padding: 24px; background: #ffffff; border-radius: 8px; }
h1 { margin: 0 0 4px; font-size: 14px; font-weight: 600; }
p { margin: 0 0 16px; font-size: 18px; }
table { border-collapse: collapse; width: 100%; margin: 0 0 16px; }
th { padding: 2px 16px 2px 0; text-align: left; vertical-align: top; font-weight: 600; white-space: nowrap; }
td { padding: 2px 0; vertical-align: top; overflow-wrap: anywhere; }
h2 { margin: 0 0 4px; font-size: 14px; }
a { color: #0b57d0; }
@media (prefers-color-scheme: dark) {
  body { background: #15171a; color: #e6e8eb; }
  main { background: #1f2226; }
  a { color: #8ab4f8; }
}`

/** The whole message as an HTML page that loads nothing from anywhere. */
export function htmlOf(message: Message): string {
  const sample = sampleRowsOf(message)
  const url = escapeHtml(message.url)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(subjectOf(message))}</title>
<style>${STYLE}
</style>
</head>
<body>
<main>
<h1>${escapeHtml(KIND_TITLES[message.kind])}</h1>
<p>${escapeHtml(message.sentence)}</p>
${tableOf(rowsOf(message))}${sample.length > 0 ? `<h2>One sample (personal data masked)</h2>\n${tableOf(sample)}` : ''}<a href="${url}">${url}</a>
</main>
</body>
</html>
`
}

function tableOf(rows: MessageRow[]): string {
  if (rows.length === 0) return ''
  const cells = rows.map(([label, text]) => `<tr><th>${escapeHtml(label)}</th><td>${escapeHtml(text)}</td></tr>`)
  return `<table>\n${cells.join('\n')}\n</table>\n`
}
