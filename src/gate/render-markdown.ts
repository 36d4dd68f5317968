import { cutText, oneLine } from '../core/text.ts'
import { headlineOf, placeText, warningsOf } from './render-text.ts'
import type { GateReport } from './report.ts'

/** Maximum length of a comment on GitHub, in characters. GitLab allows more. */
const MAX_LENGTH = 65_536
const MAX_ROWS = 50
const MAX_CELL = 300

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '|': '\\|', '@': '&#64;' }

/**
 * Returns text for a table cell. Names of parameters between backticks stay code. Other data in a recording must not
 * create markup, links, mentions or columns.
 */
function cell(text: string): string {
  const plain = oneLine(text, MAX_CELL)
    .replace(/``+/g, '`')
    .replace(/https?:\/\//g, '')
  return plain
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part.replace(/\\(?=\|)/g, '').replaceAll('|', '\\|') : escaped(part)))
    .join('')
}

const escaped = (text: string) =>
  text.replace(/[\\[\]*_~#`]/g, '\\$&').replace(/[&<>|@]/g, (character) => ESCAPES[character] ?? character)

/** Returns the report as Markdown for a comment on a merge request, at most 65,536 characters long. */
export function markdownReport(report: GateReport): string {
  const { name, ref, status, checks, findings, moreFindings } = report
  const title = `### ${status === 'passed' ? '✅' : '❌'} Release gate: ${cell(name)}${ref === null ? '' : ` (${cell(ref)})`}`
  const rows = findings.slice(0, MAX_ROWS).map((finding) => {
    const check = checks[finding.check]
    const severity = check?.severity ?? ''
    const parts = [check?.name ?? '', severity, finding.sentence, placeText(finding) ?? '']
    return `| ${parts.map(cell).join(' | ')} |`
  })
  const skipped = checks.filter((check) => check.status === 'skipped').length
  const foot = [
    ...warningsOf(report).map((warning) => `⚠️ ${warning}.`),
    ...(skipped > 0 ? [`${skipped} ${skipped === 1 ? 'check was' : 'checks were'} skipped.`] : []),
  ]
  const head = [title, '', `${headlineOf(report)}.`, '']
  const table = ['| Check | Severity | Problem | Where |', '|---|---|---|---|']
  const lengthOf = (lines: readonly string[]) => lines.reduce((sum, line) => sum + line.length + 1, 0)
  // Room for the line that counts the omitted rows.
  let room = MAX_LENGTH - lengthOf([...head, ...table, '', ...foot]) - 200
  const shown: string[] = []
  for (const row of rows) {
    room -= row.length + 1
    if (room < 0) break
    shown.push(row)
  }
  const omitted = findings.length - shown.length + moreFindings
  const more = omitted > 0 ? ['', `and ${omitted} more`] : []
  const lines = [...head, ...(findings.length > 0 ? [...table, ...shown, ...more, ''] : []), ...foot]
  return cutText(`${lines.join('\n').trimEnd()}\n`, MAX_LENGTH)
}
